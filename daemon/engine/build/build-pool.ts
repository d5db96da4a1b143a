// The threads of one build: at least one, and those that no other build uses. Gives each idle thread the next job, completions
// before batches, and forwards messages. The first error ends the build.

import {
  type BatchJob,
  type CompletionJob,
  type FromBuildWorker,
  transferList,
  type BuildSetup,
  type ToBuildWorker,
} from './build-messages.ts';
import { errorOf } from '../../base/caught.ts';
import type { BuildThread, BuildThreads } from './build-threads.ts';

/** Made when a thread is free: all jobs at once would take more memory than the listing. */
type Job = () => BatchJob | CompletionJob;

export interface BuildPoolOptions {
  readonly threads: BuildThreads;
  readonly countMax: number;
  readonly build: BuildSetup;
  readonly onMessage: (message: FromBuildWorker, answer: (reply: ToBuildWorker) => void) => void;
  readonly onError: (error: Error) => void;
}

export class BuildPool {
  readonly #options: BuildPoolOptions;
  readonly #taken = new Set<BuildThread>();
  readonly #idle: BuildThread[] = [];
  readonly #leaving = new Set<Promise<void>>();
  readonly #completions: Job[] = [];
  readonly #batches: Job[] = [];
  readonly #endGiving: () => void;

  constructor(options: BuildPoolOptions) {
    this.#options = options;
    this.#start();
    this.#endGiving = options.threads.onWaiter(() => this.#spare());
  }

  /** Errors: the system refuses to start a thread; its reservation is released. */
  #start(): void {
    const { threads, build, onError } = this.#options;
    let thread: BuildThread;
    try {
      thread = threads.thread();
    } catch (error) {
      threads.release();
      throw error;
    }
    this.#taken.add(thread);
    this.#idle.push(thread);
    const onMessage = (message: FromBuildWorker): void => {
      try {
        this.#onThread(thread, message);
      } catch (error) {
        onError(errorOf(error));
      }
    };
    thread.begin(build, { onMessage, onError });
  }

  #onThread(thread: BuildThread, message: FromBuildWorker): void {
    this.#options.onMessage(message, (reply) => thread.post(reply));
    if (message.kind !== 'batchDone' && message.kind !== 'shardDone') return;
    this.#idle.push(thread);
    this.#spare();
    this.#dispatch();
  }

  /** Releases an idle thread that another build waits for, unless it is the last one. */
  #spare(): void {
    if (!this.#options.threads.hasWaiters || this.#taken.size === 1) return;
    const thread = this.#idle.pop();
    if (thread !== undefined) this.#giveBack(thread, true);
  }

  #giveBack(thread: BuildThread, isIdle: boolean): void {
    this.#taken.delete(thread);
    const leaving = this.#options.threads
      .giveBack(thread, isIdle)
      .finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
  }

  add(kind: 'batch' | 'completion', job: Job): void {
    (kind === 'batch' ? this.#batches : this.#completions).push(job);
    this.#dispatch();
  }

  #dispatch(): void {
    while (this.#completions.length + this.#batches.length > 0) {
      if (this.#idle.length === 0 && !this.#grow()) return;
      const job = (this.#completions.shift() ?? this.#batches.shift())!();
      this.#idle.pop()!.post(job, transferList(job));
    }
  }

  #grow(): boolean {
    if (this.#taken.size >= this.#options.countMax || !this.#options.threads.tryTake())
      return false;
    this.#start();
    return true;
  }

  /** Releases the threads; a busy one ends. */
  async close(): Promise<void> {
    this.#endGiving();
    for (const thread of this.#taken) this.#giveBack(thread, this.#idle.includes(thread));
    await Promise.all(this.#leaving);
  }
}
