// Parameters that the history endpoints share, and the check of the regular expressions that git gets.

import { z } from 'zod';
import { checkPath, checkRef } from '../../sources/git/names.ts';
import { text } from '../shapes/schemas.ts';

export const pathField = text('Only this file, or files below this folder.').optional();

/** An empty optional ref counts as absent, unlike any other empty value. */
export function refOf(ref: string | undefined): string | undefined {
  if (ref === undefined || ref === '') return undefined;
  checkRef(ref);
  return ref;
}

/** An optional path; the empty path means everything. Errors: FILE_NOT_FOUND. */
export function scopeOf(path: string | undefined): string | undefined {
  if (path === undefined || path === '') return undefined;
  checkPath(path);
  return path;
}

/** Bytes of an expression. */
const SIZE_MAX = 1024;
/** Of all nested intervals together. Bound: memory, as the C library copies what an interval repeats. */
const COPIES_MAX = 10_000;

const INTERVAL = /\\\{(\d*)(?:,(\d*))?\\\}/g;

/** Upper bound of the copies that the intervals of an expression make. */
export function intervalCopies(expression: string): number {
  let copies = 1;
  for (const [, min = '', max = ''] of expression.matchAll(INTERVAL))
    copies *= Math.max(1, Number(min), Number(max));
  return copies;
}

/** A query value that is a POSIX basic regular expression; git decides whether it compiles. */
export function expressionText() {
  return z
    .string()
    .refine((text) => !text.includes('\0') && Buffer.byteLength(text) <= SIZE_MAX, {
      error: `expected at most ${SIZE_MAX} bytes, without NUL`,
    })
    .refine((text) => intervalCopies(text) <= COPIES_MAX, {
      error: `its intervals repeat more than ${COPIES_MAX} times in total`,
    });
}
