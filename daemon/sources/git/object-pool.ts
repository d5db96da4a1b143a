// Pool of long-lived git processes that read objects: a few per repository, with a limit over all, each lent to one request
// at a time. A process is replaced when it is dead, old, or cancelled within an answer. Idle ones are closed after a while,
// or at once if another repository needs the slot. Requests wait in order; beyond a limit they are refused.

import { availableParallelism } from 'node:os';
import { Slots } from '../../base/slots.ts';
import { GitBusyError } from './git-slots.ts';
import { ObjectProcess } from './object-process.ts';

export interface PoolOptions {
  readonly processMax?: number;
  readonly perRepoMax?: number;
  /** Idle time after which a process is closed. */
  readonly idleMs?: number;
  /** Older processes are not lent again. */
  readonly lifeMs?: number;
}

/** Guess: such a process mostly reads from the page cache, so more than the cores would not help. */
const PER_REPO_MAX = Math.max(2, Math.min(4, availableParallelism()));
const PROCESS_MAX = Math.max(8, 2 * availableParallelism());
/** Why: git caches commits, and reads `shallow` and alternates only once. */
const LIFE_MS = 300_000;

export class ObjectPool {
  readonly #processMax: number;
  readonly #idleMs: number;
  readonly #lifeMs: number;
  /** A slot for each process that is lent or being started. */
  readonly #slots: Slots;
  /** Idle processes with their closing timers, the last used at the end. */
  readonly #idle = new Map<ObjectProcess, NodeJS.Timeout>();

  constructor(options: PoolOptions = {}) {
    this.#processMax = options.processMax ?? PROCESS_MAX;
    this.#idleMs = options.idleMs ?? 30_000;
    this.#lifeMs = options.lifeMs ?? LIFE_MS;
    this.#slots = new Slots({
      runningMax: this.#processMax,
      runningOfOneMax: options.perRepoMax ?? PER_REPO_MAX,
      waitingMax: 256,
      busyError: () => new GitBusyError(),
    });
  }

  /** For tests. */
  get counts(): { readonly processes: number; readonly idle: number; readonly waiting: number } {
    const { running, waiting } = this.#slots.counts;
    return { processes: running + this.#idle.size, idle: this.#idle.size, waiting };
  }

  /**
   * Lends a process for the duration of `run`, or until the signal is aborted, which ends the process. Errors: GitBusyError;
   * GitError; the reason of the signal; what `run` throws.
   */
  use<Value>(
    repoPath: string,
    signal: AbortSignal,
    run: (process: ObjectProcess) => Promise<Value>,
  ): Promise<Value> {
    return this.#slots.run(repoPath, signal, async () => {
      const process = this.#takeIdle(repoPath) ?? (await this.#start(repoPath));
      try {
        return await process.useUntil(signal, run);
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      } finally {
        this.#giveBack(process);
      }
    });
  }

  /** Closes the idle processes of one repository or of all. The pool stays usable. */
  async close(repoPath?: string): Promise<void> {
    const closing = [...this.#idle.keys()].filter(
      (process) => repoPath === undefined || process.repoPath === repoPath,
    );
    await Promise.all(closing.map((process) => this.#drop(process)));
  }

  /** The repository's process used last, if still usable. */
  #takeIdle(repoPath: string): ObjectProcess | undefined {
    for (const process of [...this.#idle.keys()].reverse()) {
      if (process.repoPath !== repoPath) continue;
      if (!this.#isUsable(process)) {
        void this.#drop(process);
        continue;
      }
      this.#forget(process);
      process.setRef(true);
      return process;
    }
    return undefined;
  }

  /** At the limit, the process idle for longest is closed first. */
  #start(repoPath: string): Promise<ObjectProcess> {
    const [oldest] = this.#idle.keys();
    if (oldest !== undefined && this.counts.processes > this.#processMax) void this.#drop(oldest);
    return ObjectProcess.start(repoPath);
  }

  #isUsable(process: ObjectProcess): boolean {
    return process.isReady && performance.now() - process.startedAtMs < this.#lifeMs;
  }

  #giveBack(process: ObjectProcess): void {
    if (!this.#isUsable(process)) {
      void process.close();
      return;
    }
    process.setRef(false);
    const timer = setTimeout(() => void this.#drop(process), this.#idleMs).unref();
    this.#idle.set(process, timer);
  }

  #forget(process: ObjectProcess): void {
    clearTimeout(this.#idle.get(process));
    this.#idle.delete(process);
  }

  /** Ends an idle process. */
  #drop(process: ObjectProcess): Promise<void> {
    this.#forget(process);
    return process.close();
  }
}

/** The pool shared by all requests. */
export const objectPool = new ObjectPool();
