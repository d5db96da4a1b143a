// Runs the garbage collector of this thread now.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { findHeapTrim } from './mapping.ts';

/** Two, as pages that one collection empties are returned by the next. */
export const COLLECT_ROUNDS = 2;

/** Takes some ms for each 10 MB of live objects. */
export function giveMemoryBack(): void {
  for (let round = 0; round < COLLECT_ROUNDS; round++) collectGarbage();
  findHeapTrim()?.();
}

/** Often the next job follows at once. Measured: private memory after 100 small repositories: 123 MB instead of 248. */
export const KEPT_MS = 2000;

let giving: NodeJS.Timeout | undefined;

/** Returns memory to the system unless `keepMemory` is called soon. */
export function giveMemoryBackSoon(): void {
  clearTimeout(giving);
  giving = setTimeout(giveMemoryBack, KEPT_MS);
}

/** A new job has come, or the thread ends, which must not wait. */
export function keepMemory(): void {
  clearTimeout(giving);
}

let collector: (() => void) | undefined;

/** Avoids a command-line flag of the daemon. */
export function collectGarbage(): void {
  if (collector === undefined) {
    setFlagsFromString('--expose-gc');
    const found: unknown = runInNewContext('gc');
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Safety: V8's own, which may be called without arguments
    if (typeof found === 'function') collector = found as () => void;
  }
  collector?.();
}
