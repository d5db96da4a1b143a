// Interruptible work: a generator that yields between bounded steps and knows nothing of clocks, threads or other work. The
// owner of the thread decides what runs between two steps: nothing (atOnce), or other work (engine/search/run-in-slices.ts).

export type Steps<Value> = Generator<undefined, Value, undefined>;

/** Runs all steps without a break. Errors: those of the work. */
export function atOnce<Value>(steps: Steps<Value>): Value {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
