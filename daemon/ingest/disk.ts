// Small things that listing and reading files of a folder share: paths for the file system, codes
// of its errors, and the guard against folders that are symbolic links.

import { lstatSync } from 'node:fs';
import type { NamedPath } from '../repos/paths.ts';

/** Path for calls of node:fs: bytes where the name is not UTF-8. */
export function diskPathOf(root: string, file: NamedPath): string | Buffer {
  if (file.rawPath === undefined) return `${root}/${file.path}`;
  return Buffer.concat([Buffer.from(`${root}/`), file.rawPath]);
}

/** Code of a file system error, `EACCES`; of another error its text. */
export function errorCodeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string')
    return error.code;
  return String(error);
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

/**
 * Knows which folders below the root are real ones all the way down. A tracked file may lie behind
 * a folder that became a symbolic link: opening it would lead out of the root.
 */
export class FolderGuard {
  readonly #root: string;
  readonly #known = new Map<string, boolean>([['', true]]);

  constructor(root: string) {
    this.#root = root;
  }

  /** Whether no folder above the file is a symbolic link. Cost: one lstat for each folder, once. */
  isInside(file: NamedPath): boolean {
    if (file.rawPath === undefined)
      return this.#isReal(file.path.slice(0, Math.max(0, file.path.lastIndexOf('/'))));
    const bytes = Buffer.from(file.rawPath);
    return this.#isReal(
      bytes.toString('latin1', 0, Math.max(0, bytes.lastIndexOf(0x2f))),
      'latin1',
    );
  }

  #isReal(folder: string, encoding: 'utf8' | 'latin1' = 'utf8'): boolean {
    // Why: the same folder may come as text and as bytes; both are right, so they are kept apart.
    const key = folder === '' ? '' : `${encoding}:${folder}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const parent = folder.slice(0, Math.max(0, folder.lastIndexOf('/')));
    const isReal = this.#isReal(parent, encoding) && this.#isDirectory(folder, encoding);
    this.#known.set(key, isReal);
    return isReal;
  }

  #isDirectory(folder: string, encoding: 'utf8' | 'latin1'): boolean {
    const place =
      encoding === 'utf8'
        ? `${this.#root}/${folder}`
        : Buffer.concat([Buffer.from(`${this.#root}/`), Buffer.from(folder, 'latin1')]);
    try {
      return lstatSync(place).isDirectory();
    } catch {
      return false;
    }
  }
}
