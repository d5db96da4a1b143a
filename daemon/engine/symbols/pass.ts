// Runs symbol passes over shard files in their own thread: a pass writes the symbols of all contents to a file beside the
// shard.

import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { ShardError } from '../host/space.ts';
import type { Log } from '../../base/log.ts';
import { ENGINE_NAMES, type EngineName } from './extractor.ts';
import type { PassProgress } from './pass-loop.ts';
import type {
  FromPassWorker,
  PassOrder,
  PassResult,
  PassWorkerData,
  ToPassWorker,
} from './pass-worker.ts';
import { omitUndefined } from '../../base/omit-undefined.ts';
import { threadFile } from '../../base/program-files.ts';
import { ReusableThread } from '../../base/reusable-thread.ts';

export interface SymbolPassOptions {
  readonly shardPath: string;
  /** The file to write; an existing one is overwritten, and removed when the pass fails. */
  readonly outPath: string;
  readonly log: Log;
  readonly concurrency?: number | undefined;
  /** Of processor time. */
  readonly fileTimeoutMs?: number;
  /** Memory limit of a process or thread, bytes. */
  readonly fileMemoryMax?: number;
  readonly engines?: readonly EngineName[];
  readonly onProgress?: ((progress: PassProgress) => void) | undefined;
  readonly signal?: AbortSignal;
}

export class SymbolPasses {
  readonly #thread: ReusableThread<FromPassWorker>;

  constructor(module: WebAssembly.Module) {
    const workerData: PassWorkerData = { module };
    this.#thread = new ReusableThread(
      () =>
        new Worker(threadFile('pass-worker'), {
          workerData,
          // Default: 48. Measured: 2026-11-26: 18 MB less for 500 repositories, in the same time.
          resourceLimits: { maxYoungGenerationSizeMb: 12 },
        }),
    );
  }

  /**
   * Writes the symbols of the shard to `outPath`, synced. One at a time. Errors: ShardError for a damaged shard; a file that
   * cannot be written; symbols that do not fit; the reason of the signal. A content whose engine failed is one of the
   * `failures`.
   */
  async run(options: SymbolPassOptions): Promise<PassResult> {
    options.signal?.throwIfAborted();
    const worker = this.#thread.take();
    let timer: NodeJS.Timeout | undefined;
    const cancel = (): void => {
      post(worker, { kind: 'cancel' });
      // It may end its processes for 2 seconds.
      timer = setTimeout(() => this.#thread.kill(worker), 2000);
    };
    options.signal?.addEventListener('abort', cancel, { once: true });
    try {
      post(worker, orderOf(options));
      const result = await this.#outcomeOf(worker, options);
      reportFailures(result, options);
      return result;
    } catch (error) {
      await rm(options.outPath, { force: true });
      options.signal?.throwIfAborted();
      throw error;
    } finally {
      options.signal?.removeEventListener('abort', cancel);
      clearTimeout(timer);
      this.#thread.rest();
    }
  }

  #outcomeOf(worker: Worker, { onProgress, shardPath }: SymbolPassOptions): Promise<PassResult> {
    return this.#thread.outcomeOf<PassResult>(
      worker,
      'the symbol pass ended early',
      (message, { resolve, reject }) => {
        if (message.kind === 'progress') onProgress?.(message.progress);
        else if (message.kind === 'done') resolve(message.result);
        else if (message.kind === 'failed') reject(errorOf(message, shardPath));
      },
    );
  }

  close(): Promise<void> {
    return this.#thread.end();
  }
}

function post(worker: Worker, message: ToPassWorker): void {
  worker.postMessage(message);
}

function orderOf(options: SymbolPassOptions): PassOrder {
  return {
    kind: 'run',
    shardPath: options.shardPath,
    outPath: options.outPath,
    concurrency: options.concurrency ?? availableParallelism(),
    // Bound: delay by one file. ctags needs a second for the largest generated headers of Linux.
    fileTimeoutMs: options.fileTimeoutMs ?? 20_000,
    // Bound: memory. ctags needs a few times the content's size, tree-sitter up to 50 times.
    fileMemoryMax: options.fileMemoryMax ?? 512 << 20,
    engines: options.engines ?? ENGINE_NAMES,
  };
}

function errorOf(
  { message, code, damage }: FromPassWorker & { kind: 'failed' },
  shardPath: string,
): Error {
  if (damage !== undefined) return new ShardError(shardPath, damage);
  return Object.assign(new Error(message), omitUndefined({ code }));
}

function reportFailures(
  { failures, failureCount, partlyRead, partlyReadCount }: PassResult,
  { log, shardPath }: SymbolPassOptions,
): void {
  for (const { path, failure, detail } of failures)
    log.info('a file has no symbols', { path, failure, detail });
  if (failureCount > 0) log.warn('files without symbols', { shardPath, failureCount });
  for (const { path, detail } of partlyRead) log.info('a file may lack symbols', { path, detail });
  if (partlyReadCount > 0) log.warn('files that may lack symbols', { shardPath, partlyReadCount });
}
