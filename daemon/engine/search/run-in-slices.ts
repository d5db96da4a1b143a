// Runs work in steps on the thread that owns the sockets: a few milliseconds per turn of the event loop, so that other
// requests do not wait for the whole.

import { nextTimeSlice } from '../../base/next-time-slice.ts';
import type { Steps } from '../../base/steps.ts';
import type { SearchPermit } from '../../base/search-permit.ts';

/** Bound: stop of the event loop. Most searches end sooner (daemon/DECISIONS.md). */
export const SEARCH_SLICE_MS = 4;

export interface Whose {
  readonly signal: AbortSignal;
  /** Absent: the only search. */
  readonly permit?: SearchPermit | undefined;
}

/**
 * Returns the value of the work. Work that fits into one slice is done synchronously.
 *
 * Errors: those of the work; AbortError between two slices if the client is gone.
 */
export async function runInSlices<Value>(
  steps: Steps<Value>,
  { signal, permit }: Whose,
): Promise<Value> {
  for (;;) {
    const endMs = performance.now() + SEARCH_SLICE_MS;
    do {
      const { done, value } = steps.next();
      if (done === true) return value;
    } while (performance.now() < endMs);
    await nextTimeSlice(permit?.clientKey);
    await permit?.whenRunning();
    signal.throwIfAborted();
  }
}
