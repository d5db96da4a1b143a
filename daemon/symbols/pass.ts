// Runs the symbol pass over one shard file in a thread of its own: finds the symbols of all contents and writes
// them to a file beside it. Which shards want a pass, when it runs and what becomes of the file is the caller's.

import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { ShardError } from '../engine/host/space.ts';
import type { Log } from '../base/log.ts';
import type { EngineName } from './extractor.ts';
import type { PassProgress } from './pass-loop.ts';
import type { FromPassWorker, PassResult, PassWorkerData, ToPassWorker } from './pass-messages.ts';

export interface SymbolPassOptions {
  /** The compiled core (engine/host/core.ts). */
  readonly module: WebAssembly.Module;
  readonly shardPath: string;
  /** The file to write; whatever is there is overwritten, and removed when the pass fails. */
  readonly outPath: string;
  readonly log: Log;
  /** Contents read at once; default: one for each core. */
  readonly concurrency?: number;
  /** Of processor time. */
  readonly fileTimeoutMs?: number;
  /** Bytes that a process or thread may take. */
  readonly fileMemoryMax?: number;
  readonly engines?: readonly EngineName[];
  readonly onProgress?: (progress: PassProgress) => void;
  readonly signal?: AbortSignal;
}

/** Guess: the largest generated headers of Linux take ctags a second. */
export const FILE_TIMEOUT_MS = 20_000;
/** Guess: ctags takes a few times the content, tree-sitter up to 50 times. */
export const FILE_MEMORY_MAX = 512 << 20;

/** How long a cancelled thread may take to end its processes before it is terminated. */
const CANCEL_MS = 2000;

/**
 * Writes the symbols of the shard to `outPath`, synced.
 *
 * Errors: ShardError for a damaged shard; for a file that cannot be written, symbols that do not fit; the reason of the signal once
 * it is aborted. A content that has no symbols because its engine failed is no error but one of the `failures`.
 */
export async function runSymbolPass(options: SymbolPassOptions): Promise<PassResult> {
  options.signal?.throwIfAborted();
  const workerData: PassWorkerData = {
    module: options.module,
    shardPath: options.shardPath,
    outPath: options.outPath,
    concurrency: options.concurrency ?? availableParallelism(),
    fileTimeoutMs: options.fileTimeoutMs ?? FILE_TIMEOUT_MS,
    fileMemoryMax: options.fileMemoryMax ?? FILE_MEMORY_MAX,
    engines: options.engines ?? ['ctags', 'tree-sitter'],
  };
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const worker = new Worker(new URL(`./pass-worker.${extension}`, import.meta.url), { workerData });
  let timer: NodeJS.Timeout | undefined;
  const cancel = (): void => {
    worker.postMessage('cancel' satisfies ToPassWorker);
    timer = setTimeout(() => void worker.terminate(), CANCEL_MS);
  };
  options.signal?.addEventListener('abort', cancel, { once: true });
  try {
    const result = await outcomeOf(worker, options);
    reportFailures(result, options);
    return result;
  } catch (error) {
    await rm(options.outPath, { force: true });
    options.signal?.throwIfAborted();
    throw error;
  } finally {
    options.signal?.removeEventListener('abort', cancel);
    clearTimeout(timer);
  }
}

/** Settles when the thread has ended. */
function outcomeOf(
  worker: Worker,
  { onProgress, shardPath }: SymbolPassOptions,
): Promise<PassResult> {
  return new Promise((resolve, reject) => {
    let result: PassResult | undefined;
    let problem: Error = new Error('the symbol pass ended early');
    worker.on('message', (message: FromPassWorker) => {
      if (message.kind === 'progress') onProgress?.(message.progress);
      else if (message.kind === 'done') result = message.result;
      else if (message.damage === undefined) problem = new Error(message.message);
      else problem = new ShardError(shardPath, message.damage);
    });
    worker.on('error', (error) => (problem = error));
    worker.on('exit', () => {
      if (result === undefined) reject(problem);
      else resolve(result);
    });
  });
}

function reportFailures(
  { failures, failureCount }: PassResult,
  { log, shardPath }: SymbolPassOptions,
): void {
  for (const { path, failure, detail } of failures) {
    log.info('a file has no symbols', { path, failure, detail });
  }
  if (failureCount > 0) log.warn('files without symbols', { shardPath, failureCount });
}
