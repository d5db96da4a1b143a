// Puts a restored data directory in place of what is there, so that a process that is killed on the way, or power that
// is lost, leaves the directory as it was or lets the next one to open it finish: all files are made in a folder
// `restoring`, which gets the name `restored` when it is complete and synced. Only then files are moved out of it.

import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import {
  CATALOG_FILE,
  CHANGES_FILE,
  DAMAGED_FILE,
  LAST_CHANGES_FILE,
  LAST_FILE,
} from './catalog-files.ts';
import { syncPath } from '../../base/synced.ts';
import { SHARD_FOLDER } from './catalog.ts';

const STAGING = 'restoring';
const COMPLETE = 'restored';

/** Names of the folders of this file in a data directory. */
export const PLACING_FOLDERS: readonly string[] = [STAGING, COMPLETE];

/** A new, empty folder in the data directory for what is to be placed. */
export async function makeStaging(dataDir: string): Promise<string> {
  const folder = path.join(dataDir, STAGING);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  return folder;
}

export async function dropStaging(dataDir: string): Promise<void> {
  await rm(path.join(dataDir, STAGING), { recursive: true, force: true });
}

/** What is in the folder of makeStaging counts from here on; its files are synced. */
export async function placeStaging(dataDir: string): Promise<void> {
  const staging = path.join(dataDir, STAGING);
  await syncPath(path.join(staging, SHARD_FOLDER));
  await syncPath(staging);
  await rename(staging, path.join(dataDir, COMPLETE));
  await syncPath(dataDir);
  await finishPlacing(dataDir);
}

/** Finishes what was begun and removes what was not. Only for the owner of the data directory. */
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
  if (names.includes('store.db')) {
    // Safety: the log of the old file must not be applied to the new one.
    for (const name of ['store.db-wal', 'store.db-shm', 'store.db-wal.damaged'])
      await rm(path.join(dataDir, name), { force: true, recursive: true });
    await syncPath(dataDir);
  }
  // Of the index that was there.
  if (names.includes(CATALOG_FILE))
    for (const name of [LAST_FILE, LAST_CHANGES_FILE, CHANGES_FILE, DAMAGED_FILE])
      await rm(path.join(dataDir, name), { force: true });
  // The catalog last: whoever reads the directory meanwhile sees the old index.
  for (const name of ['store.db', 'secret', CATALOG_FILE])
    if (names.includes(name)) await rename(path.join(from, name), path.join(dataDir, name));
  await syncPath(dataDir);
  await rm(from, { recursive: true, force: true });
  await syncPath(dataDir);
}

async function namesIn(folder: string): Promise<string[]> {
  return existsSync(folder) ? readdir(folder) : [];
}
