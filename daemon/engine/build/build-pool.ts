// The threads of one build: hands each idle thread the next job, merges before batches, and passes on what
// the threads say. The first error ends the build; close() ends the threads in any case.

import { Worker } from 'node:worker_threads';
import type {
  BatchJob,
  BuildWorkerData,
  FromBuildWorker,
  MergeJob,
  ToBuildWorker,
} from './build-messages.ts';
import { errorOf } from '../../base/caught.ts';

type Job = BatchJob | MergeJob;

const END_MS = 5000;

/** Called for each message of a thread; `answer` goes back to the same thread. */
export type OnBuildMessage = (
  message: FromBuildWorker,
  answer: (reply: ToBuildWorker) => void,
) => void;

export class BuildPool {
  readonly #workers: Worker[];
  readonly #idle: Worker[];
  readonly #merges: MergeJob[] = [];
  readonly #batches: BatchJob[] = [];
  readonly #onMessage: OnBuildMessage;
  readonly #onError: (error: Error) => void;

  constructor(
    count: number,
    data: BuildWorkerData,
    onMessage: OnBuildMessage,
    onError: (error: Error) => void,
  ) {
    this.#onMessage = onMessage;
    this.#onError = onError;
    this.#workers = Array.from({ length: count }, () => this.#start(data));
    this.#idle = [...this.#workers];
  }

  #start(data: BuildWorkerData): Worker {
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    const worker = new Worker(new URL(`./build-worker.${extension}`, import.meta.url), {
      workerData: data,
    });
    worker.on('message', (message: FromBuildWorker) => {
      try {
        this.#onMessage(message, (reply) => worker.postMessage(reply));
      } catch (error) {
        this.#onError(errorOf(error));
      }
      if (message.kind !== 'batchDone' && message.kind !== 'mergeDone') return;
      this.#idle.push(worker);
      this.#dispatch();
    });
    worker.on('error', (error) => this.#onError(error));
    return worker;
  }

  add(job: Job): void {
    if (job.kind === 'merge') this.#merges.push(job);
    else this.#batches.push(job);
    this.#dispatch();
  }

  #dispatch(): void {
    while (this.#idle.length > 0) {
      const job = this.#merges.shift() ?? this.#batches.shift();
      if (job === undefined) return;
      this.#idle.pop()?.postMessage(job);
    }
  }

  /** Ends the threads, each with what it has started; one that does not end soon is terminated. */
  async close(): Promise<void> {
    await Promise.all(this.#workers.map(endWorker));
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
