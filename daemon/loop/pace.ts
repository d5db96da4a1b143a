// Keeps many requests that arrive at the same time from being one long stop of the event loop: those that find that
// others have been begun for long enough in this turn wait for one of their own.

import { nextTurn } from './next-turn.ts';

/**
 * How long requests are begun in a turn.
 * Guess: more than a turn takes under any ordinary load, so that nobody waits there.
 */
const PACE_MS = 5;

let startMs: number | undefined;

function end(): void {
  startMs = undefined;
}

/** Call before a request of a caller is begun, and wait for what it returns, if anything. */
export function paced(caller: string): Promise<void> | undefined {
  const nowMs = performance.now();
  if (startMs !== undefined) return nowMs - startMs > PACE_MS ? nextTurn(caller) : undefined;
  startMs = nowMs;
  setImmediate(end);
  return undefined;
}
