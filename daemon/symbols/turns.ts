// Lets a bounded number of works run at once, the others in the order in which they came.

export class Turns {
  #free: number;
  #isClosed = false;
  readonly #waiting: (() => void)[] = [];
  #waitingStart = 0;

  /** @param count  works at once */
  constructor(count: number) {
    this.#free = count;
  }

  /** Errors: those of the work; one of its own once closed. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      if (this.#isClosed) throw new Error('closed');
      return await work();
    } finally {
      this.#next();
    }
  }

  #next(): void {
    const next = this.#waiting[this.#waitingStart++];
    if (next === undefined) {
      this.#waiting.length = 0;
      this.#waitingStart = 0;
      this.#free++;
    } else next();
  }

  /** What waits, and what comes, fails. */
  close(): void {
    this.#isClosed = true;
  }
}
