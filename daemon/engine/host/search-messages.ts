// Messages between the pool and its search threads. All threads work on a search together: they claim units through the
// shared control words and send their findings in one message each, or in several where the search wants them earlier.

import type { EncodedPlan } from './encoded-plan.ts';
import type {
  Binding,
  RenderedDocs,
  RenderOptions,
  SearcherOptions,
  UnitResult,
} from './searcher.ts';
import type { ShardFault, ShardFile } from './space.ts';

export interface SearchWorkerData {
  readonly module: WebAssembly.Module;
  readonly options: SearcherOptions;
  /** For the second searcher, used while a call of the first takes long. */
  readonly secondOptions: SearcherOptions;
  readonly shards: readonly ShardFile[];
}

/** The live shards changed. */
export interface ShardsMessage {
  readonly kind: 'shards';
  readonly come: readonly ShardFile[];
  /** Ids of shards that are no longer live. */
  readonly gone: readonly string[];
}

export interface SearchMessage {
  readonly kind: 'search';
  readonly id: number;
  readonly encodedPlan: EncodedPlan;
  /** Shards to search, in order. */
  readonly shardIds: readonly string[];
  /** Stop when the ranges found in the units so far, in order, exceed this; Infinity: never. */
  readonly limit: number;
  /** Most units of each shard: the layout of the control words. */
  readonly unitMaxes: readonly number[];
  readonly control: SharedArrayBuffer;
  /** Report findings while the search runs. */
  readonly isProgressive: boolean;
}

export interface RenderMessage {
  readonly kind: 'render';
  readonly id: number;
  readonly encodedPlan: EncodedPlan;
  readonly shardId: string;
  /** For each doc its docId, the most ranges to render, the index of its links, the number of its kept ranges. */
  readonly requests: Uint32Array;
  /** Kept ranges of the docs, concatenated. */
  readonly kept: Uint32Array;
  readonly options: RenderOptions;
}

export type ToSearchWorker = ShardsMessage | SearchMessage | RenderMessage;

/** The findings of one unit; `shard`, here and below, is an index into `shardIds` of the search. */
export interface UnitFinding extends UnitResult {
  readonly shard: number;
  readonly unit: number;
}

export interface BindFinding extends Binding {
  readonly shard: number;
}

/** A shard whose work was lost on this thread. */
export interface FailureFinding {
  readonly shard: number;
  readonly reason: string;
  /** Absent: its work trapped. */
  readonly fault?: ShardFault;
}

/** Time that a thread spent on a shard, ns. */
export interface ShardTimes {
  readonly shard: number;
  readonly bindNs: number;
  readonly searchNs: number;
}

/** The findings of one thread, in total or since its last report. */
export interface Findings {
  readonly bindings: readonly BindFinding[];
  /** Only of heads (core/match/heads.ts). */
  readonly headBindings: readonly BindFinding[];
  readonly units: readonly UnitFinding[];
  readonly failures: readonly FailureFinding[];
  /** A shard may occur several times. */
  readonly times: readonly ShardTimes[];
  /** When the first unit of the search began on this thread (process.hrtime), if any did. */
  readonly firstUnitNs: bigint | undefined;
  /** Indexes of shards with heads (core/match/heads.ts), in order; undefined: not known yet on this thread. */
  readonly headShards: readonly number[] | undefined;
}

export interface SearchProgress extends Findings {
  readonly kind: 'searchProgress';
  readonly id: number;
}

export interface SearchDone extends Findings {
  readonly kind: 'searchDone';
  readonly id: number;
  /** Why the plan could not run. */
  readonly planError?: string;
}

export interface RenderDone {
  readonly kind: 'renderDone';
  readonly id: number;
  readonly docs?: RenderedDocs;
  readonly error?: string;
  /** The error concerns the shard. */
  readonly fault?: ShardFault;
}

/** The thread has started, and opened its shards. */
export interface ThreadReady {
  readonly kind: 'ready';
}

export type FromSearchWorker = SearchProgress | SearchDone | RenderDone | ThreadReady;
