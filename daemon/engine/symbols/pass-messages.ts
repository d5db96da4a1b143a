// Messages between a symbol pass and its thread.

import type { EndOrder, LoadedNotice } from '../../base/reusable-thread.ts';
import type { EngineName, ExtractorOptions } from './extractor.ts';
import type { PassProgress, PassTotals } from './pass-loop.ts';

export interface PassWorkerData {
  readonly module: WebAssembly.Module;
}

export interface PassOrder extends Required<ExtractorOptions> {
  readonly kind: 'run';
  readonly shardPath: string;
  readonly outPath: string;
}

/** To the thread: `cancel` ends the current pass at once, `end` the thread. */
export type ToPassWorker = PassOrder | { readonly kind: 'cancel' } | EndOrder;

export interface PassResult extends PassTotals {
  /** SHA-256 of the symbols file, and its bytes. */
  readonly fileId: string;
  readonly size: number;
  readonly engines: readonly EngineName[];
}

export type FromPassWorker =
  | LoadedNotice
  | { readonly kind: 'progress'; readonly progress: PassProgress }
  | { readonly kind: 'done'; readonly result: PassResult }
  | {
      readonly kind: 'failed';
      readonly message: string;
      /** System error code, if that is the cause. */
      readonly code?: string;
      readonly damage?: string;
    };
