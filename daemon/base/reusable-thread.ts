// A thread that runs one job after the other: started for the first job, ended after a long idle time. Why it is kept: a
// thread that has called a foreign function leaks three mappings of the process when it ends (koffi 3.3.4), of 65,530, and
// each commit has a symbol pass. Builds have several threads, and a pool of their own (engine/build/build-threads.ts).

import type { Worker } from 'node:worker_threads';
import { HOUR_MS } from './durations.ts';

/** First message of a thread: it has loaded its libraries and may be terminated. */
export interface LoadedNotice {
  readonly kind: 'loaded';
}

export interface EndOrder {
  readonly kind: 'end';
}

/**
 * Idle time after which a thread ends that calls foreign functions. Why so long: with ten minutes, commits each quarter of an hour would leak a thousand
 * mappings a day, and an idle thread that has freed its memory is small.
 */
export const REST_MS = 6 * HOUR_MS;

interface Life {
  /** Why awaited: terminating a thread while a native library loads crashes the process. */
  readonly loaded: Promise<unknown>;
  readonly ended: Promise<unknown>;
}

interface Settle<Result> {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: Error) => void;
}

/** `Message`: messages of the thread, LoadedNotice included. */
export class ReusableThread<Message> {
  readonly #start: () => Worker;
  readonly #restMs: number;
  #worker: Worker | undefined;
  /** All threads that have not ended. */
  readonly #running = new Map<Worker, Life>();
  #idleTimer: NodeJS.Timeout | undefined;

  /** @param start  starts a thread that first posts a LoadedNotice, and ends on an EndOrder */
  constructor(start: () => Worker, restMs = REST_MS) {
    this.#start = start;
    this.#restMs = restMs;
  }

  /** The thread for one job; call `rest` afterwards. */
  take(): Worker {
    clearTimeout(this.#idleTimer);
    this.#worker ??= this.#begin();
    this.#worker.ref();
    return this.#worker;
  }

  #begin(): Worker {
    const worker = this.#start();
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    const ready = new Promise((resolve) => worker.once('message', resolve));
    this.#running.set(worker, { loaded: Promise.race([ready, ended]), ended });
    // Errors go to the running job.
    return worker
      .on('error', () => this.#forget(worker))
      .once('exit', () => {
        this.#forget(worker);
        this.#running.delete(worker);
      });
  }

  /** The next job gets another thread. */
  #forget(worker: Worker): void {
    if (this.#worker === worker) this.#worker = undefined;
  }

  /**
   * Settles when `hear` accepts a message, or when the thread fails or ends.
   *
   * @param endedEarly  error message if it ends before that
   */
  async outcomeOf<Result>(
    worker: Worker,
    endedEarly: string,
    hear: (message: Message, settle: Settle<Result>) => void,
  ): Promise<Result> {
    const over = new AbortController();
    const outcome = new Promise<Result>((resolve, reject) => {
      const onMessage = (message: Message): void => hear(message, { resolve, reject });
      const onExit = (): void => reject(new Error(endedEarly));
      worker.on('message', onMessage).on('error', reject).on('exit', onExit);
      over.signal.addEventListener('abort', () => {
        worker.off('message', onMessage).off('error', reject).off('exit', onExit);
      });
    });
    return await outcome.finally(() => over.abort());
  }

  /** Ends a job: until the next one, the thread does not keep the process alive. */
  rest(): void {
    this.#worker?.unref();
    this.#idleTimer = setTimeout(() => void this.end(), this.#restMs).unref();
  }

  /** Terminates a thread during its job. */
  kill(worker: Worker): void {
    this.#forget(worker);
    void this.#running.get(worker)?.loaded.then(() => worker.terminate());
  }

  /** Ends the thread; resolves when all have ended. No job may be running. */
  async end(): Promise<void> {
    clearTimeout(this.#idleTimer);
    const worker = this.#worker;
    this.#worker = undefined;
    const order: EndOrder = { kind: 'end' };
    worker?.postMessage(order);
    for (const one of this.#running.keys()) one.ref();
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }
}
