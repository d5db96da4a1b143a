// Runs asynchronous work one after the other, in the order of the calls.

export class Sequence {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` when all earlier work has ended, also if that failed. Errors: those of `work`. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const next = this.#last.then(work, work);
    this.#last = next;
    return next;
  }
}
