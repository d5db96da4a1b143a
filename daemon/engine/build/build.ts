// Builds the shards of one repo: lists the source, plans batches, has threads read and code them, and completes, checks and
// syncs each shard. Searches see nothing of it until the caller publishes the files (index/catalog/catalog.ts).

import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { SKIP_NONE, SEGMENT_COUNT_MAX } from '../../../core/shared/format.ts';
import type { BatchRows } from '../host/builder.ts';
import { bitmapSizeOf, setBit } from '../shards/bits.ts';
import { RevisionWriter, type UnstoredDoc } from '../shards/revisions.ts';
import { type DocColumns, ShardDocs } from '../shards/shard-docs.ts';
import { SKIP_REASON_NAMES, type SkipReason } from '../shards/skip-reasons.ts';
import { Attributes, isAttributeFile, readAttributes } from '../../sources/languages/attributes.ts';
import type {
  StoredQuery,
  StartQuery,
  BatchDone,
  BatchJob,
  CompletionJob,
  FromBuildWorker,
  BatchStart,
  ToBuildWorker,
} from './build-messages.ts';
import { BuildPool } from './build-pool.ts';
import type { BuildThreads } from './build-threads.ts';
import { DocFilter, type FilterSettings } from './filters.ts';
import {
  findHeaderFolders,
  type HeaderFolders,
  isHeader,
} from '../../sources/languages/languages.ts';
import { listSource } from '../../sources/docs/list-source.ts';
import { DocOutcomes } from './doc-outcomes.ts';
import type { FinishedShard } from './shard-file.ts';
import {
  planDocs,
  type PlannedBatch,
  type PlannedDocs,
  type PlannedShard,
  planShards,
  sizeToRead,
  SEGMENTS_PLANNED,
} from './build-plan.ts';
import { FileList, type SourceFile } from '../../sources/docs/file-list.ts';
import type { IgnoredCounts } from '../../sources/docs/ignored.ts';
import type { ExcludedPath } from '../../sources/disk/excluded-path.ts';
import type { FileStates } from '../../sources/docs/file-states.ts';
import type {
  ReadFailure,
  RevisionFiles,
  SourceListing,
  SourceSpec,
} from '../../sources/docs/source.ts';
import { LoopYielder } from '../../base/next-time-slice.ts';
import { folderOf } from '../../base/paths.ts';

export interface BuildOptions {
  readonly module: WebAssembly.Module;
  readonly spec: SourceSpec;
  readonly repoId: number;
  readonly repoName: string;
  readonly filters: FilterSettings;
  /** Folder for the shard files, on their final disk. */
  readonly folder: string;
  readonly threads: BuildThreads;
  readonly onProgress?: ((progress: BuildProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface BuildProgress {
  readonly phase: 'listing' | 'reading' | 'merging';
  readonly filesDone: number;
  readonly filesTotal: number;
  readonly bytesDone: number;
  readonly bytesTotal: number;
  readonly skipped: number;
}

export interface BuiltShard extends FinishedShard {
  readonly path: string;
}

export interface BuildResult {
  readonly fingerprint: string;
  readonly shards: readonly BuiltShard[];
  /** The revision file, if the source has further revisions, or commits have docs without stored content. */
  readonly revisions?: Buffer;
  readonly skipped: Readonly<Record<SkipReason, number>>;
  /** Paths that are not docs, and files that could not be read. */
  readonly excluded: readonly (ExcludedPath | ReadFailure)[];
  readonly ignored: IgnoredCounts;
  /** Present if the default revision is files on disk: their states before they were read. */
  readonly states?: FileStates | undefined;
}

export interface DocList {
  readonly files: FileList;
  readonly attributes: Attributes;
  readonly headerFolders: HeaderFolders;
}

export interface ListedShard extends BuiltShard {
  /** The list's index of each doc. */
  readonly fileOfDoc: Uint32Array;
  /** Docs without stored content whose blobs are known. */
  readonly unstored: readonly UnstoredDoc[];
}

export interface BuiltDocs {
  readonly shards: readonly ListedShard[];
  readonly skipped: Readonly<Record<SkipReason, number>>;
  readonly failures: readonly ReadFailure[];
}

export const NOTHING_SKIPPED = { too_large: 0, binary: 0, too_many_trigrams: 0 };

/** A shard got more segments than the format allows; planning smaller shards helps. */
class ShardOverflow extends Error {}

/**
 * Builds all shards of a source. Failure and abort leave no file behind. Errors: of the source (GitError, file system), of the
 * disk, AbortError.
 */
export async function buildRepo(options: BuildOptions): Promise<BuildResult> {
  const { spec, signal } = options;
  options.onProgress?.(NOTHING_DONE);
  const listing = await listSource(spec, signal);
  signal?.throwIfAborted();
  const { files, revisions, fingerprint } = listing;
  const list = { files, ...(await rulesOf(spec, listing)) };
  const { shards, skipped, failures } = await buildDocs(options, list);
  const result = {
    fingerprint,
    shards,
    skipped,
    excluded: [...listing.excluded, ...failures],
    ignored: await listing.ignored(),
    states: listing.states,
  };
  // Why also for a single commit: the file has the blob ids of docs without stored content.
  const hasUnstored = spec.kind === 'commits' && shards.some(({ unstored }) => unstored.length > 0);
  const chosen = revisions ?? (hasUnstored ? onlyRevision(files.length) : undefined);
  return chosen === undefined || shards.length === 0
    ? result
    : { ...result, revisions: await revisionFile(shards, chosen, files.length) };
}

function onlyRevision(fileCount: number): RevisionFiles {
  const visit = (_: number, onFile: (file: number) => void): void => {
    for (let file = 0; file < fileCount; file++) onFile(file);
  };
  return { count: 1, visit };
}

/** The language rules in the files of the default revision; they apply to all revisions. Errors: GitError. */
async function rulesOf(
  { path: repoPath }: SourceSpec,
  { files, revisions }: SourceListing,
): Promise<Omit<DocList, 'files'>> {
  const isIncluded = new Uint8Array(files.length).fill(revisions === undefined ? 1 : 0);
  revisions?.visit(0, (file) => (isIncluded[file] = 1));
  const texts: SourceFile[] = [];
  const withHeaders = new Set<string>();
  const folders = findHeaderFolders(includedPaths());
  return {
    attributes: new Attributes(await readAttributes(repoPath, texts)),
    // Why not all: each thread has its own copy, 20 MB for 200,000 folders.
    headerFolders: new Map([...folders].filter(([folder]) => withHeaders.has(folder))),
  };

  function* includedPaths(): Generator<string> {
    for (let file = 0; file < files.length; file++) {
      const one = files.pathOf(file);
      if (isHeader(one)) withHeaders.add(folderOf(one));
      if (isIncluded[file] === 0) continue;
      if (isAttributeFile(one)) texts.push(files.at(file));
      yield one;
    }
  }
}

/** Builds shards of these docs. Failure and abort leave no file behind. Errors: as buildRepo. */
export async function buildDocs(options: BuildOptions, list: DocList): Promise<BuiltDocs> {
  if (list.files.length === 0) return { shards: [], skipped: NOTHING_SKIPPED, failures: [] };
  const docs = planDocs(list.files, list.attributes, new DocFilter(options.filters));
  // Guess: few on demand, so that threads complete one shard while others read the next.
  const planned = options.threads.work === 'demand' ? 2 : SEGMENTS_PLANNED;
  for (let segments = planned; ; segments = Math.floor(segments / 2)) {
    try {
      return await new Build(options, list, docs, planShards(docs, segments)).run();
    } catch (error) {
      if (!(error instanceof ShardOverflow) || segments === 1) throw error;
    }
  }
}

const NOTHING_DONE: BuildProgress = {
  phase: 'listing',
  filesDone: 0,
  filesTotal: 0,
  bytesDone: 0,
  bytesTotal: 0,
  skipped: 0,
};

let buildCount = 0;

class GrowingShard {
  readonly plan: PlannedShard;
  readonly path: string;
  readonly firstBatch: number;
  readonly segments: string[] = [];
  readonly rows: BatchRows[] = [];
  outcomes: DocOutcomes | undefined;
  contentSize = 0;
  blobCount = 0;
  blockCount = 0;
  segmentCount = 0;
  remainingBatches: number;
  /** After completion: the listing's index of each doc, and the docs without stored content. */
  fileOfDoc = new Uint32Array();
  unstored: readonly UnstoredDoc[] = [];

  constructor(plan: PlannedShard, file: string, firstBatch: number) {
    this.plan = plan;
    this.path = file;
    this.firstBatch = firstBatch;
    this.remainingBatches = plan.batches.length;
  }
}

interface RunningBatch {
  readonly shard: GrowingShard;
  readonly plan: PlannedBatch;
  /** While the batch runs: the docs to read. */
  docs: readonly number[];
  /** Docs whose contents are stored with the batch: no earlier doc has that content in that language. */
  toStore: readonly number[];
  /** Bytes of the docs, and number of those that are indexed by name only. */
  size: number;
  skipped: number;
}

class Build {
  readonly #options: BuildOptions;
  readonly #list: DocList;
  readonly #docs: PlannedDocs;
  readonly #failures: ReadFailure[] = [];
  readonly #skipped: Record<SkipReason, number> = { ...NOTHING_SKIPPED };
  readonly #finished: BuiltShard[] = [];
  readonly #batches: RunningBatch[] = [];
  readonly #outcomeTurns = new BatchTurns();
  readonly #startTurns = new BatchTurns();
  readonly #shards: readonly GrowingShard[];
  #pool: BuildPool | undefined;
  #progress = NOTHING_DONE;
  #end: { resolve(): void; reject(error: Error): void } | undefined;

  constructor(
    options: BuildOptions,
    list: DocList,
    docs: PlannedDocs,
    plan: readonly PlannedShard[],
  ) {
    this.#options = options;
    this.#list = list;
    this.#docs = docs;
    this.#shards = plan.map((shard) => this.#startShard(shard));
  }

  async run(): Promise<BuiltDocs> {
    const filesTotal = this.#docs.fileIndexes.length;
    const tooLarge = this.#docs.areTooLarge.reduce((sum, isTooLarge) => sum + isTooLarge, 0);
    let bytesTotal = 0;
    for (let doc = 0; doc < filesTotal; doc++) bytesTotal += sizeToRead(this.#docs, doc);
    const done = { filesDone: tooLarge, skipped: tooLarge };
    this.#report({ phase: 'reading', filesTotal, bytesTotal, ...done });
    try {
      await this.#runThreads();
    } catch (error) {
      await this.#pool?.close();
      await this.#removeFiles();
      throw error;
    }
    await this.#pool?.close();
    return this.#result();
  }

  async #runThreads(): Promise<void> {
    const { spec, filters, signal, threads } = this.#options;
    const { headerFolders } = this.#list;
    for (const shard of this.#shards) await writeFile(shard.path, '');
    await threads.take(signal);
    if (signal?.aborted === true) {
      threads.release();
      throw signal.reason;
    }
    const over = new AbortController();
    const done = new Promise<void>((resolve, reject) => {
      this.#end = { resolve, reject };
      // Why removed at the end: the signal is shared by all builds, and would keep every listener.
      const listening = { once: true, signal: over.signal };
      signal?.addEventListener('abort', () => reject(signal.reason), listening);
      this.#pool = new BuildPool({
        threads,
        countMax: Math.max(1, this.#batches.length),
        build: { spec, filters, headerFolders },
        onMessage: (message, answer) => this.#onMessage(message, answer),
        onError: reject,
      });
      for (const batch of this.#batches.keys())
        this.#pool.add('batch', () => this.#batchJob(batch));
      for (const shard of this.#shards) if (shard.remainingBatches === 0) this.#complete(shard);
    });
    await done.finally(() => over.abort());
  }

  #batchJob(index: number): BatchJob {
    const batch = this.#batches[index]!;
    const { shard, plan } = batch;
    const outcomes = this.#outcomesOf(shard);
    batch.docs = outcomes.docsToRead(plan.docStart, plan.docEnd);
    const { files, fileIndexes } = this.#docs;
    const toRead = new FileList();
    const alsoAt = new Map<number, string[]>();
    for (const doc of batch.docs) {
      const alike = outcomes.docsAlike(doc);
      const paths = alike.map((other) => files.pathOf(fileIndexes[other]!));
      if (paths.length > 0) alsoAt.set(toRead.length, paths);
      toRead.add(files.at(fileIndexes[doc]!));
    }
    return { kind: 'batch', batch: index, files: toRead.packed(), alsoAt, path: shard.path };
  }

  #outcomesOf(shard: GrowingShard): DocOutcomes {
    shard.outcomes ??= new DocOutcomes(this.#docs, shard.plan, (doc) => {
      const { files, fileIndexes } = this.#docs;
      const { attributes } = this.#list;
      return attributes.isEmpty
        ? undefined
        : attributes.of(files.pathOf(fileIndexes[doc]!)).language;
    });
    return shard.outcomes;
  }

  #startShard(plan: PlannedShard): GrowingShard {
    const name = `build-${process.pid}-${buildCount++}.tmp`;
    const file = path.join(this.#options.folder, name);
    const shard = new GrowingShard(plan, file, this.#batches.length);
    for (const batch of plan.batches)
      this.#batches.push({ shard, plan: batch, docs: [], toStore: [], size: 0, skipped: 0 });
    return shard;
  }

  #onMessage(message: FromBuildWorker, answer: (reply: ToBuildWorker) => void): void {
    switch (message.kind) {
      case 'askStored':
        this.#outcomeTurns.answer(message.batch, () => this.#answerStored(message, answer));
        break;
      case 'askStart':
        this.#startTurns.answer(message.batch, () => this.#answerStart(message, answer));
        break;
      case 'batchDone':
        this.#finishBatch(message);
        break;
      case 'shardDone':
        this.#finished.push({ path: message.path, ...message.summary });
        if (this.#finished.length === this.#shards.length) this.#end?.resolve();
    }
  }

  #answerStored(message: StoredQuery, answer: (reply: ToBuildWorker) => void): void {
    const batch = this.#batches[message.batch]!;
    this.#failures.push(...message.failures);
    const outcomes = this.#outcomesOf(batch.shard);
    const newDocs = batch.docs.map((doc, index) => {
      batch.size += message.outcomes.sizes[index]!;
      if (message.outcomes.skipReasons[index] !== SKIP_NONE) batch.skipped++;
      return outcomes.note(doc, message.outcomes, index);
    });
    const stored = newDocs.flatMap((docs, index) => docs.map((doc, nth) => ({ doc, index, nth })));
    // Repeated contents come last: they are staged behind everything that was read.
    stored.sort((a, b) => Math.min(a.nth, 1) - Math.min(b.nth, 1));
    batch.toStore = stored.map(({ doc }) => doc);
    answer({ kind: 'stored', toStore: stored.map(({ index }) => index) });
  }

  #answerStart(message: StartQuery, answer: (reply: ToBuildWorker) => void): void {
    const { shard, toStore } = this.#batches[message.batch]!;
    const outcomes = this.#outcomesOf(shard);
    const start: BatchStart = {
      kind: 'start',
      contentBase: shard.contentSize,
      blobBase: shard.blobCount,
      blockBase: shard.blockCount,
      segmentBase: shard.segmentCount,
    };
    for (const [nth, doc] of toStore.entries()) {
      const refusal = message.refused.get(nth);
      if (refusal === undefined) outcomes.store(doc, shard.blobCount++);
      else outcomes.refuse(doc, refusal);
    }
    shard.contentSize += message.contentSize;
    shard.blockCount += message.blockCount;
    shard.segmentCount += message.segmentCount;
    if (shard.segmentCount > SEGMENT_COUNT_MAX) throw new ShardOverflow('too many segments');
    answer(start);
  }

  #finishBatch(message: BatchDone): void {
    const batch = this.#batches[message.batch]!;
    const { shard, docs, size, skipped } = batch;
    shard.rows[message.batch - shard.firstBatch] = message.rows;
    shard.segments.push(...message.segments);
    batch.docs = [];
    batch.toStore = [];
    this.#report({
      filesDone: this.#progress.filesDone + docs.length,
      bytesDone: this.#progress.bytesDone + size,
      skipped: this.#progress.skipped + skipped,
    });
    shard.remainingBatches--;
    if (shard.remainingBatches === 0) this.#complete(shard);
  }

  #complete(shard: GrowingShard): void {
    if (this.#shards.every((one) => one.remainingBatches === 0)) this.#report({ phase: 'merging' });
    this.#pool?.add('completion', () => this.#completionJob(shard));
  }

  #completionJob(shard: GrowingShard): CompletionJob {
    const { repoId, repoName } = this.#options;
    const outcomes = this.#outcomesOf(shard);
    const docs = this.#docsOf(shard, outcomes);
    const [blobHashes, hashSize] = outcomes.blobHashes(shard.blobCount);
    shard.outcomes = undefined;
    return {
      kind: 'completion',
      path: shard.path,
      segments: shard.segments.sort((a, b) => segmentNumber(a) - segmentNumber(b)),
      repos: [{ repoId, name: repoName, docCount: docs.count }],
      docs,
      rows: shard.rows.splice(0),
      blobHashes,
      hashSize,
      contentSize: shard.contentSize,
    };
  }

  /** The docs of a shard in order, without files that vanished or could not be read. */
  #docsOf(shard: GrowingShard, outcomes: DocOutcomes): DocColumns {
    const { docStart, docEnd } = shard.plan;
    const docs = new ShardDocs(docEnd - docStart);
    const fileOfDoc = new Uint32Array(docEnd - docStart);
    const unstored: UnstoredDoc[] = [];
    for (let doc = docStart; doc < docEnd; doc++) {
      const row = outcomes.shardDoc(doc);
      if (row === undefined) continue;
      const id = row.blobId === undefined ? outcomes.idOf(doc) : undefined;
      if (id !== undefined)
        unstored.push({ docId: docs.count, oid: Buffer.from(id).toString('hex') });
      fileOfDoc[docs.count] = this.#docs.fileIndexes[doc]!;
      docs.add(row);
      const reason = SKIP_REASON_NAMES[row.skipReason];
      if (reason !== undefined) this.#skipped[reason]++;
    }
    shard.fileOfDoc = fileOfDoc.subarray(0, docs.count);
    shard.unstored = unstored;
    return docs.columns();
  }

  #report(change: Partial<BuildProgress>): void {
    this.#progress = { ...this.#progress, ...change };
    this.#options.onProgress?.(this.#progress);
  }

  async #removeFiles(): Promise<void> {
    for (const shard of this.#shards) {
      await rm(shard.path, { force: true });
      for (let i = 0; i < SEGMENT_COUNT_MAX; i++)
        await rm(`${shard.path}.segment${i}`, { force: true });
    }
  }

  #result(): BuiltDocs {
    const summaries = new Map(this.#finished.map((shard) => [shard.path, shard]));
    return {
      shards: this.#shards.map(({ path: file, fileOfDoc, unstored }) => ({
        ...summaries.get(file)!,
        fileOfDoc,
        unstored,
      })),
      skipped: this.#skipped,
      failures: this.#failures,
    };
  }
}

async function revisionFile(
  shards: readonly ListedShard[],
  revisions: RevisionFiles,
  fileCount: number,
): Promise<Buffer> {
  const positions = docIdsByFile(shards, fileCount);
  const writer = new RevisionWriter(shards);
  const yielder = new LoopYielder();
  for (let revision = 0; revision < revisions.count; revision++) {
    const bitmaps = shards.map(({ docCount }) => new Uint8Array(bitmapSizeOf(docCount)));
    revisions.visit(revision, (file) => {
      const shard = positions.shards[file]!;
      if (shard !== NO_SHARD) setBit(bitmaps[shard]!, positions.docIds[file]!);
    });
    writer.add(bitmaps);
    for (let step = 0; step < 64; step++) await yielder.pause();
  }
  return writer.bytes();
}

const NO_SHARD = 0xffffffff;

/** Shard and docId of each file of a listing; NO_SHARD: reading failed. */
function docIdsByFile(
  shards: readonly Pick<ListedShard, 'fileOfDoc'>[],
  fileCount: number,
): { shards: Uint32Array; docIds: Uint32Array } {
  const positions = {
    shards: new Uint32Array(fileCount).fill(NO_SHARD),
    docIds: new Uint32Array(fileCount),
  };
  for (const [shard, { fileOfDoc }] of shards.entries()) {
    for (const [docId, file] of fileOfDoc.entries()) {
      positions.shards[file] = shard;
      positions.docIds[file] = docId;
    }
  }
  return positions;
}

/** Answers requests in the order of their batches. */
class BatchTurns {
  readonly #waiting = new Map<number, () => void>();
  #next = 0;

  answer(batch: number, answer: () => void): void {
    this.#waiting.set(batch, answer);
    for (let next = this.#waiting.get(this.#next); next; next = this.#waiting.get(this.#next)) {
      this.#waiting.delete(this.#next++);
      next();
    }
  }
}

function segmentNumber(file: string): number {
  return Number(/\.segment(\d+)$/.exec(file)?.[1]);
}
