// A pool of readers (processes or threads), each working on one content at a time. A dead reader is replaced when there is
// work.

import { Slots } from '../../base/slots.ts';

export interface Reader {
  readonly isDead: boolean;
  close(): Promise<void>;
}

export class ReaderPool<R extends Reader> {
  readonly #start: () => R;
  readonly #idle: R[] = [];
  readonly #all = new Set<R>();
  readonly #slots: Slots;
  #isClosed = false;

  constructor(count: number, start: () => R) {
    this.#slots = new Slots({ runningMax: count });
    this.#start = start;
  }

  /** Errors: those of the work; its own error once closed. */
  use<T>(work: (reader: R) => Promise<T>): Promise<T> {
    return this.#slots.run('', undefined, () => this.#useOne(work));
  }

  async #useOne<T>(work: (reader: R) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new Error('the pool of readers is closed');
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

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#all].map((reader) => reader.close()));
  }
}
