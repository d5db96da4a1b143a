// Readers (processes or threads) that work on one content at a time: as many at once as allowed, others wait in
// the order in which they came. A reader that died is forgotten; a new one is started when there is work.

export interface Reader {
  /** Not to be used again. */
  readonly isDead: boolean;
  close(): Promise<void>;
}

export class ReaderPool<R extends Reader> {
  readonly #start: () => R;
  readonly #idle: R[] = [];
  readonly #all = new Set<R>();
  #free: number;
  #waiting: (() => void)[] = [];
  #isClosed = false;

  /** @param count  readers at once */
  constructor(count: number, start: () => R) {
    this.#free = count;
    this.#start = start;
  }

  /** Errors: those of the work; one of its own once closed. */
  async use<T>(work: (reader: R) => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      if (this.#isClosed) throw new Error('the pool of readers is closed');
      return await this.#useOne(work);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }

  async #useOne<T>(work: (reader: R) => Promise<T>): Promise<T> {
    const reader = this.#take();
    try {
      return await work(reader);
    } finally {
      if (reader.isDead) this.#all.delete(reader);
      else this.#idle.push(reader);
    }
  }

  #take(): R {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (!idle.isDead) return idle;
      this.#all.delete(idle);
    }
    const reader = this.#start();
    this.#all.add(reader);
    return reader;
  }

  /** Ends all readers; what waits fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#all].map((reader) => reader.close()));
  }
}
