// The threads of one build: hands each idle thread the next job, merges before batches, and passes on what
// the threads say. Their number follows what other builds leave, one at least. The first error ends the build; close()
// ends the threads in any case.

import { Worker } from 'node:worker_threads';
import type {
  BatchJob,
  BuildWorkerData,
  FromBuildWorker,
  MergeJob,
  ToBuildWorker,
} from './build-messages.ts';
import { errorOf } from '../../base/caught.ts';
import type { BuildThreads } from './build-threads.ts';

/** A batch is made when it is its turn: all together would take more memory than the listing. */
type Job = (() => BatchJob) | MergeJob;

const END_MS = 5000;

/** Called for each message of a thread; `answer` goes back to the same thread. */
export type OnBuildMessage = (
  message: FromBuildWorker,
  answer: (reply: ToBuildWorker) => void,
) => void;

export class BuildPool {
  readonly #threads: BuildThreads;
  readonly #countMax: number;
  readonly #data: BuildWorkerData;
  readonly #workers = new Set<Worker>();
  readonly #idle: Worker[] = [];
  /** Those that are ending. */
  readonly #endings = new Set<Promise<void>>();
  readonly #merges: MergeJob[] = [];
  readonly #batches: (() => BatchJob)[] = [];
  readonly #onMessage: OnBuildMessage;
  readonly #onError: (error: Error) => void;

  readonly #endGiving: () => void;

  /** @param threads  one of them is taken, and given back by `close` */
  constructor(
    threads: BuildThreads,
    countMax: number,
    data: BuildWorkerData,
    onMessage: OnBuildMessage,
    onError: (error: Error) => void,
  ) {
    this.#threads = threads;
    this.#countMax = countMax;
    this.#data = data;
    this.#onMessage = onMessage;
    this.#onError = onError;
    this.#endGiving = threads.onWanted(() => this.#giveBack());
    this.#start();
  }

  #start(): void {
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    const worker = new Worker(new URL(`./build-worker.${extension}`, import.meta.url), {
      workerData: this.#data,
    });
    this.#workers.add(worker);
    this.#idle.push(worker);
    worker.on('message', (message: FromBuildWorker) => {
      try {
        this.#onMessage(message, (reply) => worker.postMessage(reply));
      } catch (error) {
        this.#onError(errorOf(error));
      }
      if (message.kind !== 'batchDone' && message.kind !== 'mergeDone') return;
      this.#idle.push(worker);
      this.#giveBack();
      this.#dispatch();
    });
    worker.on('error', (error) => this.#onError(error));
  }

  /** Ends an idle thread that another build waits for, unless it is the last one. */
  #giveBack(): void {
    if (!this.#threads.isWanted || this.#workers.size === 1) return;
    const worker = this.#idle.pop();
    if (worker !== undefined) this.#end(worker);
  }

  #end(worker: Worker): void {
    this.#workers.delete(worker);
    const ending = endWorker(worker).finally(() => {
      this.#threads.release();
      this.#endings.delete(ending);
    });
    this.#endings.add(ending);
  }

  add(job: Job): void {
    if (typeof job === 'function') this.#batches.push(job);
    else this.#merges.push(job);
    this.#dispatch();
  }

  #dispatch(): void {
    while (this.#merges.length + this.#batches.length > 0) {
      if (this.#idle.length === 0 && !this.#grow()) return;
      this.#idle.pop()?.postMessage(this.#merges.shift() ?? this.#batches.shift()?.());
    }
  }

  /** False: there may be no further thread. */
  #grow(): boolean {
    if (this.#workers.size >= this.#countMax || !this.#threads.tryTake()) return false;
    this.#start();
    return true;
  }

  /** Ends the threads, each with what it has started; one that does not end soon is terminated. */
  async close(): Promise<void> {
    this.#endGiving();
    for (const worker of this.#workers) this.#end(worker);
    await Promise.all(this.#endings);
  }
}

async function endWorker(worker: Worker): Promise<void> {
  const isOver = worker.threadId === -1;
  if (isOver) return;
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  worker.postMessage({ kind: 'end' } satisfies ToBuildWorker);
  const timer = setTimeout(() => void worker.terminate(), END_MS);
  await ended;
  clearTimeout(timer);
}
