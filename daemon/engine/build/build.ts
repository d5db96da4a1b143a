// Builds the shards of one repo: lists the source, plans batches, lets the threads read and code them,
// keeps for each shard which contents it holds, and has it merged, checked and synced when its last batch
// is in. Nothing here is visible to searches: the caller publishes the finished files (sync/catalog.ts).

import { availableParallelism } from 'node:os';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  SKIP_BINARY,
  SKIP_NONE,
  SKIP_TOO_LARGE,
  SKIP_TOO_MANY_TRIGRAMS,
  STRIPE_COUNT_MAX,
} from '../../../core/shared/format.ts';
import { bitmapSizeOf, setBit } from '../shards/bits.ts';
import { RevisionWriter, type UnstoredDoc } from '../shards/revisions.ts';
import type { ShardDoc, ShardSummary } from '../shards/writer.ts';
import {
  type AttributeFile,
  Attributes,
  readAttributeFiles,
} from '../../sources/languages/attributes.ts';
import type {
  AskKnown,
  AskPlace,
  BatchDone,
  BatchFile,
  FileOutcome,
  FromBuildWorker,
  MergeDone,
  PlaceAnswer,
  ToBuildWorker,
} from './build-messages.ts';
import { BuildPool } from './build-pool.ts';
import { BuildThreads } from './build-threads.ts';
import { DocFilter, type FilterSettings, type SkipReason } from './filters.ts';
import {
  detectLanguage,
  findHeaderFolders,
  type HeaderFolders,
} from '../../sources/languages/languages.ts';
import { DocReader } from '../../sources/docs/doc-reader.ts';
import { openSource } from '../../sources/docs/open-source.ts';
import { type BuildPlan, planBuild, planDocs, type PlannedShard } from './plan.ts';
import type { IgnoredCounts } from '../../sources/docs/ignored.ts';
import type { LeftOut } from '../../sources/disk/left-out.ts';
import type {
  FileStates,
  ReadFailure,
  RevisionFiles,
  SourceFile,
  SourceSpec,
} from '../../sources/docs/source.ts';
import { addToList } from '../../base/lists.ts';
import { Breather } from '../../base/next-turn.ts';

export interface BuildOptions {
  readonly module: WebAssembly.Module;
  readonly spec: SourceSpec;
  readonly repoId: number;
  readonly repoName: string;
  readonly filters: FilterSettings;
  /** Folder for the shard files, on the disk where they are to stay. */
  readonly folder: string;
  /** Those of all builds; default: one for each core, for this one alone. */
  readonly threads?: BuildThreads | undefined;
  readonly onProgress?: ((progress: BuildProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface BuildProgress {
  readonly phase: 'listing' | 'reading' | 'merging';
  readonly filesDone: number;
  readonly filesTotal: number;
  readonly bytesDone: number;
  readonly bytesTotal: number;
  /** Docs indexed by name only, so far. */
  readonly skipped: number;
}

export interface BuiltShard extends ShardSummary {
  readonly path: string;
}

export interface BuildResult {
  readonly fingerprint: string;
  readonly shards: readonly BuiltShard[];
  readonly docCount: number;
  readonly contentSize: number;
  /** The revision file (engine/shards/revisions.ts), if the source names further revisions. */
  readonly revisions?: Buffer;
  /** Docs indexed by name only. */
  readonly skipped: Readonly<Record<SkipReason, number>>;
  /** Paths that are no docs, and files that could not be read. */
  readonly leftOut: readonly (LeftOut | ReadFailure)[];
  /** What rules leave out of the default revision. */
  readonly ignored: IgnoredCounts;
  /** Present if the default revision is files on disk: what they looked like before they were read. */
  readonly states?: FileStates;
}

/** Docs to build shards of, and what else their languages and order depend on. */
export interface DocList {
  /** Sorted by path. */
  readonly files: readonly SourceFile[];
  readonly attributes: Attributes;
  readonly headerFolders: HeaderFolders;
}

/** A shard of a list of docs. */
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

/** A shard came out with more stripes than the format has room for; planning it smaller helps. */
class ShardOverflow extends Error {}

const STRIPES_PLANNED = 28;

/**
 * Builds all shards of a source. On failure and abort no file is left behind.
 *
 * Errors: of the source (GitError, file system), of the disk, AbortError.
 */
export async function buildRepo(options: BuildOptions): Promise<BuildResult> {
  const { spec, signal } = options;
  options.onProgress?.(NOTHING_DONE);
  const listing = await openSource(spec).list();
  signal?.throwIfAborted();
  const { files, revisions, fingerprint } = listing;
  const ofDefault = filesOfDefault(files, revisions);
  const { shards, skipped, failures } = await buildDocs(options, {
    files,
    attributes: new Attributes(await readAttributes(spec.path, ofDefault)),
    headerFolders: findHeaderFolders(ofDefault.map((file) => file.path)),
  });
  const result = {
    fingerprint,
    shards,
    docCount: shards.reduce((sum, { docCount }) => sum + docCount, 0),
    contentSize: shards.reduce((sum, { contentSize }) => sum + contentSize, 0),
    skipped,
    leftOut: [...listing.leftOut, ...failures],
    ignored: await listing.ignored(),
    ...(listing.states === undefined ? {} : { states: listing.states }),
  };
  return revisions === undefined || shards.length === 0
    ? result
    : { ...result, revisions: await revisionFile(shards, revisions, files.length) };
}

/** Builds shards of these docs, of none no shard. On failure and abort no file is left behind. Errors: as buildRepo. */
export async function buildDocs(options: BuildOptions, list: DocList): Promise<BuiltDocs> {
  if (list.files.length === 0)
    return { shards: [], skipped: { too_large: 0, binary: 0, too_many_trigrams: 0 }, failures: [] };
  const own = new BuildThreads(options.module, availableParallelism());
  const threads = options.threads ?? own;
  try {
    for (let stripes = STRIPES_PLANNED; ; stripes = Math.floor(stripes / 2)) {
      try {
        return await new Build(options, threads, list).run(stripes);
      } catch (error) {
        if (!(error instanceof ShardOverflow) || stripes === 1) throw error;
      }
    }
  } finally {
    await own.close();
  }
}

/** The attribute files among the docs of a repo. Errors: GitError. */
export async function readAttributes(
  repoPath: string,
  files: readonly SourceFile[],
): Promise<AttributeFile[]> {
  const reader = new DocReader(repoPath);
  try {
    return await readAttributeFiles(reader, files);
  } finally {
    await reader.close();
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

const HASH_SIZE_SHA1 = 20;
const HASH_SIZE_SHA256 = 32;
let buildCount = 0;

/** One shard while it grows. */
interface GrowingShard {
  readonly plan: PlannedShard;
  readonly path: string;
  readonly stripes: string[];
  readonly blobs: Uint8Array[];
  readonly blocks: Uint8Array[];
  readonly caseMarks: Uint8Array[];
  readonly hashes: string[];
  /** What became of each content, by object id. */
  readonly contents: Map<string, { blobId: number } | { skipReason: number }>;
  contentSize: number;
  blobCount: number;
  blockCount: number;
  stripeCount: number;
  batchesLeft: number;
  /** Once it is merged: the listing's index of each doc, and the docs without stored content. */
  fileOfDoc: Uint32Array;
  unstored: readonly UnstoredDoc[];
}

interface DocOfShard {
  readonly doc: ShardDoc;
  readonly fileIndex: number;
  /** Blob id, "" if it is not known. */
  readonly oid: string;
}

interface RunningBatch {
  readonly shard: GrowingShard;
  /** Indexes of the build's docs. */
  readonly docs: readonly number[];
  /** For each: the other docs of the shard that have its content, as listed. */
  readonly alike: ReadonlyMap<number, readonly number[]>;
  /** For each file: content stored before or by an earlier file of the batch. */
  known: boolean[];
}

class Build {
  readonly #options: BuildOptions;
  readonly #threads: BuildThreads;
  readonly #list: DocList;
  readonly #outcomes: (FileOutcome | undefined)[] = [];
  readonly #languages = new Map<string, string>();
  readonly #failures: ReadFailure[] = [];
  readonly #skipped = { too_large: 0, binary: 0, too_many_trigrams: 0 };
  readonly #finished: BuiltShard[] = [];
  readonly #batches: RunningBatch[] = [];
  /** Questions that wait for those of earlier batches. */
  readonly #waitingKnown = new Map<number, () => void>();
  readonly #waitingPlace = new Map<number, () => void>();
  #nextKnown = 0;
  #nextPlace = 0;
  #shards: GrowingShard[] = [];
  #pool: BuildPool | undefined;
  #plan: BuildPlan = { docs: [], shards: [] };
  #progress = NOTHING_DONE;
  #end: { resolve(): void; reject(error: Error): void } | undefined;

  constructor(options: BuildOptions, threads: BuildThreads, list: DocList) {
    this.#options = options;
    this.#threads = threads;
    this.#list = list;
  }

  async run(stripesPerShard: number): Promise<BuiltDocs> {
    const { files, attributes } = this.#list;
    const docs = planDocs(files, attributes, new DocFilter(this.#options.filters));
    this.#plan = planBuild(docs, stripesPerShard);
    this.#report({
      phase: 'reading',
      filesTotal: docs.length,
      bytesTotal: docs.reduce((sum, doc) => sum + (doc.isTooLarge ? 0 : doc.file.size), 0),
      filesDone: docs.filter((doc) => doc.isTooLarge).length,
      skipped: docs.filter((doc) => doc.isTooLarge).length,
    });
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
    const { spec, filters, signal } = this.#options;
    const { headerFolders } = this.#list;
    this.#shards = this.#plan.shards.map((plan) => this.#startShard(plan));
    for (const shard of this.#shards) await writeFile(shard.path, '');
    await this.#threads.take(signal);
    const over = new AbortController();
    const done = new Promise<void>((resolve, reject) => {
      this.#end = { resolve, reject };
      // Why with an end: the signal is that of all builds, and would keep what each adds to it.
      const listening = { once: true, signal: over.signal };
      signal?.addEventListener('abort', () => reject(signal.reason), listening);
      this.#pool = new BuildPool(
        this.#threads,
        Math.max(1, this.#batches.length),
        { spec, filters, headerFolders },
        (message, answer) => this.#onMessage(message, answer),
        reject,
      );
      for (const [batch, { shard, docs, alike }] of this.#batches.entries()) {
        this.#pool.add(() => {
          const files = docs.map((index) => this.#batchFile(index, alike));
          return { kind: 'batch', batch, files, path: shard.path };
        });
      }
      for (const shard of this.#shards) if (shard.batchesLeft === 0) this.#merge(shard);
    });
    await done.finally(() => over.abort());
  }

  #batchFile(doc: number, alike: RunningBatch['alike']): BatchFile {
    const alsoAt = (alike.get(doc) ?? []).map((other) => this.#plan.docs[other]!.file.path);
    return { ...this.#plan.docs[doc]!.file, alsoAt };
  }

  #startShard(plan: PlannedShard): GrowingShard {
    const name = `build-${process.pid}-${buildCount++}.tmp`;
    const shard: GrowingShard = {
      plan,
      path: path.join(this.#options.folder, name),
      stripes: [],
      blobs: [],
      blocks: [],
      caseMarks: [],
      hashes: [],
      contents: new Map(),
      contentSize: 0,
      blobCount: 0,
      blockCount: 0,
      stripeCount: 0,
      batchesLeft: 0,
      fileOfDoc: new Uint32Array(),
      unstored: [],
    };
    // Contents that the listing already knows to be equal are read once.
    const firsts = new Map<string, number>();
    const alike = new Map<number, number[]>();
    for (const { docs } of plan.batches) {
      const unlike = docs.filter((index) => {
        const { oid } = this.#plan.docs[index]!.file;
        const first = oid === undefined ? undefined : firsts.get(oid);
        if (first === undefined) {
          if (oid !== undefined) firsts.set(oid, index);
          return true;
        }
        addToList(alike, first, index);
        return false;
      });
      this.#batches.push({ shard, docs: unlike, alike, known: [] });
      shard.batchesLeft++;
    }
    return shard;
  }

  #onMessage(message: FromBuildWorker, answer: (reply: ToBuildWorker) => void): void {
    switch (message.kind) {
      case 'askKnown':
        this.#waitingKnown.set(message.batch, () => this.#answerKnown(message, answer));
        this.#nextKnown = answerInOrder(this.#waitingKnown, this.#nextKnown);
        break;
      case 'askPlace':
        this.#waitingPlace.set(message.batch, () => this.#answerPlace(message, answer));
        this.#nextPlace = answerInOrder(this.#waitingPlace, this.#nextPlace);
        break;
      case 'batchDone':
        this.#finishBatch(message);
        break;
      case 'mergeDone':
        this.#finishShard(message);
    }
  }

  #answerKnown(message: AskKnown, answer: (reply: ToBuildWorker) => void): void {
    const batch = this.#batches[message.batch]!;
    const { contents } = batch.shard;
    this.#failures.push(...message.failures);
    batch.known = message.outcomes.map((outcome, index) => {
      this.#noteOutcome(batch, batch.docs[index]!, outcome);
      const isStored = outcome.oid !== '' && outcome.size > 0 && outcome.skipReason === SKIP_NONE;
      if (!isStored) return false;
      if (contents.has(outcome.oid)) return true;
      // The blobId follows with the batch's place.
      contents.set(outcome.oid, { blobId: -1 });
      return false;
    });
    answer({ kind: 'known', known: batch.known });
  }

  #noteOutcome({ alike }: RunningBatch, doc: number, outcome: FileOutcome): void {
    const { size, oid, language, languagesThere, skipReason } = outcome;
    const { file } = this.#plan.docs[doc]!;
    // Why: what a thread says has texts of its own, which may be millions.
    const kept = { size, oid: file.oid === oid ? file.oid : oid, skipReason };
    this.#outcomes[doc] = { ...kept, language: this.#sameText(language) };
    for (const [place, other] of (alike.get(doc) ?? []).entries())
      this.#outcomes[other] = {
        ...kept,
        language: this.#sameText(languagesThere?.[place] ?? language),
      };
  }

  /** One string for all that are equal. */
  #sameText(language: string): string {
    const known = this.#languages.get(language);
    if (known !== undefined) return known;
    this.#languages.set(language, language);
    return language;
  }

  #answerPlace(message: AskPlace, answer: (reply: ToBuildWorker) => void): void {
    const { shard, docs, known } = this.#batches[message.batch]!;
    const place: PlaceAnswer = {
      kind: 'place',
      contentBase: shard.contentSize,
      blobBase: shard.blobCount,
      blockBase: shard.blockCount,
      stripeBase: shard.stripeCount,
    };
    const refused = new Map(message.refused.map((one) => [one.index, one.skipReason]));
    for (const [index, doc] of docs.entries()) {
      const { oid, size, skipReason } = this.#outcomes[doc]!;
      if (known[index] || oid === '' || size === 0 || skipReason !== SKIP_NONE) continue;
      const refusal = refused.get(index);
      if (refusal === undefined) {
        shard.contents.set(oid, { blobId: shard.blobCount++ });
        shard.hashes.push(oid);
      } else shard.contents.set(oid, { skipReason: refusal });
    }
    shard.contentSize += message.contentSize;
    shard.blockCount += message.blockCount;
    shard.stripeCount += message.stripeCount;
    if (shard.stripeCount > STRIPE_COUNT_MAX) throw new ShardOverflow('too many stripes');
    answer(place);
  }

  #finishBatch(message: BatchDone): void {
    const { shard, docs } = this.#batches[message.batch]!;
    const order = this.#batches
      .filter((batch) => batch.shard === shard)
      .indexOf(this.#batches[message.batch]!);
    shard.blobs[order] = message.blobs;
    shard.blocks[order] = message.blocks;
    shard.caseMarks[order] = message.caseMarks;
    shard.stripes.push(...message.stripes);
    this.#report({
      filesDone: this.#progress.filesDone + docs.length,
      bytesDone:
        this.#progress.bytesDone + docs.reduce((sum, doc) => sum + this.#outcomes[doc]!.size, 0),
      skipped:
        this.#progress.skipped +
        docs.filter((doc) => this.#outcomes[doc]!.skipReason !== SKIP_NONE).length,
    });
    shard.batchesLeft--;
    if (shard.batchesLeft === 0) this.#merge(shard);
  }

  #merge(shard: GrowingShard): void {
    if (this.#shards.every((one) => one.batchesLeft === 0)) this.#report({ phase: 'merging' });
    const hashSize = (shard.hashes[0]?.length ?? 40) === 64 ? HASH_SIZE_SHA256 : HASH_SIZE_SHA1;
    const { repoId, repoName } = this.#options;
    const docs = this.#docsOf(shard);
    this.#countSkipped(docs);
    shard.fileOfDoc = Uint32Array.from(docs, ({ fileIndex }) => fileIndex);
    shard.unstored = docs.flatMap(({ doc, oid }, docId) =>
      doc.blobId === undefined && oid !== '' ? [{ docId, oid }] : [],
    );
    this.#pool?.add({
      kind: 'merge',
      path: shard.path,
      // Stripes are numbered; threads may have finished them in another order.
      stripes: shard.stripes.sort((a, b) => stripeNumber(a) - stripeNumber(b)),
      repos: [{ repoId, name: repoName, docCount: docs.length }],
      docs: docs.map(({ doc }) => doc),
      blobs: shard.blobs,
      blobHashes: Buffer.from(shard.hashes.join(''), 'hex'),
      hashSize,
      blocks: shard.blocks,
      caseMarks: shard.caseMarks,
      contentSize: shard.contentSize,
    });
    shard.contents.clear();
    shard.hashes.length = 0;
  }

  /** The docs of a shard in order; files that vanished or could not be read are none. */
  #docsOf(shard: GrowingShard): DocOfShard[] {
    const { plan, contents } = shard;
    const docs: DocOfShard[] = [];
    for (let index = plan.docStart; index < plan.docEnd; index++) {
      const { file, fileIndex, tier, isTooLarge } = this.#plan.docs[index]!;
      const outcome = isTooLarge ? tooLargeOutcome(file) : this.#outcomes[index];
      if (outcome === undefined || (outcome.oid === '' && !isTooLarge)) continue;
      const content = contents.get(outcome.oid);
      const isRefused = content !== undefined && 'skipReason' in content;
      const skipReason = isRefused ? content.skipReason : outcome.skipReason;
      const doc = {
        path: file.rawPath ?? Buffer.from(file.path),
        blobId:
          skipReason === SKIP_NONE && content !== undefined && !isRefused
            ? content.blobId
            : undefined,
        size: outcome.size,
        language: this.#list.attributes.of(file.path).language ?? outcome.language,
        skipReason,
        tier,
      };
      docs.push({ doc, fileIndex, oid: file.oid ?? outcome.oid });
    }
    return docs;
  }

  #finishShard({ path: file, summary }: MergeDone): void {
    this.#finished.push({ path: file, ...summary });
    if (this.#finished.length === this.#shards.length) this.#end?.resolve();
  }

  #report(change: Partial<BuildProgress>): void {
    this.#progress = { ...this.#progress, ...change };
    this.#options.onProgress?.(this.#progress);
  }

  async #removeFiles(): Promise<void> {
    for (const shard of this.#shards) {
      await rm(shard.path, { force: true });
      for (let i = 0; i < STRIPE_COUNT_MAX; i++)
        await rm(`${shard.path}.stripe${i}`, { force: true });
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

  #countSkipped(docs: readonly DocOfShard[]): void {
    for (const { doc } of docs) {
      const { skipReason } = doc;
      if (skipReason === SKIP_TOO_LARGE) this.#skipped.too_large++;
      if (skipReason === SKIP_BINARY) this.#skipped.binary++;
      if (skipReason === SKIP_TOO_MANY_TRIGRAMS) this.#skipped.too_many_trigrams++;
    }
  }
}

/** The sets of docs of all revisions, over the shards of a listing of so many files. */
async function revisionFile(
  shards: readonly ListedShard[],
  revisions: RevisionFiles,
  fileCount: number,
): Promise<Buffer> {
  const places = placesOf(shards, fileCount);
  const writer = new RevisionWriter(shards);
  const breather = new Breather();
  for (let revision = 0; revision < revisions.count; revision++) {
    const bitmaps = shards.map(({ docCount }) => new Uint8Array(bitmapSizeOf(docCount)));
    revisions.visit(revision, (file) => {
      const shard = places.shards[file]!;
      if (shard === NO_SHARD) return;
      const docId = places.docIds[file]!;
      setBit(bitmaps[shard]!, docId);
    });
    writer.add(bitmaps);
    for (let i = 0; i < STEPS_PER_REVISION; i++) await breather.pause();
  }
  return writer.bytes();
}

export const NO_SHARD = 0xffffffff;
/** A revision is much work between two pauses. */
const STEPS_PER_REVISION = 64;

/** Shard and docId of each file of a listing; NO_SHARD: it could not be read. */
export function placesOf(
  shards: readonly Pick<ListedShard, 'fileOfDoc'>[],
  fileCount: number,
): { shards: Uint32Array; docIds: Uint32Array } {
  const places = {
    shards: new Uint32Array(fileCount).fill(NO_SHARD),
    docIds: new Uint32Array(fileCount),
  };
  for (const [shard, { fileOfDoc }] of shards.entries()) {
    for (const [docId, file] of fileOfDoc.entries()) {
      places.shards[file] = shard;
      places.docIds[file] = docId;
    }
  }
  return places;
}

/** The files that the default revision holds: what they say of languages counts for all. */
function filesOfDefault(
  files: readonly SourceFile[],
  revisions: RevisionFiles | undefined,
): readonly SourceFile[] {
  if (revisions === undefined) return files;
  const indexes: number[] = [];
  revisions.visit(0, (file) => indexes.push(file));
  return indexes.sort((a, b) => a - b).map((index) => files[index]!);
}

/** Runs the waiting answers from `next` on as far as they are there; returns the next one missing. */
function answerInOrder(waiting: Map<number, () => void>, next: number): number {
  for (; ; next++) {
    const answer = waiting.get(next);
    if (answer === undefined) return next;
    waiting.delete(next);
    answer();
  }
}

function stripeNumber(file: string): number {
  return Number(/\.stripe(\d+)$/.exec(file)?.[1]);
}

function tooLargeOutcome(file: SourceFile): FileOutcome {
  return {
    size: file.size,
    oid: '',
    language: detectLanguage(file.path, new Uint8Array()),
    skipReason: SKIP_TOO_LARGE,
  };
}
