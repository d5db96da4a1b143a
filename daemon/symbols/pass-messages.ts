// What a symbol pass and its thread say to each other.

import type { EngineName } from './extractor.ts';
import type { PassProgress, PassTotals } from './pass-loop.ts';

export interface PassWorkerData {
  readonly module: WebAssembly.Module;
  readonly shardPath: string;
  readonly outPath: string;
  readonly concurrency: number;
  readonly fileTimeoutMs: number;
  readonly fileMemoryMax: number;
  readonly engines: readonly EngineName[];
}

/** To the thread: end at once. */
export type ToPassWorker = 'cancel';

/** What a finished pass has made. */
export interface PassResult extends PassTotals {
  /** Bytes of the symbols file. */
  readonly size: number;
  /** Engines that were there. */
  readonly engines: readonly EngineName[];
}

export type FromPassWorker =
  | { readonly kind: 'progress'; readonly progress: PassProgress }
  | { readonly kind: 'done'; readonly result: PassResult }
  | {
      readonly kind: 'failed';
      readonly message: string;
      /** What is wrong with the shard, if that is why. */
      readonly damage?: string;
    };
