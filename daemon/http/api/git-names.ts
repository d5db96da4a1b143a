// Syntax of refs and paths as callers may write them, checked before git or the store sees them. Whether
// they exist is for the reader to say.

import { ApiError } from './errors.ts';

const REF_SIZE_MAX = 1024;

/**
 * Refuses a ref that could be read as an option, a range or a reflog entry, or that is not a ref at all.
 * Errors: INVALID_GIT_REF.
 */
export function checkRef(ref: string): void {
  const isRefused =
    ref === '' ||
    ref.startsWith('-') ||
    ref.includes('..') ||
    ref.includes('@{') ||
    hasControlCharacter(ref) ||
    Buffer.byteLength(ref) > REF_SIZE_MAX;
  if (isRefused) throw new ApiError('INVALID_GIT_REF', 'The ref is not valid.');
}

/**
 * Refuses a path that is absolute, leaves the repo or holds a NUL byte.
 * Errors: FILE_NOT_FOUND.
 */
export function checkPath(path: string): void {
  const isRefused = path.startsWith('/') || path.includes('\0') || path.split('/').includes('..');
  if (isRefused) throw new ApiError('FILE_NOT_FOUND', 'File not found.');
}

/**
 * The path of a folder without the slashes that may stand around it, "" for the root.
 * Errors: FILE_NOT_FOUND if it leaves the repo or holds a NUL byte.
 */
export function folderPathOf(path: string): string {
  const inner = path.replace(/^\//, '').replace(/\/$/, '');
  checkPath(inner.replace(/^\/+/, ''));
  return inner;
}

/** These folders, those above them, and the root. */
export function withFoldersAbove(folders: Iterable<string>): Set<string> {
  const all = new Set(['']);
  for (const folder of folders) {
    for (let slash = folder.indexOf('/'); slash >= 0; slash = folder.indexOf('/', slash + 1))
      all.add(folder.slice(0, slash));
    all.add(folder);
  }
  return all;
}

function hasControlCharacter(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x20 || unit === 0x7f) return true;
  }
  return false;
}
