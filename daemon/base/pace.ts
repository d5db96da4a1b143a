// Keeps many requests that arrive at the same time from being one long stop of the event loop: those that find many
// others begun in this turn wait for one of their own.

import { nextTurn } from './next-turn.ts';

/**
 * Requests that are begun in a turn.
 * Guess: at 0.1 ms each as long as other stops, and as many as a turn brings under ordinary load.
 */
export const BEGUN_MAX = 64;

let begunCount = 0;

function end(): void {
  begunCount = 0;
}

/** Call before a request of a holder is begun, and wait for what it returns, if anything. */
export function paced(holder: string): Promise<void> | undefined {
  if (begunCount === BEGUN_MAX) return nextTurn(holder);
  if (begunCount === 0) setImmediate(end);
  begunCount++;
  return undefined;
}
