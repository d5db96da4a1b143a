// Bounds the git processes that run for one request each (log, blame, diff, listings): so many at a time, in the
// order they were asked for, and so many more may wait. Long-lived processes have a bound of their own
// (object-pool.ts); indexing is bounded by its jobs and does not come here.

import { availableParallelism } from 'node:os';

/** Bound: git waits for the disk about as long as it computes, so that two for each core keep the cores busy. */
const RUNNING_MAX = Math.max(4, availableParallelism() * 2);
/** Bound: at 100 ms each, the last of these waits some seconds with two cores. */
const WAITING_MAX = 256;

/** Too many requests that need git wait already. Nothing was started. */
export class GitBusyError extends Error {
  override readonly name = 'GitBusyError';
  readonly errorCode = 'SERVER_OVERLOADED';

  constructor() {
    super('Too many requests read repositories.');
  }
}

export interface SlotsOptions {
  readonly runningMax?: number;
  readonly waitingMax?: number;
}

/** So many at a time, first come first served. */
export class Slots {
  readonly #runningMax: number;
  readonly #waitingMax: number;
  /** Those who wait, in order: a set, so that whoever gives up leaves at once. */
  readonly #waiting = new Set<() => void>();
  #runningCount = 0;

  constructor({ runningMax = RUNNING_MAX, waitingMax = WAITING_MAX }: SlotsOptions = {}) {
    this.#runningMax = runningMax;
    this.#waitingMax = waitingMax;
  }

  /** For tests and metrics. */
  get counts(): { readonly running: number; readonly waiting: number } {
    return { running: this.#runningCount, waiting: this.#waiting.size };
  }

  /**
   * Calls `run` when it is its turn, and holds the slot until what it returns has settled.
   *
   * Errors: GitBusyError; the reason of the signal, if it is aborted before the turn comes; what `run` throws.
   */
  async run<Value>(signal: AbortSignal, run: () => Promise<Value>): Promise<Value> {
    signal.throwIfAborted();
    if (this.#runningCount < this.#runningMax) this.#runningCount++;
    else await this.#wait(signal);
    try {
      return await run();
    } finally {
      this.#pass();
    }
  }

  /** Resolves with the slot of somebody who has ended: the count of those running stays as it is. */
  #wait(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#waitingMax) return Promise.reject(new GitBusyError());
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.delete(onTurn);
        reject(signal.reason);
      };
      const onTurn = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(onTurn);
    });
  }

  #pass(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#runningCount--;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}

const slots = new Slots();

/** `run` in one of the slots that all requests share. Errors: as `Slots.run`. */
export function withSlot<Value>(signal: AbortSignal, run: () => Promise<Value>): Promise<Value> {
  return slots.run(signal, run);
}
