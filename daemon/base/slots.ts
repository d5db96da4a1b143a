// A semaphore with a bounded queue. Each request is for a client (a repository, a person). A free slot goes to the client
// with the fewest running, in order of request. The slots of one client may be limited, so that hanging work does not block
// others.

export interface SlotsOptions {
  readonly runningMax: number;
  /** Default: unlimited. */
  readonly waitingMax?: number;
  /** Of one client; default: all. */
  readonly runningOfOneMax?: number;
  readonly waitingOfOneMax?: number;
  /** The error beyond `waitingMax`. */
  readonly busyError?: () => Error;
}

interface Waiter {
  readonly key: string;
  readonly start: () => void;
}

export class Slots {
  readonly #options: Required<SlotsOptions>;
  /** In order of request. A set, so that a cancelled request leaves at once. */
  readonly #waiting = new Set<Waiter>();
  #runningCount = 0;
  /** By client. */
  readonly #running = new Counters();
  readonly #waitingOf = new Counters();

  constructor({
    runningMax,
    waitingMax = Infinity,
    runningOfOneMax = runningMax,
    waitingOfOneMax = waitingMax,
    busyError = () => new Error('too many wait'),
  }: SlotsOptions) {
    this.#options = { runningMax, waitingMax, runningOfOneMax, waitingOfOneMax, busyError };
  }

  /** For tests. */
  get counts(): { readonly running: number; readonly waiting: number } {
    return { running: this.#runningCount, waiting: this.#waiting.size };
  }

  /**
   * Calls `run` once there is a slot, and holds it until the result has settled. `key`: whom it is for; '': nobody in
   * particular. Errors: `busyError`, at once; the reason of the signal, if it is aborted while waiting; what `run`
   * throws.
   */
  async run<Value>(
    key: string,
    signal: AbortSignal | undefined,
    run: () => Promise<Value>,
  ): Promise<Value> {
    signal?.throwIfAborted();
    if (this.#mayRun(key)) this.#take(key);
    else await this.#wait(key, signal);
    try {
      return await run();
    } finally {
      this.#runningCount--;
      this.#running.add(key, -1);
      this.#serve();
    }
  }

  #mayRun(key: string): boolean {
    const { runningMax, runningOfOneMax } = this.#options;
    return this.#runningCount < runningMax && this.#running.of(key) < runningOfOneMax;
  }

  #take(key: string): void {
    this.#runningCount++;
    this.#running.add(key, 1);
  }

  /** Resolves once a slot is taken. */
  #wait(key: string, signal: AbortSignal | undefined): Promise<void> {
    const { waitingMax, waitingOfOneMax, busyError } = this.#options;
    const isFull = this.#waiting.size >= waitingMax;
    if (isFull || this.#waitingOf.of(key) >= waitingOfOneMax) return Promise.reject(busyError());
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#leave(waiter);
        reject(signal?.reason);
      };
      const start = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      const waiter = { key, start };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(waiter);
      this.#waitingOf.add(key, 1);
    });
  }

  #leave(waiter: Waiter): void {
    if (this.#waiting.delete(waiter)) this.#waitingOf.add(waiter.key, -1);
  }

  /** Gives free slots to waiting requests. */
  #serve(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#leave(next);
      this.#take(next.key);
      next.start();
    }
  }

  #next(): Waiter | undefined {
    const { runningMax, runningOfOneMax } = this.#options;
    if (this.#runningCount >= runningMax) return undefined;
    let next: Waiter | undefined;
    let fewest = runningOfOneMax;
    for (const waiter of this.#waiting) {
      const count = this.#running.of(waiter.key);
      if (count >= fewest) continue;
      [next, fewest] = [waiter, count];
      if (count === 0) break;
    }
    return next;
  }
}

/** Counts by name; a count of 0 takes no memory. */
class Counters {
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
