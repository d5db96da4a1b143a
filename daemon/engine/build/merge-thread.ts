// Runs merges in their own thread, one at a time. A failed merge leaves no file behind.

import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { ShardError } from '../host/space.ts';
import { type MergeOrder, MergeOverflow, type MergeResult } from './merge.ts';
import type { FromMergeWorker, MergeWorkerData, ToMergeWorker } from './merge-worker.ts';
import { threadFile } from '../../base/program-files.ts';
import { ReusableThread } from '../../base/reusable-thread.ts';

export class MergeThread {
  readonly #thread: ReusableThread<FromMergeWorker>;

  constructor(module: WebAssembly.Module) {
    const workerData: MergeWorkerData = { module };
    this.#thread = new ReusableThread(() => new Worker(threadFile('merge-worker'), { workerData }));
  }

  /** Errors: MergeOverflow; ShardError with the id of the faulty shard; of the file system; the reason of the signal. */
  async run(order: MergeOrder, signal: AbortSignal): Promise<MergeResult> {
    signal.throwIfAborted();
    const worker = this.#thread.take();
    const end = (): void => this.#thread.kill(worker);
    signal.addEventListener('abort', end, { once: true });
    try {
      const message: ToMergeWorker = { kind: 'run', order };
      worker.postMessage(message);
      return await this.#thread.outcomeOf<MergeResult>(
        worker,
        'the merge ended early',
        (answer, { resolve, reject }) => {
          if (answer.kind === 'done') resolve(answer.result);
          else if (answer.kind === 'failed') reject(errorOf(answer));
        },
      );
    } catch (error) {
      await removeFiles(order);
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener('abort', end);
      this.#thread.rest();
    }
  }

  close(): Promise<void> {
    return this.#thread.end();
  }
}

function errorOf({ message, isOverflow, shard }: FromMergeWorker & { kind: 'failed' }): Error {
  if (isOverflow) return new MergeOverflow(message);
  return shard === undefined
    ? new Error(message)
    : new ShardError(shard.shardId, message, shard.fault);
}

async function removeFiles({ path: file }: MergeOrder): Promise<void> {
  const folder = path.dirname(file);
  for (const name of await readdir(folder))
    if (name.startsWith(path.basename(file))) await rm(path.join(folder, name), { force: true });
}
