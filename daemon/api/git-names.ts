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

function hasControlCharacter(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x20 || unit === 0x7f) return true;
  }
  return false;
}
