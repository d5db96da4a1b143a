// Bounds the git processes that run for one request each (log, blame, diff, listings): so many at a time, in the
// order they were asked for, and so many more may wait; one repository has three quarters of either at most, so that
// one whose git hangs does not hold up the others. Long-lived processes have a bound of their own
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

interface Waiter {
  readonly repoPath: string;
  readonly onTurn: () => void;
}

/** So many at a time, first come first served. */
export class Slots {
  readonly #runningMax: number;
  readonly #waitingMax: number;
  /** Those who wait, in order: a set, so that whoever gives up leaves at once. */
  readonly #waiting = new Set<Waiter>();
  #runningCount = 0;
  /** By repository. */
  readonly #running = new Tally();
  readonly #waitingOf = new Tally();

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
   * @param repoPath  what the process reads
   *
   * Errors: GitBusyError; the reason of the signal, if it is aborted before the turn comes; what `run` throws.
   */
  async run<Value>(
    repoPath: string,
    signal: AbortSignal,
    run: () => Promise<Value>,
  ): Promise<Value> {
    signal.throwIfAborted();
    if (this.#mayRun(repoPath)) this.#take(repoPath);
    else await this.#wait(repoPath, signal);
    try {
      return await run();
    } finally {
      this.#runningCount--;
      this.#running.add(repoPath, -1);
      this.#serve();
    }
  }

  #mayRun(repoPath: string): boolean {
    const isShareFree = this.#running.of(repoPath) < shareOf(this.#runningMax);
    return isShareFree && this.#runningCount < this.#runningMax;
  }

  #take(repoPath: string): void {
    this.#runningCount++;
    this.#running.add(repoPath, 1);
  }

  /** Resolves with a slot that is taken. */
  #wait(repoPath: string, signal: AbortSignal): Promise<void> {
    const isFull = this.#waiting.size >= this.#waitingMax;
    if (isFull || this.#waitingOf.of(repoPath) >= shareOf(this.#waitingMax))
      return Promise.reject(new GitBusyError());
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#leave(waiter);
        reject(signal.reason);
      };
      const onTurn = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const waiter = { repoPath, onTurn };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(waiter);
      this.#waitingOf.add(repoPath, 1);
    });
  }

  #leave(waiter: Waiter): void {
    if (this.#waiting.delete(waiter)) this.#waitingOf.add(waiter.repoPath, -1);
  }

  /** Gives what is free to those who wait, in order; one whose repository has its share is passed over. */
  #serve(): void {
    for (const waiter of this.#waiting) {
      if (this.#runningCount >= this.#runningMax) return;
      if (!this.#mayRun(waiter.repoPath)) continue;
      this.#leave(waiter);
      this.#take(waiter.repoPath);
      waiter.onTurn();
    }
  }
}

/** What one repository may have of so many. */
function shareOf(count: number): number {
  return Math.ceil((count * 3) / 4);
}

/** Counts by name; those of 0 take no memory. */
class Tally {
  readonly #counts = new Map<string, number>();

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  add(name: string, count: number): void {
    const sum = this.of(name) + count;
    if (sum === 0) this.#counts.delete(name);
    else this.#counts.set(name, sum);
  }
}

const slots = new Slots();

/** `run` in one of the slots that all requests share. Errors: as `Slots.run`. */
export function withSlot<Value>(
  repoPath: string,
  signal: AbortSignal,
  run: () => Promise<Value>,
): Promise<Value> {
  return slots.run(repoPath, signal, run);
}
