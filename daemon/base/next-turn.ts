// Lets the thread that owns the sockets do other things between two pieces of work. One piece of work a turn of the
// event loop, whoever it is for: where each of 500 requests took a millisecond in every turn, all others would wait
// for half a second. Holders take turns, so that one with much to do holds up another by one piece only.
//
// A slice is how long one piece of work keeps a thread before others there have theirs (SLICE_MS, SLICE_NS); a turn is how
// long a job or a search keeps its thread or place while others wait (TURN_MS, TURN_NS); inline is how long a search may
// stay on the thread that owns the sockets before it goes to the pool (INLINE_NS). A holder is whom work, places and
// bytes are counted for: a person, or an address (http/client-address.ts).

import { addToList } from './lists.ts';

/** Unit: ms. Of work that is one of many small ones, such as writing to a socket. */
export const SLICE_MS = 1;

/** Who waits, by holder, each in the order of asking; the holder who was last served is the last. */
const waiting = new Map<string, (() => void)[]>();
let isGiving = false;

/**
 * Resolves in a turn of the event loop that nobody else was given.
 *
 * @param holder  whom the work is for; '': nobody in particular, or several
 */
export function nextTurn(holder = ''): Promise<void> {
  return new Promise((resolve) => {
    addToList(waiting, holder, resolve);
    if (!isGiving) setImmediate(give);
    isGiving = true;
  });
}

function give(): void {
  for (const [holder, own] of waiting) {
    waiting.delete(holder);
    const resolve = own.shift();
    if (own.length > 0) waiting.set(holder, own);
    resolve?.();
    break;
  }
  isGiving = waiting.size > 0;
  if (isGiving) setImmediate(give);
}

/** Unit: ms. Of work in small steps. */
const STEPS_MS_MAX = 10;
/** Steps between two looks at the clock. */
const STEP_COUNT = 64;

/** Lets others have turns between pieces of a long loop. */
export class Breather {
  #stepCount = 0;
  #startMs = performance.now();

  /** Call at every step; waits for a turn when the loop has run for 10 ms. */
  pause(): Promise<void> | undefined {
    this.#stepCount++;
    if (this.#stepCount % STEP_COUNT !== 0) return undefined;
    if (performance.now() - this.#startMs < STEPS_MS_MAX) return undefined;
    return this.#breathe();
  }

  async #breathe(): Promise<void> {
    await nextTurn();
    this.#startMs = performance.now();
  }
}
