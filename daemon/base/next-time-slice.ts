// Yields the thread that owns the sockets between two pieces of work. Only one piece runs per turn of the event loop,
// whoever it is for: if each of 500 requests took a millisecond per turn, all others would wait for half a second. Holders
// alternate, so one with much work delays another by one piece only.
//
// A slice is the time one piece of work may keep a thread (SLICE_MS, SLICE_NS). A turn is the time a job or a search may
// keep its thread or permit while others wait (QUANTUM_MS, QUANTUM_NS). Inline is the time a search may run on the thread that
// owns the sockets before it moves to the pool (INLINE_NS). A holder is a person or an address (http/client-address.ts) for
// whom work, permits and bytes are counted.

import { addToList } from './lists.ts';

/** Unit: ms. Of work made of many small pieces, such as writing to a socket. */
export const SLICE_MS = 1;

/** Waiting work by holder, in order of request; the holder served last is the last. */
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

/** Unit: ms. Of work in small steps. */
const STEPS_MS_MAX = 10;
/** Steps between two readings of the clock. */
const STEP_COUNT = 64;

/** Yields between pieces of a long loop. */
export class Breather {
  #stepCount = 0;
  #startMs = performance.now();

  /** Call at every step; waits for a turn once the loop has run for 10 ms. */
  pause(): Promise<void> | undefined {
    this.#stepCount++;
    if (this.#stepCount % STEP_COUNT !== 0) return undefined;
    if (performance.now() - this.#startMs < STEPS_MS_MAX) return undefined;
    return this.#breathe();
  }

  async #breathe(): Promise<void> {
    await nextTimeSlice();
    this.#startMs = performance.now();
  }
}
