// Checks the form of object ids, refs and paths as callers write them (API.md 11.0). Existence is checked by the readers.

/** A ref that is not well formed, or names no commit. The message is for the caller. */
export class RefError extends Error {
  override readonly name = 'RefError';
  readonly errorCode = 'INVALID_GIT_REF';
}

/** A path that is not well formed. The message is for the caller. */
export class PathError extends Error {
  override readonly name = 'PathError';
  readonly errorCode = 'FILE_NOT_FOUND';
}

const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const REF_SIZE_MAX = 1024;
/** Source: git-check-ref-format(1), gitrevisions(7). */
const PLAIN_NAME = /^[^\s\p{Cc}~^:?*[\\]+$/u;
/** A plain name, then steps back. */
const STEPPED_NAME = /^[^\s\p{Cc}~^:?*[\\]+(?:[~^]\d{0,9})*$/u;
const REF_NAME = /^(?:HEAD|refs\/[^\s\p{Cc}~^:?*[{\\]+)$/u;
const SHORT_ID = /^[0-9a-f]{4,6}(?=[~^]|$)/i;

/** Whether a text is a full id. */
export function isObjectId(text: string): boolean {
  return OBJECT_ID.test(text);
}

/** Errors: TypeError unless it is a full id. */
export function requireObjectId(text: string): void {
  if (!isObjectId(text)) throw new TypeError(`not an object id: ${text}`);
}

/** Whether a text may name a ref, or be an id of any length, without an operator of gitrevisions(7). */
export function isPlainName(text: string): boolean {
  return PLAIN_NAME.test(text);
}

/** Whether a text may be a plain name with steps back, such as `main~3^2`. */
export function isSteppedName(text: string): boolean {
  return STEPPED_NAME.test(text);
}

/** As isSteppedName. Bound: each step goes back 999 commits. */
export function isNearName(text: string): boolean {
  return isSteppedName(text) && !/[~^]\d{4}/.test(text);
}

/** Whether a text can only be a ref; a shorter name may also be an id, or a file in the git directory. */
export function isRefName(text: string): boolean {
  return REF_NAME.test(text);
}

/** The abbreviated id in a text, without steps back; undefined: it is not one. */
export function shortIdOf(text: string): string | undefined {
  return SHORT_ID.exec(text)?.[0];
}

/** Refuses a ref that could be read as an option, a range or a reflog entry, or is not a ref. Errors: RefError. */
export function checkRef(ref: string): void {
  const isRefused = ref === '' || ref.startsWith('-') || /\p{Cc}|\.\.|@\{/u.test(ref);
  if (isRefused || Buffer.byteLength(ref) > REF_SIZE_MAX)
    throw new RefError('The ref is not valid.');
}

/** Refuses a path that is absolute, leaves the repo or contains a NUL byte. Errors: PathError. */
export function checkPath(path: string): void {
  const isRefused = path.startsWith('/') || path.includes('\0') || path.split('/').includes('..');
  if (isRefused) throw new PathError('File not found.');
}

/**
 * The path of a folder without surrounding slashes, "" for the root. Errors: PathError if it leaves the repo or contains a
 * NUL byte.
 */
export function folderPathOf(path: string): string {
  const inner = path.replace(/^\//, '').replace(/\/$/, '');
  checkPath(inner.replace(/^\/+/, ''));
  return inner;
}

/** Whether a file may have this path: no segment is empty, `.` or `..`. */
export function isFilePath(path: string): boolean {
  return !path.includes('\0') && !/(?:^|\/)\.{0,2}(?:\/|$)/.test(path);
}
