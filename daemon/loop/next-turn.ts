// Lets the thread that owns the sockets do other things between two pieces of work. One piece of work a turn of the
// event loop, whoever it is for: where each of 500 requests took a millisecond in every turn, all others would wait
// for half a second. Callers take turns, so that one with much to do holds up another by one piece only.

/** Unit: ms. How long a piece of work takes before the next turn is waited for, about. */
export const TURN_MS = 1;

/** Who waits, by caller, each in the order of asking; the caller who was last served is the last. */
const waiting = new Map<string, (() => void)[]>();
let isGiving = false;

/**
 * Resolves in a turn of the event loop that nobody else was given.
 *
 * @param caller  whom the work is for; '': nobody in particular, or several
 */
export function nextTurn(caller = ''): Promise<void> {
  return new Promise((resolve) => {
    const own = waiting.get(caller);
    if (own === undefined) waiting.set(caller, [resolve]);
    else own.push(resolve);
    if (!isGiving) setImmediate(give);
    isGiving = true;
  });
}

function give(): void {
  for (const [caller, own] of waiting) {
    waiting.delete(caller);
    const resolve = own.shift();
    if (own.length > 0) waiting.set(caller, own);
    resolve?.();
    break;
  }
  isGiving = waiting.size > 0;
  if (isGiving) setImmediate(give);
}
