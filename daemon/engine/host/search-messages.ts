// Messages between the pool and its search threads, which claim the units of a search through the shared control words.

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

export interface ShardsMessage {
  readonly kind: 'shards';
  /** The difference to the shards that the thread has. */
  readonly added: readonly ShardFile[];
  readonly removedIds: readonly string[];
}

export interface SearchMessage {
  readonly kind: 'search';
  readonly id: number;
  readonly encodedPlan: EncodedPlan;
  /** In order of search. */
  readonly shardIds: readonly string[];
  /** Stop when the ranges of the units so far, in order, exceed this; Infinity: never. */
  readonly limit: number;
  /** Maximum units of each shard: the layout of the control words. */
  readonly unitMaxes: readonly number[];
  readonly control: SharedArrayBuffer;
  readonly isProgressive: boolean;
}

export interface RenderMessage {
  readonly kind: 'render';
  readonly id: number;
  readonly encodedPlan: EncodedPlan;
  readonly shardId: string;
  /** REQUEST_WORDS for each doc. */
  readonly requests: Uint32Array;
  readonly kept: Uint32Array;
  readonly options: RenderOptions;
}

/** Work of a higher layer (engine/search/short-searches.ts): the thread runs one at a time, and only when it has no job. */
export interface TaskMessage {
  readonly kind: 'task';
  readonly id: number;
  readonly task: unknown;
}

export interface MemoryMessage {
  readonly kind: 'memory';
  readonly id: number;
}

export type ToSearchWorker =
  ShardsMessage | SearchMessage | RenderMessage | TaskMessage | MemoryMessage;

/** `shard`, here and below, is an index into `shardIds` of the search. */
export interface UnitFinding extends UnitResult {
  readonly shard: number;
  readonly unit: number;
}

export interface BindFinding extends Binding {
  readonly shard: number;
}

export interface FailureFinding {
  readonly shard: number;
  readonly reason: string;
  /** Absent: its work trapped. */
  readonly fault?: ShardFault;
}

export interface ShardTimes {
  readonly shard: number;
  readonly bindNs: number;
  readonly searchNs: number;
}

/** Of one thread, in total or since its last report. */
export interface Findings {
  readonly bindings: readonly BindFinding[];
  /** Only of heads (core/match/heads.ts). */
  readonly headBindings: readonly BindFinding[];
  /** Of first parts (core/match/first-part.ts). */
  readonly partBindings: readonly BindFinding[];
  readonly units: readonly UnitFinding[];
  readonly failures: readonly FailureFinding[];
  /** A shard may occur several times. */
  readonly times: readonly ShardTimes[];
  /** When the first unit began on this thread (process.hrtime). */
  readonly firstUnitNs: bigint | undefined;
  /** Indexes of shards with heads, in order; undefined: not known yet on this thread. */
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
  readonly fault?: ShardFault;
}

export interface TaskDone {
  readonly kind: 'taskDone';
  readonly id: number;
  /** Undefined: the thread did not do it. */
  readonly result: unknown;
}

/** Bytes. */
export interface ThreadMemory {
  /** Of V8. */
  readonly heap: number;
  /** Of the core, without shards. */
  readonly core: number;
}

export interface MemoryDone {
  readonly kind: 'memoryDone';
  readonly id: number;
  readonly memory: ThreadMemory;
}

/** It has opened its shards. */
export interface ThreadReady {
  readonly kind: 'ready';
}

export type FromSearchWorker =
  SearchProgress | SearchDone | RenderDone | TaskDone | MemoryDone | ThreadReady;
