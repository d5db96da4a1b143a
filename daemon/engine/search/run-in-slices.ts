// Runs work in steps on the main thread, a few milliseconds per turn of the event loop.

import type { Cancellation } from '../../base/cancellation.ts';
import { nextTimeSlice } from '../../base/next-time-slice.ts';
import type { Steps } from '../../base/steps.ts';
import type { SearchPermit } from '../../base/search-permit.ts';

/** Bound: blocking of the event loop. Most searches end sooner (daemon/DECISIONS.md). */
export const SEARCH_SLICE_MS = 4;

export interface ClientOptions {
  readonly signal: Cancellation;
  /** Absent: the only search. */
  readonly permit?: SearchPermit | undefined;
}

/** Work that fits into one slice is done synchronously. Errors: those of the work; AbortError if the client is gone. */
export async function runInSlices<Value>(
  steps: Steps<Value>,
  { signal, permit }: ClientOptions,
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
