// Yields the main thread between two pieces of work. Only one piece runs per turn of the event loop,
// whoever it is for: if each of 500 requests took a millisecond per turn, all others would wait for half a second. Clients
// alternate, so one with much work delays another by one piece only. `clientKey` is a person or an address
// (http/client-address.ts).
//
// Other budgets of time: a search on the main thread before it moves to the pool, 4 ms (engine/search/run-in-slices.ts); a step
// of a search thread 5 ms, a search while others wait 20 ms (engine/host/search-thread.ts, http/admission.ts).

import { addToList } from './lists.ts';

/** Unit: ms. Of work made of many small pieces, such as writing to a socket. */
export const SLICE_MS = 1;

/** Waiting work by client, in order of request; the client served last is the last. */
const waiting = new Map<string, (() => void)[]>();
let isGiving = false;

/**
 * Resolves in a turn of the event loop that serves nobody else.
 *
 * @param clientKey  whom the work is for; '': nobody in particular, or several
 */
export function nextTimeSlice(clientKey = ''): Promise<void> {
  return new Promise((resolve) => {
    addToList(waiting, clientKey, resolve);
    if (!isGiving) setImmediate(give);
    isGiving = true;
  });
}

function give(): void {
  for (const [clientKey, own] of waiting) {
    waiting.delete(clientKey);
    const resolve = own.shift();
    if (own.length > 0) waiting.set(clientKey, own);
    resolve?.();
    break;
  }
  isGiving = waiting.size > 0;
  if (isGiving) setImmediate(give);
}

/**
 * Unit: ms. Of work in small steps. Measured 2026-11-29: while 78,635 files are listed, nine of ten searches take 10 ms or
 * less; 21 with pieces of 10 ms.
 */
const STEPS_MS_MAX = 2;
/** Steps between two readings of the clock. */
const STEP_COUNT = 64;

/** Yields between pieces of a long loop. */
export class LoopYielder {
  #stepCount = 0;
  #startMs = performance.now();

  /** Call at every step; waits for a turn once the loop has run for STEPS_MS_MAX. */
  pause(): Promise<void> | undefined {
    this.#stepCount++;
    if (this.#stepCount % STEP_COUNT !== 0) return undefined;
    if (performance.now() - this.#startMs < STEPS_MS_MAX) return undefined;
    return this.#yield();
  }

  async #yield(): Promise<void> {
    await nextTimeSlice();
    this.#startMs = performance.now();
  }
}
