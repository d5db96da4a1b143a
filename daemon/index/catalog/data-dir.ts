// Opens a data directory for its owner: creates and locks it, and finishes an interrupted restore.

import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { writeOwn } from '../../base/own-file.ts';
import { lockDataDir, LockedError } from './lock.ts';
import { claimOwnFolder } from '../../sources/disk/own-folder.ts';
import { finishPlacing } from './placing.ts';

/** How long to wait for a command that holds the lock. */
const WAIT_MS = 30_000;
const PAUSE_MS = 50;

/**
 * Creates the data directory if it is missing and locks it; returns the function that unlocks it. Sources no longer
 * include the directory. The ignore file is for git, in whose work tree the directory may lie.
 *
 * @param isBrief  for a short command; a starting daemon waits for it
 * Errors: LockedError.
 */
export async function takeDataDir(dataDir: string, isBrief = false): Promise<() => void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  claimOwnFolder(path.resolve(dataDir));
  const isNew = (await readdir(dataDir)).every((name) => name === 'secret');
  if (isNew) writeOwn(path.join(dataDir, '.gitignore'), '*\n');
  const unlock = await lockSoon(dataDir, isBrief);
  try {
    await finishPlacing(dataDir);
    await removeHalfWritten(dataDir);
    return unlock;
  } catch (error) {
    unlock();
    throw error;
  }
}

/** Removes temporary files of a killed process. */
async function removeHalfWritten(dataDir: string): Promise<void> {
  for (const entry of await readdir(dataDir, { withFileTypes: true }))
    if (entry.isFile() && entry.name.endsWith('.next')) await rm(path.join(dataDir, entry.name));
}

async function lockSoon(dataDir: string, isBrief: boolean): Promise<() => void> {
  const endMs = performance.now() + WAIT_MS;
  for (;;) {
    try {
      return lockDataDir(dataDir, isBrief);
    } catch (error) {
      const isWorthIt = error instanceof LockedError && error.isBrief && performance.now() < endMs;
      if (!isWorthIt) throw error;
    }
    await setTimeout(PAUSE_MS);
  }
}
