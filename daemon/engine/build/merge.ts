// Merges docs of several shards into one: contents, languages, tiers and symbols are copied, grams extracted again.
// Synchronous.

import { writeFileSync } from 'node:fs';
import { SEGMENT_COUNT_MAX } from '../../../core/shared/format.ts';
import { type BatchRows, joinRows, SegmentBuilder } from '../host/builder.ts';
import { type ShardFile, shardErrorOf, Space } from '../host/space.ts';
import { SymbolsFileBuilder, type SymbolsSummary } from '../shards/symbols-builder.ts';
import { SymbolTables } from '../shards/symbol-tables.ts';
import { ShardTables } from '../shards/tables.ts';
import type { NewTables } from '../shards/writer.ts';
import { type ShardDoc, ShardDocs } from '../shards/shard-docs.ts';
import { BATCH_BLOCKS, blocksFor } from './build-plan.ts';
import { completeShard, type FinishedShard, writeContent, writeSegments } from './shard-file.ts';

export interface MergeRepo {
  readonly repoId: number;
  readonly name: string;
  /** Docs of each source shard. */
  readonly docs: readonly { readonly source: number; readonly docIds: Uint32Array }[];
}

export interface MergeOrder {
  /** If all have symbols, the new one gets them too. All have blob ids of one size. */
  readonly sources: readonly ShardFile[];
  readonly repos: readonly MergeRepo[];
  readonly path: string;
  readonly symbolsPath: string;
}

export interface MergedRepo {
  readonly repoId: number;
  readonly docStart: number;
  readonly docEnd: number;
  readonly contentSize: number;
  /** For each of its docs from `docStart` on: the index of its source shard, and its id there. */
  readonly sources: Uint16Array;
  readonly docIds: Uint32Array;
}

export interface MergeResult extends FinishedShard {
  /** Without repos that had no docs to merge. */
  readonly repos: readonly MergedRepo[];
  readonly symbols: SymbolsSummary | undefined;
}

interface Source {
  readonly tables: ShardTables;
  readonly symbols: SymbolTables | undefined;
}

interface MergedBlob {
  readonly source: number;
  readonly blobId: number;
  readonly oid: string;
}

interface MergedDoc extends ShardDoc {
  readonly source: number;
  readonly docId: number;
}

/** Errors: MergeOverflow; ShardError where a file cannot be opened; of the file system. Files written so far remain. */
export function mergeShards(module: WebAssembly.Module, order: MergeOrder): MergeResult {
  const { path } = order;
  const space = new Space(module);
  try {
    const sources = openSources(space, order.sources);
    const repos = order.repos.filter(({ docs }) => docs.some(({ docIds }) => docIds.length > 0));
    const contents = new Contents(sources);
    const lists = repos.map((repo) => docsOf(repo, sources).map((doc) => contents.position(doc)));
    const { segments, ...coded } = contents.write(module, path);
    const tables = {
      repos: repos.map(({ repoId, name }, i) => ({ repoId, name, docCount: lists[i]!.length })),
      docs: ShardDocs.of(lists.flat()),
      ...coded,
    };
    const summary = completeShard(module, path, tables, segments, true);
    const symbols = sources.every((source) => source.symbols !== undefined)
      ? contents.writeSymbols(module, path, order.symbolsPath)
      : undefined;
    return { ...summary, repos: mergedReposOf(repos, lists, contents), symbols };
  } finally {
    space.drop();
  }
}

function openSources(space: Space, files: readonly ShardFile[]): Source[] {
  return files.map((file) => {
    const { shardId } = file;
    try {
      if (!space.open(file)) throw new MergeOverflow('more than can be open');
    } catch (error) {
      if (error instanceof MergeOverflow) throw error;
      throw shardErrorOf(shardId, error);
    }
    const bytes = space.bytesOf(shardId);
    const symbols = space.symbolBytesOf(shardId);
    return {
      tables: new ShardTables(bytes),
      symbols: symbols === undefined ? undefined : new SymbolTables(symbols, bytes),
    };
  });
}

/** The docs of a repo in build order: by tier and path; docs of one path keep their order. */
function docsOf({ docs }: MergeRepo, sources: readonly Source[]): MergedDoc[] {
  const found = docs.flatMap(({ source, docIds }) =>
    Array.from(docIds, (docId) => ({ ...sources[source]!.tables.doc(docId), source, docId })),
  );
  return found.sort((a, b) => a.tier - b.tier || Buffer.compare(a.path, b.path));
}

/** The files do not fit into one memory, or their contents or symbols do not fit one shard. */
export class MergeOverflow extends Error {
  override readonly name = 'MergeOverflow';
}

class Contents {
  readonly #sources: readonly Source[];
  readonly #blobs: MergedBlob[] = [];
  readonly #ids = new Map<string, number>();
  /** For each source: the new blobId of each of its blobIds. */
  readonly #placed: readonly Map<number, number>[];

  constructor(sources: readonly Source[]) {
    this.#sources = sources;
    this.#placed = sources.map(() => new Map<number, number>());
  }

  /** The doc with its blob in the new shard. */
  position(doc: MergedDoc): MergedDoc {
    const { source, blobId } = doc;
    if (blobId === undefined) return doc;
    const ofSource = this.#placed[source]!;
    const placed = ofSource.get(blobId) ?? this.#addBlob(source, blobId);
    ofSource.set(blobId, placed);
    return { ...doc, blobId: placed };
  }

  /**
   * Equal contents of the same language share a blobId. Why their bytes are compared: git does not verify that an object
   * matches its id, so whoever writes to one repository could show its bytes as another's, or see those.
   */
  #addBlob(source: number, blobId: number): number {
    const { tables } = this.#sources[source]!;
    const oid = tables.blobHash(blobId);
    const { content, docId } = tables.blob(blobId);
    // All its docs have the same language.
    let key = `${oid} ${tables.doc(docId).language}`;
    for (let placed = this.#ids.get(key); placed !== undefined; placed = this.#ids.get(key)) {
      if (Buffer.compare(this.#bytesOf(placed), content) === 0) return placed;
      key += ' other';
    }
    const placed = this.#blobs.push({ source, blobId, oid }) - 1;
    this.#ids.set(key, placed);
    return placed;
  }

  sizeOf(docs: readonly MergedDoc[]): number {
    const distinct = new Set(docs.flatMap(({ blobId }) => blobId ?? []));
    return [...distinct].reduce((sum, blobId) => sum + this.#bytesOf(blobId).length, 0);
  }

  #bytesOf(placed: number): Uint8Array {
    const { source, blobId } = this.#blobs[placed]!;
    return this.#sources[source]!.tables.blob(blobId).content;
  }

  write(module: WebAssembly.Module, path: string): CodedContents {
    writeFileSync(path, '', { mode: 0o600 });
    const builder = new SegmentBuilder(module);
    try {
      return this.#writeBatches(builder, path);
    } finally {
      builder.drop();
    }
  }

  #writeBatches(builder: SegmentBuilder, path: string): CodedContents {
    const segments: string[] = [];
    const rows: BatchRows[] = [];
    let [contentSize, blobCount, blockCount] = [0, 0, 0];
    for (const [start, end] of this.#batches()) {
      builder.begin();
      for (let blobId = start; blobId < end; blobId++) {
        const bytes = this.#bytesOf(blobId);
        const position = builder.stage(bytes);
        const outcome = position === undefined ? 'full' : builder.add(position, bytes.length, 0);
        if (outcome !== 'added') throw new Error(`a content of ${bytes.length} bytes: ${outcome}`);
      }
      const batch = builder.close();
      writeContent(path, batch.content, contentSize);
      segments.push(...writeSegments(path, batch.segments, segments.length));
      if (segments.length > SEGMENT_COUNT_MAX)
        throw new MergeOverflow('more than one shard has room for');
      rows.push(builder.rows(contentSize, blobCount, blockCount));
      contentSize += batch.content.length;
      blobCount += batch.blobCount;
      blockCount += batch.blockCount;
    }
    const blobHashes = Buffer.from(this.#blobs.map(({ oid }) => oid).join(''), 'hex');
    return {
      segments,
      ...joinRows(rows),
      contentSize,
      blobHashes,
      hashSize: blobCount === 0 ? 20 : blobHashes.length / blobCount,
    };
  }

  #batches(): [number, number][] {
    const batches: [number, number][] = [];
    let [start, blocks] = [0, 0];
    for (const blobId of this.#blobs.keys()) {
      // A content has at least one block.
      const added = Math.max(1, blocksFor(1, this.#bytesOf(blobId).length));
      if (blobId > start && blocks + added > BATCH_BLOCKS) {
        batches.push([start, blobId]);
        [start, blocks] = [blobId, 0];
      }
      blocks += added;
    }
    if (start < this.#blobs.length) batches.push([start, this.#blobs.length]);
    return batches;
  }

  writeSymbols(module: WebAssembly.Module, shardPath: string, path: string): SymbolsSummary {
    const builder = new SymbolsFileBuilder(module, shardPath);
    try {
      for (const [placed, { source, blobId }] of this.#blobs.entries()) {
        const symbols = this.#sources[source]!.symbols!.ofBlob(blobId);
        if (symbols.length > 0 && builder.addBlob(placed, symbols) === undefined)
          throw new MergeOverflow('more symbols than one shard has room for');
      }
      return builder.finish(path);
    } finally {
      builder.drop();
    }
  }
}

interface CodedContents extends Omit<NewTables, 'repos' | 'docs'> {
  readonly segments: readonly string[];
}

function mergedReposOf(
  repos: readonly MergeRepo[],
  lists: readonly (readonly MergedDoc[])[],
  contents: Contents,
): MergedRepo[] {
  let docEnd = 0;
  return repos.map(({ repoId }, index) => {
    const docs = lists[index]!;
    const docStart = docEnd;
    docEnd += docs.length;
    return {
      repoId,
      docStart,
      docEnd,
      contentSize: contents.sizeOf(docs),
      sources: Uint16Array.from(docs, ({ source }) => source),
      docIds: Uint32Array.from(docs, ({ docId }) => docId),
    };
  });
}
