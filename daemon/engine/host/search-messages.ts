// Messages between the pool and its search threads. All threads work on a search together: they claim units through the
// shared control words and send their findings in one message each, or in several where the search wants them earlier.

import type { SearchPlan } from './search-plan.ts';
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
  /** Of the searcher for those that come while a call of the first takes long. */
  readonly secondOptions: SearcherOptions;
  readonly shards: readonly ShardFile[];
}

/** The live shards changed. */
export interface ShardsMessage {
  readonly kind: 'shards';
  readonly come: readonly ShardFile[];
  /** Ids of those that are live no more. */
  readonly gone: readonly string[];
}

export interface SearchMessage {
  readonly kind: 'search';
  readonly id: number;
  readonly plan: SearchPlan;
  /** Shards to search, in order. */
  readonly shardIds: readonly string[];
  /** Stop once the ranges found in the units so far, in order, exceed this; Infinity: never. */
  readonly limit: number;
  /** Most units of each shard: the layout of the control words. */
  readonly unitMaxes: readonly number[];
  readonly control: SharedArrayBuffer;
  /** Tell findings while the search runs. */
  readonly isProgressive: boolean;
}

export interface RenderMessage {
  readonly kind: 'render';
  readonly id: number;
  readonly plan: SearchPlan;
  readonly shardId: string;
  /** For each doc its docId, the most ranges to show, the index of its links, the number of its kept ranges. */
  readonly requests: Uint32Array;
  /** Kept ranges of the docs, those of one behind those of the other. */
  readonly kept: Uint32Array;
  readonly options: RenderOptions;
}

export type ToSearchWorker = ShardsMessage | SearchMessage | RenderMessage;

/** What one unit found; `shard`, here and below, is an index into `shardIds` of the search. */
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
  /** Absent: its work crashed. */
  readonly fault?: ShardFault;
}

/** Time that a thread spent on a shard, ns. */
export interface ShardTimes {
  readonly shard: number;
  readonly bindNs: number;
  readonly searchNs: number;
}

/** What one thread found, in all or since it last told. */
export interface Findings {
  readonly bindings: readonly BindFinding[];
  /** Of heads alone (core/match/heads.ts). */
  readonly headBindings: readonly BindFinding[];
  readonly units: readonly UnitFinding[];
  readonly failures: readonly FailureFinding[];
  /** A shard may occur several times. */
  readonly times: readonly ShardTimes[];
  /** When the first unit of the search began on this thread (process.hrtime), if any did. */
  readonly firstUnitNs: bigint | undefined;
  /** Shards that have heads (core/match/heads.ts), by index, in order; undefined: the thread does not know yet. */
  readonly headShards: readonly number[] | undefined;
}

/** Findings of a search that goes on. */
export interface SearchProgress extends Findings {
  readonly kind: 'searchProgress';
  readonly id: number;
}

export interface SearchDone extends Findings {
  readonly kind: 'searchDone';
  readonly id: number;
  /** Why the plan could not be run at all. */
  readonly planError?: string;
}

export interface RenderDone {
  readonly kind: 'renderDone';
  readonly id: number;
  readonly docs?: RenderedDocs;
  readonly error?: string;
  /** The error is of the shard. */
  readonly fault?: ShardFault;
}

/** The thread has started, and opened its shards. */
export interface ThreadReady {
  readonly kind: 'ready';
}

export type FromSearchWorker = SearchProgress | SearchDone | RenderDone | ThreadReady;
