// Runs a merge in a thread of its own, which ends with it, and leaves no file behind where it fails.

import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { ShardError } from '../host/space.ts';
import { type MergeOrder, MergeOverflow, type MergeResult } from './merge.ts';
import type { FromMergeWorker, MergeWorkerData } from './merge-worker.ts';
import { deferred } from '../../base/deferred.ts';
import { programFile } from '../../base/program-files.ts';

/**
 * Merges shards.
 *
 * Errors: MergeOverflow; ShardError, by the id of the shard that is damaged or cannot be read; of the file system; the
 * reason of the signal.
 */
export async function runMerge(
  module: WebAssembly.Module,
  order: MergeOrder,
  signal: AbortSignal,
): Promise<MergeResult> {
  signal.throwIfAborted();
  const workerData: MergeWorkerData = { module, order };
  const worker = new Worker(programFile('engine/build/merge-worker.js'), {
    workerData,
  });
  const { promise: loaded, resolve: noteLoaded } = deferred();
  const end = (): void => void loaded.then(() => worker.terminate());
  signal.addEventListener('abort', end, { once: true });
  try {
    return await outcomeOf(worker, noteLoaded);
  } catch (error) {
    await removeFiles(order);
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** Settles when the thread has ended. */
function outcomeOf(worker: Worker, noteLoaded: () => void): Promise<MergeResult> {
  return new Promise((resolve, reject) => {
    let result: MergeResult | undefined;
    let problem = new Error('the merge ended early');
    worker.on('message', (message: FromMergeWorker) => {
      if (message.kind === 'loaded') noteLoaded();
      else if (message.kind === 'done') result = message.result;
      else if (message.isOverflow) problem = new MergeOverflow(message.message);
      else if (message.shard === undefined) problem = new Error(message.message);
      else problem = new ShardError(message.shard.shardId, message.message, message.shard.fault);
    });
    worker.on('error', (error) => (problem = error));
    worker.on('exit', () => {
      noteLoaded();
      if (result === undefined) reject(problem);
      else resolve(result);
    });
  });
}

/** Removes the file, that of its symbols, and stripes. */
async function removeFiles({ path: file }: MergeOrder): Promise<void> {
  const folder = path.dirname(file);
  for (const name of await readdir(folder))
    if (name.startsWith(path.basename(file))) await rm(path.join(folder, name), { force: true });
}
