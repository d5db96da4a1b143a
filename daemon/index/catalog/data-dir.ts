// Takes possession of a data directory: makes it if it is missing, locks it, and finishes a restore that was killed.

import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { writeOwn } from '../../base/own-file.ts';
import { lockDataDir, LockedError } from './lock.ts';
import { claimOwnFolder } from '../../sources/disk/own-folder.ts';
import { finishPlacing } from './placing.ts';

/** How long a command that has the directory is waited for. */
const WAIT_MS = 30_000;
const PAUSE_MS = 50;

/**
 * Makes the data directory if it is missing and takes its lock; returns how to give it back. From then on it
 * is left out of sources. The ignore file is for git, in whose work tree the directory may lie.
 *
 * @param isBrief  for the time of a command, which daemons that start meanwhile wait for
 *
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

/** What a process that was killed was about to put in place of a file. */
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
