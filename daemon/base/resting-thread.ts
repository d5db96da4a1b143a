// A thread that works on one order after the other, started for the first one, ended once it has rested for a while. Why it is
// kept: a thread that has called a foreign function leaves three mappings to the process when it ends (koffi 3.3.4), of
// 65,530, and there are as many orders as commits.

import type { Worker } from 'node:worker_threads';

/** Tells a thread to end by itself. */
export interface EndOrder {
  readonly kind: 'end';
}

/** Guess: how long the thread waits for its next order. */
const REST_MS = 600_000;

export class RestingThread {
  readonly #start: () => Worker;
  #worker: Worker | undefined;
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
    const forget = (): void => {
      if (this.#worker === worker) this.#worker = undefined;
    };
    // What goes wrong is told to the order under way.
    return worker.on('error', forget).once('exit', forget);
  }

  /** Its order is over: until the next one it does not keep the process alive. */
  rest(): void {
    this.#worker?.unref();
    this.#resting = setTimeout(() => void this.end(), REST_MS).unref();
  }

  /** Ends it in the middle of its order: the next one gets another. Resolves when it has ended. */
  async kill(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  /** Ends the thread; resolves when it has ended. No order is to be under way. */
  async end(): Promise<void> {
    clearTimeout(this.#resting);
    const worker = this.#worker;
    this.#worker = undefined;
    if (worker === undefined) return;
    worker.ref();
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    const order: EndOrder = { kind: 'end' };
    worker.postMessage(order);
    await ended;
  }
}
