// The docs in a repo's shards, by path, for a build that adds the missing ones. Opens the shards itself.

import { LoopYielder } from '../../base/next-time-slice.ts';
import { decodePath, type TreePath } from '../../base/paths.ts';
import { type ShardFile, shardErrorOf, Space } from '../host/space.ts';
import type { IgnoredCounts } from '../../sources/docs/ignored.ts';
import { findObjects } from '../../sources/git/objects.ts';
import type { TreeItem } from '../../sources/git/tree-diff.ts';
import { bitmapSizeOf, clearBit, hasBit, setBit, setBits } from '../shards/bits.ts';
import type { RevisionTable, UnstoredDoc } from '../shards/revisions.ts';
import { ShardTables } from '../shards/tables.ts';

/** A shard with the docs of one repo; its other docs are ignored. */
export interface IndexedShard extends Pick<ShardFile, 'shardId' | 'path' | 'size'> {
  /** Id of the repo's first doc. */
  readonly docStart: number;
  readonly docCount: number;
  /** Other repos have docs in it. */
  readonly isShared: boolean;
}

export interface IndexedState {
  readonly shards: readonly IndexedShard[];
  /** Absent: the only revision holds every doc. */
  readonly table: RevisionTable | undefined;
  /** Its revisions by name with their commits, the default one first; commit undefined: files on disk, or nothing. */
  readonly revisions: readonly { readonly name: string; readonly commit: string | undefined }[];
  /** Paths that rules exclude from the default revision, and numbers of paths that are not docs, by reason. */
  readonly ignored: IgnoredCounts;
  readonly excluded: Readonly<Record<string, number>>;
}

export interface DocLocation {
  readonly shard: number;
  /** Counted from the repo's first doc in the shard. */
  readonly docId: number;
}

export interface IndexedDoc extends DocLocation {
  /** git blob id; undefined: unknown. */
  readonly oid: string | undefined;
}

/** A bitmap for each shard. */
type DocBitmaps = readonly Uint8Array[];
type OnDoc = (location: DocLocation, treePath: TreePath) => void;

interface OpenShard {
  readonly tables: ShardTables;
  readonly docStart: number;
  readonly docCount: number;
  readonly unstored: Map<number, string>;
  /** A bit for each doc that a revision holds. */
  readonly live: Uint8Array;
  /** Rank of the last path looked up: callers ask in order of paths, so the next is nearby. */
  lastRank: number;
}

export class IndexedDocs {
  readonly shards: readonly IndexedShard[];
  readonly #table: RevisionTable | undefined;
  readonly #open: OpenShard[] = [];
  readonly #spaces: Space[] = [];

  private constructor(shards: readonly IndexedShard[], table: RevisionTable | undefined) {
    this.shards = shards;
    this.#table = table;
  }

  /** Errors: ShardError where a file is damaged, missing, or cannot be mapped. */
  static open(
    module: WebAssembly.Module,
    shards: readonly IndexedShard[],
    table: RevisionTable | undefined,
  ): IndexedDocs {
    const docs = new IndexedDocs(shards, table);
    try {
      for (const [index, shard] of shards.entries()) docs.#openShard(module, shard, index);
    } catch (error) {
      docs.close();
      throw error;
    }
    return docs;
  }

  #openShard(module: WebAssembly.Module, shard: IndexedShard, index: number): void {
    const { shardId, path, size, docStart, docCount } = shard;
    const file = { shardId, path, size };
    let last = this.#spaces.at(-1);
    try {
      if (last === undefined || !last.open(file)) {
        last = new Space(module);
        this.#spaces.push(last);
        if (!last.open(file)) throw new Error(`shard ${shardId} does not fit`);
      }
    } catch (error) {
      throw shardErrorOf(shardId, error);
    }
    const revisions = this.#table?.shards[index];
    this.#open.push({
      tables: new ShardTables(last.bytesOf(shardId)),
      docStart,
      docCount,
      unstored: new Map((revisions?.unstoredDocs() ?? []).map(({ docId, oid }) => [docId, oid])),
      live: bitsOf(revisions?.liveDocs ?? 'all', docCount),
      lastRank: 0,
    });
  }

  close(): void {
    for (const space of this.#spaces) space.drop();
  }

  /** The docs of a revision, a new bitmap for each shard. */
  docsIn(revision: number): Uint8Array[] {
    return this.#open.map(({ docCount }, index) =>
      bitsOf(this.#table?.shards[index]?.docsIn([revision]) ?? 'all', docCount),
    );
  }

  /** No docs, a new bitmap for each shard. */
  noDocs(): Uint8Array[] {
    return this.#open.map(({ docCount }) => new Uint8Array(bitmapSizeOf(docCount)));
  }

  /** Removes the doc at a path from the sets, if `wasDoc`, and adds the one with `after`; false: no shard holds that. */
  replace(sets: DocBitmaps, path: TreePath, wasDoc: boolean, after?: TreeItem): boolean {
    const indexed = this.at(path);
    if (wasDoc) {
      const existing = indexed.find(({ shard, docId }) => hasBit(sets[shard]!, docId));
      if (existing !== undefined) clearBit(sets[existing.shard]!, existing.docId);
    }
    if (after === undefined) return true;
    const same = indexed.find((doc) => doc.oid === after.oid && this.isLive(doc));
    if (same !== undefined) setBit(sets[same.shard]!, same.docId);
    return same !== undefined;
  }

  /** Gets from git the blobs that a build of this commit alone has not stored. Errors: GitError. */
  async learnBlobs(repoPath: string, commit: string | undefined): Promise<void> {
    const unknown = commit === undefined ? [] : this.unknownDocs();
    const treePath = unknown
      .map((location) => ({ location, ...this.nameOf(location) }))
      .filter(({ rawPath }) => rawPath === undefined);
    const names = treePath.map(({ path }) => `${commit}:${path}`);
    const blobs = await findObjects(repoPath, names, { timeoutMs: 0 });
    for (const [index, { location }] of treePath.entries()) {
      const blob = blobs[index];
      if (blob !== undefined) this.learn(location, blob.oid);
    }
  }

  isLive({ shard, docId }: DocLocation): boolean {
    return hasBit(this.#open[shard]!.live, docId);
  }

  unstoredOf(shard: number): UnstoredDoc[] {
    const rows = [...this.#open[shard]!.unstored].map(([docId, oid]) => ({ docId, oid }));
    return rows.sort((a, b) => a.docId - b.docId);
  }

  nameOf({ shard, docId }: DocLocation): TreePath {
    const { tables, docStart } = this.#open[shard]!;
    return decodePath(Buffer.from(tables.pathOf(docStart + docId)));
  }

  sizeOf({ shard, docId }: DocLocation): number {
    const { tables, docStart } = this.#open[shard]!;
    return tables.doc(docStart + docId).size;
  }

  /** Docs without stored content whose blobs are unknown. */
  unknownDocs(): DocLocation[] {
    return this.#open.flatMap(({ tables, docStart, docCount, unstored }, shard) => {
      const locations: DocLocation[] = [];
      for (let docId = 0; docId < docCount; docId++)
        if (!tables.hasBlob(docStart + docId) && !unstored.has(docId))
          locations.push({ shard, docId });
      return locations;
    });
  }

  learn({ shard, docId }: DocLocation, oid: string): void {
    this.#open[shard]!.unstored.set(docId, oid);
  }

  /** The stored content of a doc, a view valid until `close`; undefined: empty or skipped. */
  contentOf({ shard, docId }: DocLocation): Uint8Array | undefined {
    const { tables, docStart } = this.#open[shard]!;
    const { blobId } = tables.doc(docStart + docId);
    return blobId === undefined ? undefined : tables.blob(blobId).content;
  }

  skipReasonOf({ shard, docId }: DocLocation): number {
    const { tables, docStart } = this.#open[shard]!;
    return tables.skipReasonOf(docStart + docId);
  }

  oidOf({ shard, docId }: DocLocation): string | undefined {
    const { tables, docStart, unstored } = this.#open[shard]!;
    const { blobId } = tables.doc(docStart + docId);
    return blobId === undefined ? unstored.get(docId) : tables.blobHash(blobId);
  }

  /** The docs at a path, of any revision. Cost: a binary search in each shard, a short one behind the last path. */
  at({ path, rawPath }: TreePath): IndexedDoc[] {
    const bytes = rawPath ?? Buffer.from(path);
    const found: IndexedDoc[] = [];
    for (const [shard, open] of this.#open.entries()) {
      const { tables, docStart, docCount } = open;
      open.lastRank = firstRank(tables, bytes, open.lastRank);
      for (let rank = open.lastRank; rank < tables.docCount; rank++) {
        const docId = tables.docAt(rank) - docStart;
        if (Buffer.compare(tables.pathOf(docStart + docId), bytes) !== 0) break;
        if (docId >= 0 && docId < docCount)
          found.push({ shard, docId, oid: this.oidOf({ shard, docId }) });
      }
    }
    return found;
  }

  /** Calls back for each doc of these sets directly in a folder. Cost: as `at`, for each folder there. */
  forEachIn(sets: DocBitmaps, folder: TreePath, onDoc: OnDoc): void {
    const prefix = bytesWithin(folder);
    for (const [shard, { tables, docStart, docCount }] of this.#open.entries()) {
      let rank = firstRank(tables, prefix);
      while (rank < tables.docCount) {
        const docId = tables.docAt(rank) - docStart;
        const path = tables.pathOf(docStart + docId);
        if (!prefix.equals(path.subarray(0, prefix.length))) break;
        const slash = path.indexOf(SLASH, prefix.length);
        if (slash >= 0) rank = firstRank(tables, behindFolder(path, slash), rank);
        else {
          if (docId >= 0 && docId < docCount && hasBit(sets[shard]!, docId))
            onDoc({ shard, docId }, this.nameOf({ shard, docId }));
          rank++;
        }
      }
    }
  }

  /** Calls back for each doc of these sets at one of the paths or below it, each once. Cost: as `at`, for each path. */
  forEachWithin(sets: DocBitmaps, paths: readonly string[], onDoc: OnDoc): void {
    for (const [shard, { tables, docStart, docCount }] of this.#open.entries()) {
      const found = new Set<number>();
      const add = (bytes: Buffer, isWithin: (path: Uint8Array) => boolean): void => {
        for (let rank = firstRank(tables, bytes); rank < tables.docCount; rank++) {
          const docId = tables.docAt(rank) - docStart;
          if (!isWithin(tables.pathOf(docStart + docId))) break;
          if (docId >= 0 && docId < docCount && hasBit(sets[shard]!, docId)) found.add(docId);
        }
      };
      for (const path of paths) {
        const [itself, below] = [Buffer.from(path), Buffer.from(`${path}/`)];
        add(itself, (bytes) => itself.equals(bytes));
        add(below, (bytes) => below.equals(bytes.subarray(0, below.length)));
      }
      for (const docId of found) onDoc({ shard, docId }, this.nameOf({ shard, docId }));
    }
  }

  /** Calls back for each doc of these sets. Yields to other work. */
  async forEach(sets: DocBitmaps, onDoc: OnDoc): Promise<void> {
    const yielder = new LoopYielder();
    for (const [shard, { docCount }] of this.#open.entries()) {
      for (let docId = 0; docId < docCount; docId++) {
        if (!hasBit(sets[shard]!, docId)) continue;
        await yielder.pause();
        onDoc({ shard, docId }, this.nameOf({ shard, docId }));
      }
    }
  }
}

const SLASH = 0x2f;

function bytesWithin({ path, rawPath }: TreePath): Buffer {
  if (path === '') return Buffer.alloc(0);
  return Buffer.concat([rawPath ?? Buffer.from(path), Buffer.of(SLASH)]);
}

/** Sorts between the paths in the folder that ends at a slash of `path`, and all paths behind it. */
function behindFolder(path: Uint8Array, slash: number): Buffer {
  return Buffer.concat([path.subarray(0, slash), Buffer.of(SLASH + 1)]);
}

/** The first rank whose path is not less than these bytes; fastest if `near` is just before it. */
function firstRank(tables: ShardTables, bytes: Uint8Array, near = 0): number {
  const isBefore = (rank: number): boolean =>
    Buffer.compare(tables.pathOf(tables.docAt(rank)), bytes) < 0;
  let start = 0;
  let end = tables.docCount;
  for (let step = 1, rank = near; rank < end; rank += step, step *= 2)
    if (isBefore(rank)) start = rank + 1;
    else end = rank;
  while (start < end) {
    const middle = (start + end) >>> 1;
    if (isBefore(middle)) start = middle + 1;
    else end = middle;
  }
  return start;
}

function bitsOf(set: 'all' | 'none' | Uint8Array, docCount: number): Uint8Array {
  const bits = new Uint8Array(bitmapSizeOf(docCount));
  if (set === 'all') setBits(bits, 0, docCount);
  else if (set !== 'none') bits.set(set);
  return bits;
}
