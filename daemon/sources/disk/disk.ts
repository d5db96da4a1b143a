// Small things that listing and reading files of a folder share: paths for the file system, codes
// of its errors, and the guard against folders that are symbolic links.

import { constants, lstatSync, type Stats } from 'node:fs';
import { isInOwnFolder, isOwnFolder } from './own-folder.ts';
import type { NamedPath } from '../../base/paths.ts';

/** Path for calls of node:fs: bytes where the name is not UTF-8. */
export function diskPathOf(root: string, file: NamedPath): string | Buffer {
  if (file.rawPath === undefined) return `${root}/${file.path}`;
  return Buffer.concat([Buffer.from(`${root}/`), file.rawPath]);
}

/** What lies at a path; undefined: nothing that can be looked at. */
export function statOnDisk(root: string, named: NamedPath): Stats | undefined {
  try {
    return lstatSync(diskPathOf(root, named));
  } catch {
    return undefined;
  }
}

/** Those of the paths that are symbolic links now. */
export function linksOnDisk(root: string, paths: readonly string[]): ReadonlySet<string> {
  return new Set(paths.filter((path) => statOnDisk(root, { path })?.isSymbolicLink()));
}

/** Code of a file system error, `EACCES`; of another error its text. */
export function errorCodeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string')
    return error.code;
  return String(error);
}

/**
 * How files are opened: never through a symbolic link.
 * Why O_NONBLOCK: what was a file when it was listed may be a pipe now, and opening that would wait for ever.
 */
export const READ_FLAGS =
  constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * Why: within the resolution of a file system's clock a file may change without a sign. What was changed longer ago
 * than this is known by its time.
 */
export const SETTLED_MS = 2000;
const NS_PER_MS = 1_000_000n;

/** Whether a file that was changed then can no longer change without a sign. */
export function isSettled(changedNs: bigint, settledMs = SETTLED_MS): boolean {
  return BigInt(Date.now() - settledMs) > changedNs / NS_PER_MS;
}

/** Whether an error says that a file or link is gone, or another thing than it was: no longer a link, or a link now. */
export function isVanished(error: unknown): boolean {
  return isGone(error) || ['ELOOP', 'EINVAL', 'EISDIR'].includes(errorCodeOf(error));
}

/** Whether an error says that nothing is there any more. */
export function isGone(error: unknown): boolean {
  const code = errorCodeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** Whether an error says that a path that somebody asked for names nothing: it may also be longer than any path is. */
export function isNowhere(error: unknown): boolean {
  return isGone(error) || errorCodeOf(error) === 'ENAMETOOLONG';
}

/** What a folder is: its own data directory is no source of Trawl's, and a symbolic link leads anywhere. */
type FolderKind = 'real' | 'other' | 'own';

/**
 * Knows which folders below the root are real ones all the way down. A tracked file may lie behind
 * a folder that became a symbolic link: opening it would lead out of the root. The data directory, and what is in it,
 * is not among them.
 */
export class FolderGuard {
  readonly #root: string;
  readonly #known: Map<string, FolderKind>;

  /** Cost: a stat for each folder above the root. */
  constructor(root: string) {
    this.#root = root;
    this.#known = new Map([['', isInOwnFolder(root) ? 'own' : 'real']]);
  }

  /** Whether no folder above the file is a symbolic link, or the data directory. Cost: one lstat for each folder, once. */
  isInside(file: NamedPath): boolean {
    return this.#kindAbove(file) === 'real';
  }

  /** Whether a folder above the file is the data directory. Cost: as `isInside`. */
  isOwn(file: NamedPath): boolean {
    return this.#kindAbove(file) === 'own';
  }

  #kindAbove(file: NamedPath): FolderKind {
    if (file.rawPath === undefined)
      return this.#kindOf(file.path.slice(0, Math.max(0, file.path.lastIndexOf('/'))));
    const bytes = Buffer.from(file.rawPath);
    return this.#kindOf(
      bytes.toString('latin1', 0, Math.max(0, bytes.lastIndexOf(0x2f))),
      'latin1',
    );
  }

  #kindOf(folder: string, encoding: 'utf8' | 'latin1' = 'utf8'): FolderKind {
    // Why: the same folder may come as text and as bytes; both are right, so they are kept apart.
    const key = folder === '' ? '' : `${encoding}:${folder}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const parent = folder.slice(0, Math.max(0, folder.lastIndexOf('/')));
    const above = this.#kindOf(parent, encoding);
    const kind = above === 'real' ? this.#look(folder, encoding) : above;
    this.#known.set(key, kind);
    return kind;
  }

  #look(folder: string, encoding: 'utf8' | 'latin1'): FolderKind {
    const place =
      encoding === 'utf8'
        ? `${this.#root}/${folder}`
        : Buffer.concat([Buffer.from(`${this.#root}/`), Buffer.from(folder, 'latin1')]);
    let stat: Stats;
    try {
      stat = lstatSync(place);
    } catch {
      return 'other';
    }
    if (!stat.isDirectory()) return 'other';
    return isOwnFolder(stat) ? 'own' : 'real';
  }
}
