// Work that can be held up: it yields between its steps, each of which is bounded, and knows nothing of clocks, threads
// or other work. Who owns the thread decides what comes between two steps: nothing (atOnce), or the turns of others
// (engine/search/in-turns.ts).

export type Steps<Value> = Generator<undefined, Value, undefined>;

/** Does all steps without a break. Errors: those of the work. */
export function atOnce<Value>(steps: Steps<Value>): Value {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
