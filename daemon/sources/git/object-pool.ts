// The long-lived git processes that read objects (object-process.ts): a few for each repository, so many over all of
// them, each lent to one request at a time. A process that died, that owes an answer because whoever asked has left,
// or that is old, is replaced; one that nobody needs for a while is closed, or at once where another repository needs
// its place. Requests wait in order; beyond a number they are refused.

import { availableParallelism } from 'node:os';
import { GitBusyError } from './git-slots.ts';
import { ObjectProcess } from './object-process.ts';

export interface PoolOptions {
  readonly processMax?: number;
  readonly perRepoMax?: number;
  readonly waitingMax?: number;
  /** After so long without use a process is closed. */
  readonly idleMs?: number;
  /** Older processes are not lent any more. */
  readonly lifeMs?: number;
}

/** Guess: what such a process does is reading from the page cache, so that more than cores would not help. */
const PER_REPO_MAX = Math.max(2, Math.min(4, availableParallelism()));
const PROCESS_MAX = Math.max(8, 2 * availableParallelism());
const WAITING_MAX = 256;
const IDLE_MS = 30_000;
/** Why: git keeps commits that it has seen, and reads `shallow` and alternates only once. */
const LIFE_MS = 300_000;

interface Waiter {
  readonly repoPath: string;
  /** Gives a process, or leave to start one: its place is counted. */
  readonly give: (process: ObjectProcess | undefined) => void;
}

export class ObjectPool {
  readonly #options: Required<PoolOptions>;
  /** Those that nobody uses, the one used last at the end. */
  #idle: ObjectProcess[] = [];
  /** Processes of each repository, idle or not, and those being started. */
  readonly #counts = new Map<string, number>();
  #totalCount = 0;
  readonly #waiting = new Set<Waiter>();
  readonly #idleTimers = new Map<ObjectProcess, NodeJS.Timeout>();

  constructor(options: PoolOptions = {}) {
    this.#options = {
      processMax: options.processMax ?? PROCESS_MAX,
      perRepoMax: options.perRepoMax ?? PER_REPO_MAX,
      waitingMax: options.waitingMax ?? WAITING_MAX,
      idleMs: options.idleMs ?? IDLE_MS,
      lifeMs: options.lifeMs ?? LIFE_MS,
    };
  }

  /** For tests and metrics. */
  get counts(): { readonly processes: number; readonly idle: number; readonly waiting: number } {
    return { processes: this.#totalCount, idle: this.#idle.length, waiting: this.#waiting.size };
  }

  /**
   * Lends a process for the time that `run` takes, or until the signal is aborted, which ends it.
   *
   * Errors: GitBusyError; GitError; the reason of the signal; what `run` throws.
   */
  async use<Value>(
    repoPath: string,
    signal: AbortSignal,
    run: (process: ObjectProcess) => Promise<Value>,
  ): Promise<Value> {
    signal.throwIfAborted();
    const process = await this.#acquire(repoPath, signal);
    const onAbort = (): void => process.kill('aborted');
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      signal.throwIfAborted();
      return await run(process);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#release(process);
    }
  }

  /** Closes the processes that nobody uses, of one repository or of all. The pool stays usable. */
  async close(repoPath?: string): Promise<void> {
    const closing = new Set(
      this.#idle.filter((process) => repoPath === undefined || process.repoPath === repoPath),
    );
    this.#idle = this.#idle.filter((process) => !closing.has(process));
    const ends = [...closing].map((process) => this.#drop(process));
    this.#serve();
    await Promise.all(ends);
  }

  async #acquire(repoPath: string, signal: AbortSignal): Promise<ObjectProcess> {
    const given = this.#take(repoPath) ?? (await this.#wait(repoPath, signal));
    if (given !== 'start') {
      given.hold(true);
      return given;
    }
    try {
      return await ObjectProcess.start(repoPath);
    } catch (error) {
      this.#forget(repoPath);
      this.#serve();
      throw error;
    }
  }

  /** A process that is free; leave to start one, counted; undefined: neither. */
  #take(repoPath: string): ObjectProcess | 'start' | undefined {
    for (;;) {
      const index = this.#idle.findLastIndex((process) => process.repoPath === repoPath);
      const process = this.#idle[index];
      if (process === undefined) break;
      this.#idle.splice(index, 1);
      if (this.#isUsable(process)) return process;
      void this.#drop(process);
    }
    const count = this.#counts.get(repoPath) ?? 0;
    if (count >= this.#options.perRepoMax) return undefined;
    if (this.#totalCount >= this.#options.processMax) {
      const oldest = this.#idle.shift();
      if (oldest === undefined) return undefined;
      void this.#drop(oldest);
    }
    this.#counts.set(repoPath, count + 1);
    this.#totalCount++;
    return 'start';
  }

  #isUsable(process: ObjectProcess): boolean {
    return process.isReady && performance.now() - process.startedAtMs < this.#options.lifeMs;
  }

  #wait(repoPath: string, signal: AbortSignal): Promise<ObjectProcess | 'start'> {
    if (this.#waiting.size >= this.#options.waitingMax) return Promise.reject(new GitBusyError());
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.delete(waiter);
        reject(signal.reason);
      };
      const waiter: Waiter = {
        repoPath,
        give: (process) => {
          signal.removeEventListener('abort', onAbort);
          resolve(process ?? 'start');
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(waiter);
    });
  }

  #release(process: ObjectProcess): void {
    if (this.#isUsable(process)) {
      process.hold(false);
      this.#idle.push(process);
      const timer = this.#idleTimers.get(process);
      if (timer === undefined) this.#idleTimers.set(process, this.#startTimer(process));
      else timer.refresh();
    } else {
      void this.#drop(process);
    }
    this.#serve();
  }

  #startTimer(process: ObjectProcess): NodeJS.Timeout {
    return setTimeout(() => {
      const index = this.#idle.indexOf(process);
      if (index < 0) return;
      this.#idle.splice(index, 1);
      void this.#drop(process);
      this.#serve();
    }, this.#options.idleMs).unref();
  }

  /** Ends a process that is not among the idle ones. Its place is free at once, for whoever calls. */
  #drop(process: ObjectProcess): Promise<void> {
    clearTimeout(this.#idleTimers.get(process));
    this.#idleTimers.delete(process);
    this.#forget(process.repoPath);
    return process.close();
  }

  #forget(repoPath: string): void {
    const count = (this.#counts.get(repoPath) ?? 0) - 1;
    if (count > 0) this.#counts.set(repoPath, count);
    else this.#counts.delete(repoPath);
    this.#totalCount--;
  }

  /** Gives what is free to those who wait, in order; one whose repository has no free place is passed over. */
  #serve(): void {
    for (const waiter of this.#waiting) {
      const given = this.#take(waiter.repoPath);
      if (given === undefined) continue;
      this.#waiting.delete(waiter);
      waiter.give(given === 'start' ? undefined : given);
    }
  }
}

/** The one that all requests share. */
export const objectPool = new ObjectPool();
