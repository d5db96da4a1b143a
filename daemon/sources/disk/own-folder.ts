// The data directory is no source: secret, accounts and index are in it. Wherever files on disk are listed or read it is
// recognised by its path, and by the number that the file system gave it, as it may be mounted at several paths. So are
// further names (hard links) of its files. Threads that are started later know it too.

import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

const KEY = 'trawl: data directories';

interface FileNumber {
  readonly dev: number;
  readonly ino: number;
}

/** The data directory of this process, absolute, from now on; one of a process is usual. */
export function claimOwnFolder(folder: string): void {
  setEnvironmentData(KEY, [...new Set([...ownFolders(), folder])]);
}

function ownFolders(): readonly string[] {
  const folders: unknown = getEnvironmentData(KEY);
  // Safety: set above alone.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return (folders as readonly string[] | undefined) ?? [];
}

/**
 * Whether a folder is a data directory of ours.
 *
 * Errors: that of the system where one cannot be looked at: what cannot be told apart from it must not be read.
 * Cost: a stat for each of them.
 */
export function isOwnFolder(folder: FileNumber): boolean {
  return ownFolders().some((own) => isSame(statSync(own, { throwIfNoEntry: false }), folder));
}

/** Whether a folder is a data directory of ours, or lies in one. Errors: as isOwnFolder. Cost: a stat for each above it. */
export function isInOwnFolder(folder: string): boolean {
  if (ownFolders().length === 0) return false;
  for (let place = realPathOf(folder); ; place = path.dirname(place)) {
    const found = numberOf(place);
    if (found !== undefined && isOwnFolder(found)) return true;
    if (place === path.dirname(place)) return false;
  }
}

/**
 * Whether a file is one of those directly in a data directory of ours, among which are all that hold secrets.
 *
 * Errors: that of the system where a data directory cannot be listed.
 * Cost: nothing for a file of one name; else a listing.
 */
export function isOwnFile(file: FileNumber & { readonly nlink: number }): boolean {
  return file.nlink > 1 && ownFolders().some((folder) => holds(folder, file));
}

function holds(folder: string, file: FileNumber): boolean {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return false;
  return readdirSync(folder).some((name) =>
    isSame(lstatSync(path.join(folder, name), { throwIfNoEntry: false }), file),
  );
}

function isSame(one: FileNumber | undefined, other: FileNumber): boolean {
  return one?.ino === other.ino && one.dev === other.dev;
}

function numberOf(place: string): FileNumber | undefined {
  try {
    return statSync(place, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function realPathOf(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch {
    return path.resolve(folder);
  }
}
