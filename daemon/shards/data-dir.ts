// Takes possession of a data directory: makes it if it is missing, locks it, and finishes a restore that was killed.

import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { lockDataDir } from './lock.ts';
import { finishPlacing } from './placing.ts';

/**
 * Makes the data directory if it is missing and takes its lock; returns how to give it back. Why the ignore file: the
 * directory may lie inside a source, and neither git nor Trawl is to take index and secret for sources.
 *
 * Errors: LockedError.
 */
export async function takeDataDir(dataDir: string): Promise<() => void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const isNew = (await readdir(dataDir)).every((name) => name === 'secret');
  if (isNew) await writeFile(path.join(dataDir, '.gitignore'), '*\n');
  const unlock = lockDataDir(dataDir);
  try {
    await finishPlacing(dataDir);
    return unlock;
  } catch (error) {
    unlock();
    throw error;
  }
}
