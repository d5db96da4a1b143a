// Checks POSIX basic regular expressions before git gets them: the C library copies what an interval repeats, so a few
// nested intervals would fill the memory.

import { z } from 'zod';

const SIZE_MAX = 1024;
/** Limit for the copies of all nested intervals of an expression together. */
const COPIES_MAX = 10_000;

const INTERVAL = /\\\{(\d*)(?:,(\d*))?\\\}/g;

/** Upper bound of the copies that the intervals of an expression make. */
export function intervalCopies(expression: string): number {
  let copies = 1;
  for (const [, min = '', max = ''] of expression.matchAll(INTERVAL))
    copies *= Math.max(1, Number(min), Number(max));
  return copies;
}

/** A query value that is such an expression; git decides whether it compiles. */
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
