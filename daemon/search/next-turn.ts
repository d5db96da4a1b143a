// Lets the thread that owns the sockets do other things between two pieces of work: streams that make results for as
// long as they have some would else keep closed connections and short searches waiting. One piece of work a turn of
// the event loop, whoever it is for, in the order of asking.

let last: Promise<unknown> = Promise.resolve();

/** Resolves in a turn of the event loop that nobody else was given. */
export function nextTurn(): Promise<unknown> {
  last = last.then(() => new Promise<void>((resolve) => void setImmediate(resolve)));
  return last;
}
