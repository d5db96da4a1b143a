// A thread that works on one order after the other, started for the first one, ended once it has rested for a while. Why it is
// kept: a thread that has called a foreign function leaves three mappings to the process when it ends (koffi 3.3.4), of
// 65,530, and each commit has a symbol pass. Builds have several threads, and a pool of their own (engine/build/build-threads.ts).

import type { Worker } from 'node:worker_threads';
import { HOUR_MS } from './durations.ts';

/** What a thread tells first: it has loaded what it needs, and may be terminated from now on. */
export interface LoadedNotice {
  readonly kind: 'loaded';
}

/** Tells a thread to end by itself. */
export interface EndOrder {
  readonly kind: 'end';
}

/**
 * How long a thread rests before it ends. Why so long: with ten minutes, commits each quarter of an hour would leave a
 * thousand mappings a day, and a thread that has given its memory back takes little.
 */
export const REST_MS = 6 * HOUR_MS;

interface Life {
  /** Why awaited: one that is terminated while a native library loads takes the process with it. */
  readonly loaded: Promise<unknown>;
  readonly ended: Promise<unknown>;
}

/** How an order came out. */
interface Settle<Result> {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: Error) => void;
}

/** `Told`: what the thread tells, LoadedNotice among it. */
export class RestingThread<Told> {
  readonly #start: () => Worker;
  #worker: Worker | undefined;
  /** All that have not ended. */
  readonly #running = new Map<Worker, Life>();
  #resting: NodeJS.Timeout | undefined;

  /** @param start  starts a thread that tells a LoadedNotice first, and ends when it is posted an EndOrder */
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
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    const told = new Promise((resolve) => worker.once('message', resolve));
    this.#running.set(worker, { loaded: Promise.race([told, ended]), ended });
    // What goes wrong is told to the order under way.
    return worker
      .on('error', () => this.#forget(worker))
      .once('exit', () => {
        this.#forget(worker);
        this.#running.delete(worker);
      });
  }

  /** The next order gets another. */
  #forget(worker: Worker): void {
    if (this.#worker === worker) this.#worker = undefined;
  }

  /**
   * Settles as `hear` says of what a thread tells, or when it has failed or ended.
   *
   * @param endedEarly  what is said where it ends before that
   */
  async outcomeOf<Result>(
    worker: Worker,
    endedEarly: string,
    hear: (message: Told, settle: Settle<Result>) => void,
  ): Promise<Result> {
    const over = new AbortController();
    const outcome = new Promise<Result>((resolve, reject) => {
      const onMessage = (message: Told): void => hear(message, { resolve, reject });
      const onExit = (): void => reject(new Error(endedEarly));
      worker.on('message', onMessage).on('error', reject).on('exit', onExit);
      over.signal.addEventListener('abort', () => {
        worker.off('message', onMessage).off('error', reject).off('exit', onExit);
      });
    });
    return await outcome.finally(() => over.abort());
  }

  /** Its order is over: until the next one it does not keep the process alive. */
  rest(): void {
    this.#worker?.unref();
    this.#resting = setTimeout(() => void this.end(), REST_MS).unref();
  }

  /** Ends a thread that was taken in the middle of its order. */
  kill(worker: Worker): void {
    this.#forget(worker);
    void this.#running.get(worker)?.loaded.then(() => worker.terminate());
  }

  /** Ends the thread; resolves when all have ended. No order is to be under way. */
  async end(): Promise<void> {
    clearTimeout(this.#resting);
    const worker = this.#worker;
    this.#worker = undefined;
    const order: EndOrder = { kind: 'end' };
    worker?.postMessage(order);
    for (const one of this.#running.keys()) one.ref();
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }
}
