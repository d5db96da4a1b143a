// Shares a limited number of build threads among all builds. A second build gets its first thread as soon as one finishes its
// job. Idle threads end after a while.

import { Worker } from 'node:worker_threads';
import type {
  BuildWork,
  BuildWorkerData,
  FromBuildWorker,
  BuildSetup,
  ToBuildWorker,
} from './build-messages.ts';
import { threadFile } from '../../base/program-files.ts';
import { REST_MS } from '../../base/reusable-thread.ts';

export class BuildThreads {
  readonly #module: WebAssembly.Module;
  readonly #count: number;
  readonly work: BuildWork;
  readonly #idle: BuildThread[] = [];
  #restTimer: NodeJS.Timeout | undefined;
  #takenCount = 0;
  readonly #waiting = new Set<() => void>();
  readonly #givers = new Set<() => void>();

  constructor(module: WebAssembly.Module, count: number, work: BuildWork = 'background') {
    this.#module = module;
    this.#count = count;
    this.work = work;
  }

  get takenCount(): number {
    return this.#takenCount;
  }

  get idleCount(): number {
    return this.#idle.length;
  }

  /** A build waits for its first thread: builds with more than one release one. */
  get hasWaiters(): boolean {
    return this.#waiting.size > 0;
  }

  /** Resolves with a reservation for a build's first thread, to be released. Errors: the reason of the signal. */
  async take(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.tryTake()) return;
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.delete(start);
        reject(signal?.reason);
      };
      const start = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(start);
      for (const give of this.#givers) give();
    });
  }

  tryTake(): boolean {
    if (this.#takenCount >= this.#count || this.hasWaiters) return false;
    this.#takenCount++;
    return true;
  }

  thread(): BuildThread {
    for (;;) {
      const rested = this.#idle.pop();
      if (rested === undefined) return new BuildThread(this.#module, this.work);
      if (!rested.isOver) return rested;
    }
  }

  /** Resolves when another build may have it. @param isIdle  it has finished its jobs; else it ends */
  async giveBack(thread: BuildThread, isIdle: boolean): Promise<void> {
    await thread.leaveBuild(!isIdle);
    if (!thread.isOver) this.#idle.push(thread);
    clearTimeout(this.#restTimer);
    this.#restTimer = setTimeout(() => void this.close(), REST_MS).unref();
    this.release();
  }

  release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#takenCount--;
      return;
    }
    this.#waiting.delete(next);
    next();
  }

  /** Calls `give` when a build waits and no thread is free; returns the function that stops that. */
  onWaiter(give: () => void): () => void {
    this.#givers.add(give);
    return () => void this.#givers.delete(give);
  }

  async close(): Promise<void> {
    clearTimeout(this.#restTimer);
    await Promise.all(this.#idle.splice(0).map((thread) => thread.leaveBuild(true)));
  }
}

/** Runs build-worker.ts. Reused: its start takes longer than a small build, and its end leaks mappings (koffi 3.3.4). */
export class BuildThread {
  readonly #worker: Worker;
  #listener: BuildListener | undefined;
  #onRest: (() => void) | undefined;
  #isOver = false;
  #hasEnded = false;

  constructor(module: WebAssembly.Module, work: BuildWork) {
    const workerData: BuildWorkerData = { module, work };
    this.#worker = new Worker(threadFile('build-worker'), {
      workerData,
      // Default: 48. Measured: 2026-11-23: 53 MB less for 300,000 files, in the same time.
      resourceLimits: { maxYoungGenerationSizeMb: 12 },
    });
    this.#worker.on('message', (message: FromBuildWorker) => {
      if (message.kind === 'left') this.#onRest?.();
      else this.#listener?.onMessage(message);
    });
    this.#worker.on('error', (error) => {
      this.#isOver = true;
      this.#listener?.onError(error);
    });
    this.#worker.once('exit', () => {
      this.#isOver = true;
      this.#hasEnded = true;
      this.#onRest?.();
      // Whoever ends a thread removes the listener first; a remaining listener still waits for the build.
      this.#listener?.onError(new Error('a build thread has ended'));
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  begin(build: BuildSetup, listener: BuildListener): void {
    this.#listener = listener;
    this.#worker.ref();
    this.post({ kind: 'begin', ...build });
  }

  post(message: ToBuildWorker, transferList: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transferList);
  }

  /**
   * Resolves when the thread has released its build, or has ended. An idle thread does not keep the process alive.
   * @param isOver  it ends, with the processes that it started
   */
  async leaveBuild(isOver: boolean): Promise<void> {
    this.#listener = undefined;
    if (this.#hasEnded) return;
    const done = new Promise<void>((resolve) => (this.#onRest = resolve));
    this.post({ kind: 'leaveBuild', isOver });
    // It may release its build for 5 seconds.
    const timer = setTimeout(() => {
      // Why first: a `left` message may still be on its way.
      this.#isOver = true;
      void this.#worker.terminate();
    }, 5000);
    await done;
    clearTimeout(timer);
    this.#onRest = undefined;
    this.#worker.unref();
  }
}

interface BuildListener {
  readonly onMessage: (message: FromBuildWorker) => void;
  readonly onError: (error: Error) => void;
}
