// Opens a data directory for its owner: creates and locks it. Replaces its content by a restored one, safely against kills and
// power loss: all files are created in a folder `restoring`, which is renamed to `restored` when it is complete and synced.
// Only then are files moved out of it; the next process to open the directory finishes that.

import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { inDataDir } from '../../base/caught.ts';
import { writeOwn } from '../../base/own-file.ts';
import { lockDataDir, LockedError } from './lock.ts';
import { claimOwnFolder } from '../../sources/disk/own-folder.ts';
import { syncPath } from '../../base/synced.ts';
import { INDEX_FILE } from '../../store/sqlite.ts';
import { SHARD_FOLDER } from './catalog.ts';

/** How long to wait for a command that holds the lock. */
const WAIT_MS = 30_000;
const PAUSE_MS = 50;

/**
 * Creates the data directory if it is missing and locks it; returns the function that unlocks it. Sources no longer
 * include the directory. The ignore file is for git, in whose work tree the directory may lie.
 * @param isBrief  for a short command; a starting daemon waits for it
 * Errors: LockedError.
 */
export async function takeDataDir(dataDir: string, isBrief = false): Promise<() => void> {
  try {
    return await openAndLock(dataDir, isBrief);
  } catch (error) {
    throw inDataDir(error, dataDir);
  }
}

async function openAndLock(dataDir: string, isBrief: boolean): Promise<() => void> {
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

/** Each data directory has one of these as soon as a process has begun to create it. */
const OWN_FILES: readonly string[] = ['lock', 'store.db', INDEX_FILE];
/** A folder with only these may become a data directory. A new file system has `lost+found`. */
const ALLOWED_FILES: readonly string[] = ['secret', '.gitignore', 'lost+found'];

/** Whether a daemon or a command has made this folder a data directory. Errors: it cannot be listed. */
export async function isDataDir(folder: string): Promise<boolean> {
  return (await namesIn(folder)).some((name) => OWN_FILES.includes(name));
}

/** Whether a folder is not a data directory, and has files of somebody else. Errors: it cannot be listed. */
export async function hasOtherFiles(folder: string): Promise<boolean> {
  const isMade = await isDataDir(folder);
  return !isMade && !(await namesIn(folder)).every((name) => ALLOWED_FILES.includes(name));
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

const STAGING = 'restoring';
const COMPLETE = 'restored';

/** Folders of this file in a data directory. */
export const PLACING_FOLDERS: readonly string[] = [STAGING, COMPLETE];

/** Creates an empty staging folder in the data directory. */
export async function makeStaging(dataDir: string): Promise<string> {
  const folder = path.join(dataDir, STAGING);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  return folder;
}

export async function dropStaging(dataDir: string): Promise<void> {
  await rm(path.join(dataDir, STAGING), { recursive: true, force: true });
}

/** Commits the staging folder and moves its files into place. They are synced. */
export async function commitStaging(dataDir: string): Promise<void> {
  const staging = path.join(dataDir, STAGING);
  await syncPath(path.join(staging, SHARD_FOLDER));
  await syncPath(staging);
  await rename(staging, path.join(dataDir, COMPLETE));
  await syncPath(dataDir);
  await finishPlacing(dataDir);
}

/** Finishes a committed restore and removes an unfinished one. Only for the owner of the data directory. */
export async function finishPlacing(dataDir: string): Promise<void> {
  await dropStaging(dataDir);
  const from = path.join(dataDir, COMPLETE);
  if (!existsSync(from)) return;
  const shards = path.join(dataDir, SHARD_FOLDER);
  await mkdir(shards, { recursive: true, mode: 0o700 });
  for (const name of await namesIn(path.join(from, SHARD_FOLDER)))
    await rename(path.join(from, SHARD_FOLDER, name), path.join(shards, name));
  await syncPath(shards);
  const names = await namesIn(from);
  // Safety: the journal of an old file must not be applied to the new one.
  for (const name of ['store.db', INDEX_FILE].filter((one) => names.includes(one)))
    for (const ending of ['-wal', '-shm', '-journal'])
      await rm(path.join(dataDir, `${name}${ending}`), { force: true, recursive: true });
  await syncPath(dataDir);
  // The index last: a concurrent reader sees the old one until then.
  for (const name of ['store.db', 'secret', INDEX_FILE])
    if (names.includes(name)) await rename(path.join(from, name), path.join(dataDir, name));
  await syncPath(dataDir);
  await rm(from, { recursive: true, force: true });
  await syncPath(dataDir);
}

async function namesIn(folder: string): Promise<string[]> {
  return existsSync(folder) ? readdir(folder) : [];
}
