// Messages between a build and its threads. A thread works on one job at a time: a batch of files, or the completion of a
// shard. For each batch it asks which contents to store, and for the batch's position in its shard; both are answered in batch
// order.

import type { BatchRows } from '../host/builder.ts';
import type { NewTables } from '../shards/writer.ts';
import type { FinishedShard } from './shard-file.ts';
import type { FilterSettings } from './filters.ts';
import type { HeaderFolders } from '../../sources/languages/languages.ts';
import type { PackedFiles } from '../../sources/docs/file-list.ts';
import type { ReadFailure, SourceSpec } from '../../sources/docs/source.ts';

/** demand: a search waits, and a restart drops the files, so they are not synced. background: nobody waits. */
export type BuildWork = 'demand' | 'background';

export interface BuildWorkerData {
  readonly module: WebAssembly.Module;
  readonly work: BuildWork;
}

/** What a thread needs for all jobs of a build. */
export interface BuildSetup {
  readonly spec: SourceSpec;
  readonly filters: FilterSettings;
  readonly headerFolders: HeaderFolders;
}

export interface BatchJob {
  readonly kind: 'batch';
  readonly batch: number;
  readonly files: PackedFiles;
  /** By index in the batch: other paths of the content in the shard; their files are not read again. */
  readonly alsoAt: ReadonlyMap<number, readonly string[]>;
  readonly path: string;
}

export interface CompletionJob extends Omit<NewTables, keyof BatchRows> {
  readonly kind: 'completion';
  readonly path: string;
  readonly segments: readonly string[];
  readonly rows: readonly BatchRows[];
}

export interface StoredAnswer {
  readonly kind: 'stored';
  /**
   * Indexes in the batch of the files to store, in this order. A repeated one is stored again, for docs of another language.
   */
  readonly toStore: readonly number[];
}

export interface BatchStart {
  readonly kind: 'start';
  readonly contentBase: number;
  readonly blobBase: number;
  readonly blockBase: number;
  /** Number of the batch's first segment in its shard. */
  readonly segmentBase: number;
}

/** `leaveBuild`: answered by `left`, or by the end of the thread. */
export type ToBuildWorker =
  | (BuildSetup & { readonly kind: 'begin' })
  | BatchJob
  | CompletionJob
  | StoredAnswer
  | BatchStart
  | { readonly kind: 'leaveBuild'; readonly isOver: boolean };

export interface StoredQuery {
  readonly kind: 'askStored';
  readonly batch: number;
  readonly outcomes: BatchOutcomes;
  readonly failures: readonly ReadFailure[];
}

export interface StartQuery {
  readonly kind: 'askStart';
  readonly batch: number;
  readonly contentSize: number;
  readonly blobCount: number;
  readonly blockCount: number;
  readonly segmentCount: number;
  /** Indexes in `toStore` of contents with too many trigrams, or that did not fit the shard. */
  readonly refused: ReadonlyMap<number, number>;
}

export interface BatchDone {
  readonly kind: 'batchDone';
  readonly batch: number;
  readonly rows: BatchRows;
  readonly segments: readonly string[];
}

export type FromBuildWorker =
  | StoredQuery
  | StartQuery
  | BatchDone
  | { readonly kind: 'shardDone'; readonly path: string; readonly summary: FinishedShard }
  | { readonly kind: 'left' };

export function transferList(job: BatchJob | CompletionJob): ArrayBuffer[] {
  if (job.kind === 'batch') return job.files.flatMap(buffersOf);
  const { docs, blobHashes, rows } = job;
  return [docs, [blobHashes], ...rows].flatMap(buffersOf);
}

/** Buffers of columns; nothing else may use them. */
export function buffersOf(columns: object): ArrayBuffer[] {
  return Object.values(columns).flatMap((column) =>
    ArrayBuffer.isView(column) && column.buffer instanceof ArrayBuffer ? column.buffer : [],
  );
}

export interface FileOutcome {
  /** Bytes of the content in UTF-8 if it is kept, else of the file; the listed size if reading failed. */
  readonly size: number;
  readonly oid: string;
  readonly language: string;
  readonly languagesThere?: readonly string[];
  /** SKIP_*. */
  readonly skipReason: number;
}

/** By the file's index in the batch, as columns: V8 keeps the objects of a large message for long. */
export interface BatchOutcomes {
  readonly sizes: Float64Array;
  readonly skipReasons: Uint8Array;
  /** 1: the content was read, and has an id. */
  readonly areRead: Uint8Array;
  readonly ids: Uint8Array;
  readonly idSize: number;
  /** Indexes into `languageNames`. */
  readonly languages: Uint16Array;
  readonly languagesThere: ReadonlyMap<number, readonly string[]>;
  readonly languageNames: readonly string[];
}

export function packOutcomes(outcomes: readonly FileOutcome[]): BatchOutcomes {
  const names = new Map<string, number>();
  for (const { language } of outcomes) if (!names.has(language)) names.set(language, names.size);
  const idSize = (outcomes.find(({ oid }) => oid !== '')?.oid.length ?? 0) / 2;
  const ids = new Uint8Array(outcomes.length * idSize);
  const languagesThere = new Map<number, readonly string[]>();
  for (const [index, { oid, languagesThere: there = [] }] of outcomes.entries()) {
    if (oid.length === idSize * 2) ids.set(Buffer.from(oid, 'hex'), index * idSize);
    else if (oid !== '') throw new Error('blob ids of two sizes');
    if (there.length > 0) languagesThere.set(index, there);
  }
  return {
    sizes: Float64Array.from(outcomes, ({ size }) => size),
    skipReasons: Uint8Array.from(outcomes, ({ skipReason }) => skipReason),
    areRead: Uint8Array.from(outcomes, ({ oid }) => (oid === '' ? 0 : 1)),
    ids,
    idSize,
    languages: Uint16Array.from(outcomes, ({ language }) => names.get(language)!),
    languagesThere,
    languageNames: [...names.keys()],
  };
}
