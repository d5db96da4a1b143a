// Excludes the data directory from all sources, as it contains the secret, the accounts and the index. Wherever files on
// disk are listed or read, it is recognised by its path and by its inode, as it may be mounted at several paths. Hard links
// to its files are recognised too. Threads started later inherit the setting.

import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

const KEY = 'trawl: data directories';

interface FileNumber {
  readonly dev: number;
  readonly ino: number;
}

/** Declares the data directory of this process, absolute; usually one per process. */
export function claimOwnFolder(folder: string): void {
  setOwnFolders([...new Set([...ownFolders(), folder])]);
}

/** For a thread that was started before a claim. */
export function setOwnFolders(folders: readonly string[]): void {
  setEnvironmentData(KEY, folders);
}

export function ownFolders(): readonly string[] {
  const folders: unknown = getEnvironmentData(KEY);
  // Safety: set only above.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return (folders as readonly string[] | undefined) ?? [];
}

/**
 * Whether a folder is one of our data directories. Errors: that of the system if one is inaccessible: an unidentified folder
 * must not be read. Cost: a stat for each of them.
 */
export function isOwnFolder(folder: FileNumber): boolean {
  return ownFolders().some((own) => isSame(statSync(own, { throwIfNoEntry: false }), folder));
}

/**
 * Whether a folder is, or is inside, one of our data directories. Errors: as isOwnFolder. Cost: a stat for each folder
 * above it.
 */
export function isInOwnFolder(folder: string): boolean {
  if (ownFolders().length === 0) return false;
  for (let location = realPathOf(folder); ; location = path.dirname(location)) {
    const found = numberOf(location);
    if (found !== undefined && isOwnFolder(found)) return true;
    if (location === path.dirname(location)) return false;
  }
}

/**
 * The files directly in our data directories, where all secrets are: a source may have hard links to them. Errors: that of
 * the system if a data directory cannot be listed. Cost: nothing for a file with one name; else a stat, and a listing for
 * each change of a data directory.
 */
export class OwnFiles {
  readonly #known = new Map<string, { readonly changedNs: bigint; readonly files: FileNumber[] }>();

  has(file: FileNumber & { readonly nlink: number }): boolean {
    return (
      file.nlink > 1 &&
      ownFolders().some((folder) => this.#filesIn(folder).some((own) => isSame(own, file)))
    );
  }

  #filesIn(folder: string): readonly FileNumber[] {
    const changedNs = statSync(folder, { throwIfNoEntry: false, bigint: true })?.mtimeNs;
    if (changedNs === undefined) return [];
    const known = this.#known.get(folder);
    if (known?.changedNs === changedNs) return known.files;
    const files = readdirSync(folder).flatMap(
      (name) => lstatSync(path.join(folder, name), { throwIfNoEntry: false }) ?? [],
    );
    // A change within the same tick of the file system's clock would not show.
    const isSettled = Date.now() - Number(changedNs) / 1e6 > 1000;
    if (isSettled) this.#known.set(folder, { changedNs, files });
    return files;
  }
}

function isSame(one: FileNumber | undefined, other: FileNumber): boolean {
  return one?.ino === other.ino && one.dev === other.dev;
}

function numberOf(location: string): FileNumber | undefined {
  try {
    return statSync(location, { throwIfNoEntry: false });
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
