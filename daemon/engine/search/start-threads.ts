// Chooses the thread where a search begins: the main thread, the fastest for a cheap query, or, when others wait for it or
// run on the pool, a pool thread with little load. So one client gets the lowest latency, and many get all cores (measured
// in daemon/DECISIONS.md).

import type { ReservedThread, SearchPool } from '../host/pool.ts';

/** A pool thread; undefined: the calling thread. */
export type Thread = number | undefined;

type ReservingPool = Pick<SearchPool, 'reserve' | 'cancel' | 'runsTasks'>;

export class StartThreads {
  readonly #pool: ReservingPool;
  readonly #waiting: ((reserved: ReservedThread | undefined) => void)[] = [];
  #isPumping = false;

  constructor(pool: ReservingPool) {
    this.#pool = pool;
  }

  /**
   * Resolves in order of arrival, with the thread where the search must begin at once; undefined: the calling thread. A
   * search that may end before it begins there must call `giveBack`.
   */
  take(): Promise<ReservedThread | undefined> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#pumpSoon();
    });
  }

  /** Has no effect once the search has begun. */
  giveBack(reserved: ReservedThread): void {
    this.#pool.cancel(reserved);
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
      const reserved = this.#pool.reserve();
      if (reserved === undefined) break;
      this.#waiting.shift()!(reserved);
    }
    this.#waiting.shift()?.(undefined);
    if (this.#waiting.length > 0) this.#pumpSoon();
  }
}
