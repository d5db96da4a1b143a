// Shared by listing and reading files of a folder: file system paths, error codes, and the guard against symbolic links.

import { constants, lstatSync, type Stats } from 'node:fs';
import { isInOwnFolder, isOwnFolder } from './own-folder.ts';
import { systemCodeOf } from '../../base/caught.ts';
import { nameKey, parentOf, type TreePath } from '../../base/paths.ts';

/** Path for node:fs: bytes if the name is not UTF-8. */
export function diskPathOf(root: string, file: TreePath): string | Buffer {
  if (file.rawPath === undefined) return `${root}/${file.path}`;
  return Buffer.concat([Buffer.from(`${root}/`), file.rawPath]);
}

/** Stats of a path; undefined: nothing accessible. */
export function statOnDisk(root: string, treePath: TreePath): Stats | undefined {
  try {
    return lstatSync(diskPathOf(root, treePath));
  } catch {
    return undefined;
  }
}

/** The paths that are symbolic links now. */
export function linksOnDisk(root: string, paths: readonly string[]): ReadonlySet<string> {
  return new Set(paths.filter((path) => statOnDisk(root, { path })?.isSymbolicLink()));
}

/** Code of a file system error, `EACCES`; of another error its text. */
export function errorCodeOf(error: unknown): string {
  return systemCodeOf(error) ?? String(error);
}

/**
 * Flags for opening files: never through a symbolic link.
 * Why O_NONBLOCK: a file of the listing may be a pipe now, and opening a pipe would block forever.
 */
export const READ_FLAGS =
  constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * Why: within the resolution of a file system's clock a file may change without a new time. A change older than this is
 * visible in the file's times.
 */
export const SETTLED_MS = 2000;

/** Whether a file changed at that time can no longer change unnoticed. */
export function isSettled(changedNs: bigint): boolean {
  return BigInt(Date.now() - SETTLED_MS) > changedNs / 1_000_000n;
}

/** Whether an error says that a file or link is gone, or has become something else. */
export function isVanished(error: unknown): boolean {
  return isGone(error) || ['ELOOP', 'EINVAL', 'EISDIR'].includes(errorCodeOf(error));
}

/** Whether an error says that nothing is there any more. */
export function isGone(error: unknown): boolean {
  const code = errorCodeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** Whether an error says that a requested path does not exist, or is too long. */
export function isNowhere(error: unknown): boolean {
  return isGone(error) || errorCodeOf(error) === 'ENAMETOOLONG';
}

/** The data directory is never a source, and a symbolic link leads anywhere. */
type FolderKind = 'real' | 'other' | 'own';

/**
 * Tests whether all folders above a file are real. A tracked file may be behind a folder that became a symbolic link:
 * opening it would leave the root. The data directory and its content do not count as inside.
 */
export class FolderGuard {
  readonly #root: string;
  readonly #cached: Map<string, FolderKind>;

  /** Cost: a stat for each folder above the root. */
  constructor(root: string) {
    this.#root = root;
    this.#cached = new Map([['', isInOwnFolder(root) ? 'own' : 'real']]);
  }

  /** Whether no folder above the file is a symbolic link or the data directory. Cost: one lstat for each folder, once. */
  isInside(file: TreePath): boolean {
    return this.#kindAbove(file) === 'real';
  }

  /** Whether a folder above the file is the data directory. Cost: as `isInside`. */
  isOwn(file: TreePath): boolean {
    return this.#kindAbove(file) === 'own';
  }

  #kindAbove(file: TreePath): FolderKind {
    return this.#kindOf(parentOf(file));
  }

  #kindOf(folder: TreePath): FolderKind {
    const key = nameKey(folder);
    const cached = this.#cached.get(key);
    if (cached !== undefined) return cached;
    const above = this.#kindAbove(folder);
    const kind = above === 'real' ? kindOnDisk(this.#root, folder) : above;
    this.#cached.set(key, kind);
    return kind;
  }
}

function kindOnDisk(root: string, folder: TreePath): FolderKind {
  const stat = statOnDisk(root, folder);
  if (stat?.isDirectory() !== true) return 'other';
  return isOwnFolder(stat) ? 'own' : 'real';
}
