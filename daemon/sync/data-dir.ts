// Takes possession of a data directory: makes it if it is missing, locks it, and finishes a restore that was killed.

import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { writeOwn } from '../base/own-file.ts';
import { lockDataDir, LockedError } from './lock.ts';
import { claimOwnFolder } from '../sources/disk/own-folder.ts';
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
    return unlock;
  } catch (error) {
    unlock();
    throw error;
  }
}

async function lockSoon(dataDir: string, isBrief: boolean): Promise<() => void> {
  const end = Date.now() + WAIT_MS;
  for (;;) {
    try {
      return lockDataDir(dataDir, isBrief);
    } catch (error) {
      const isWorthIt = error instanceof LockedError && error.isBrief && Date.now() < end;
      if (!isWorthIt) throw error;
    }
    await setTimeout(PAUSE_MS);
  }
}
