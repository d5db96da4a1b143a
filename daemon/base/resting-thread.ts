// A thread that works on one order after the other, started for the first one, ended once it has rested for a while. Why it is
// kept: a thread that has called a foreign function leaves three mappings to the process when it ends (koffi 3.3.4), of
// 65,530, and each commit has a symbol pass.

import type { Worker } from 'node:worker_threads';

/** Tells a thread to end by itself. */
export interface EndOrder {
  readonly kind: 'end';
}

/**
 * How long a thread rests before it ends. Why so long: with ten minutes, commits each quarter of an hour would leave a
 * thousand mappings a day, and a thread that has given its memory back takes little.
 */
export const REST_MS = 6 * 3_600_000;

export class RestingThread {
  readonly #start: () => Worker;
  #worker: Worker | undefined;
  /** All that have not ended, and when they have. */
  readonly #ends = new Map<Worker, Promise<void>>();
  #resting: NodeJS.Timeout | undefined;

  /** @param start  starts a thread that ends when it is posted an EndOrder */
  constructor(start: () => Worker) {
    this.#start = start;
  }

  /** The thread, for one order; `rest` follows. */
  take(): Worker {
    clearTimeout(this.#resting);
    this.#worker ??= this.#begin();
    this.#worker.ref();
    return this.#worker;
  }

  #begin(): Worker {
    const worker = this.#start();
    const end = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    this.#ends.set(worker, end);
    // What goes wrong is told to the order under way.
    return worker
      .on('error', () => this.#forget(worker))
      .once('exit', () => {
        this.#forget(worker);
        this.#ends.delete(worker);
      });
  }

  /** The next order gets another. */
  #forget(worker: Worker): void {
    if (this.#worker === worker) this.#worker = undefined;
  }

  /** Its order is over: until the next one it does not keep the process alive. */
  rest(): void {
    this.#worker?.unref();
    this.#resting = setTimeout(() => void this.end(), REST_MS).unref();
  }

  /** Ends a thread that was taken in the middle of its order. */
  kill(worker: Worker): void {
    this.#forget(worker);
    void worker.terminate();
  }

  /** Ends the thread; resolves when all have ended. No order is to be under way. */
  async end(): Promise<void> {
    clearTimeout(this.#resting);
    const worker = this.#worker;
    this.#worker = undefined;
    worker?.ref();
    const order: EndOrder = { kind: 'end' };
    worker?.postMessage(order);
    await Promise.all(this.#ends.values());
  }
}
