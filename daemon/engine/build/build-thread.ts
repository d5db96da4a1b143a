// A thread that builds (build-worker.ts), reused: its start takes longer than a small build, and its end leaks mappings (koffi
// 3.3.4).

import { Worker } from 'node:worker_threads';
import type {
  BuildWork,
  BuildWorkerData,
  FromBuildWorker,
  OfBuild,
  ToBuildWorker,
} from './build-messages.ts';
import { programFile } from '../../base/program-files.ts';

export interface BuildListener {
  readonly onMessage: (message: FromBuildWorker) => void;
  readonly onError: (error: Error) => void;
}

export class BuildThread {
  readonly #worker: Worker;
  #listener: BuildListener | undefined;
  #onRest: (() => void) | undefined;
  #isOver = false;
  #hasEnded = false;

  constructor(module: WebAssembly.Module, work: BuildWork) {
    const workerData: BuildWorkerData = { module, work };
    this.#worker = new Worker(programFile('engine/build/build-worker.js'), {
      workerData,
      // Default: 48. Measured: 2026-11-23: 53 MB less for 300,000 files, in the same time.
      resourceLimits: { maxYoungGenerationSizeMb: 12 },
    });
    this.#worker.on('message', (message: FromBuildWorker) => {
      if (message.kind === 'rested') this.#onRest?.();
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

  begin(build: OfBuild, listener: BuildListener): void {
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
  async letGo(isOver: boolean): Promise<void> {
    this.#listener = undefined;
    if (this.#hasEnded) return;
    const done = new Promise<void>((resolve) => (this.#onRest = resolve));
    this.post({ kind: 'letGo', isOver });
    // It may release its build for 5 seconds.
    const timer = setTimeout(() => {
      // Why first: a `rested` message may still be on its way.
      this.#isOver = true;
      void this.#worker.terminate();
    }, 5000);
    await done;
    clearTimeout(timer);
    this.#onRest = undefined;
    this.#worker.unref();
  }
}
