// Chooses the thread where a search begins: the main thread, the fastest for a cheap query, or, when others wait for it or
// run on the pool, a pool thread with little load. So one client gets the lowest latency, and many get all cores (measured
// in daemon/DECISIONS.md).

import type { SearchPool } from '../host/pool.ts';

/** A pool thread, reserved until it gets a search; undefined: the calling thread. */
export type Thread = number | undefined;

export class StartThreads {
  readonly #pool: Pick<SearchPool, 'reserve' | 'runsTasks'>;
  readonly #waiting: ((thread: Thread) => void)[] = [];
  #isPumping = false;

  constructor(pool: Pick<SearchPool, 'reserve' | 'runsTasks'>) {
    this.#pool = pool;
  }

  /** Resolves in order of arrival, with the thread where the search must begin at once. */
  take(): Promise<Thread> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#pumpSoon();
    });
  }

  #pumpSoon(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    // Delayed: all requests that arrived together are in the queue then.
    setImmediate(() => this.#pump());
  }

  #pump(): void {
    this.#isPumping = false;
    while (this.#waiting.length > (this.#pool.runsTasks ? 0 : 1)) {
      const thread = this.#pool.reserve();
      if (thread === undefined) break;
      this.#waiting.shift()!(thread);
    }
    this.#waiting.shift()?.(undefined);
    if (this.#waiting.length > 0) this.#pumpSoon();
  }
}
