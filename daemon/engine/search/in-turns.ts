// Runs work in steps on the thread that owns the sockets: a few milliseconds per turn of the event loop, so that other
// requests do not wait for the whole.

import { nextTurn } from '../../base/next-turn.ts';
import type { Steps } from '../../base/steps.ts';
import type { SearchPlace } from '../../base/place.ts';

/** Guess: short beside what people notice, long beside what a turn costs. */
export const SEARCH_SLICE_MS = 4;

export interface Whose {
  readonly signal: AbortSignal;
  /** Absent: the search is alone. */
  readonly place?: SearchPlace | undefined;
}

/**
 * The value of the work. What fits into one slice is done before this returns.
 *
 * Errors: those of the work; AbortError between two slices if the client is gone.
 */
export async function inTurns<Value>(
  steps: Steps<Value>,
  { signal, place }: Whose,
): Promise<Value> {
  for (;;) {
    const endMs = performance.now() + SEARCH_SLICE_MS;
    do {
      const { done, value } = steps.next();
      if (done === true) return value;
    } while (performance.now() < endMs);
    await nextTurn(place?.holder);
    await place?.turn();
    signal.throwIfAborted();
  }
}
