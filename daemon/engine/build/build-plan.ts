// Plans a build: the order of docs, the files of each batch, the batches of each shard. Docs are ordered by tier, then by
// path: lists of neighbouring paths take 4.3 bits a posting, 5 in any other order (Measured: 2026-11-21, X3).

import type { Attributes } from '../../sources/languages/attributes.ts';
import type { DocFilter } from './filters.ts';
import { docTier } from './rank.ts';
import type { FileList } from '../../sources/docs/file-list.ts';

/** The docs of a build in order, with the data known before reading. */
export interface PlannedDocs {
  readonly files: FileList;
  readonly fileIndexes: Uint32Array;
  readonly tiers: Uint8Array;
  /** 1: too large by its listed size: indexed by name only, never read. */
  readonly areTooLarge: Uint8Array;
}

export interface PlannedBatch {
  readonly docStart: number;
  readonly docEnd: number;
}

export interface PlannedShard {
  readonly docStart: number;
  readonly docEnd: number;
  readonly batches: readonly PlannedBatch[];
}

export const BATCH_BLOCKS = 7400;
/**
 * Most segments that a shard is planned with; some get more. Measured: 2026-11-29, Linux 6.1: half as many segments take 1.2 of the
 * CPU of an absent word. A merge writes a whole shard.
 */
export const SEGMENTS_PLANNED = 22;
export const SHARD_BLOCKS_MAX = SEGMENTS_PLANNED * BATCH_BLOCKS;

export function planDocs(files: FileList, attributes: Attributes, filter: DocFilter): PlannedDocs {
  const count = files.length;
  const tierOfFile = new Uint8Array(count);
  const isFileTooLarge = new Uint8Array(count);
  for (let file = 0; file < count; file++) {
    const path = files.pathOf(file);
    tierOfFile[file] = docTier(path, attributes.of(path));
    isFileTooLarge[file] = filter.isTooLarge(path, files.sizeOf(file)) ? 1 : 0;
  }
  const fileIndexes = orderByTier(tierOfFile);
  const [tiers, areTooLarge] = [new Uint8Array(count), new Uint8Array(count)];
  for (const [doc, file] of fileIndexes.entries()) {
    tiers[doc] = tierOfFile[file]!;
    areTooLarge[doc] = isFileTooLarge[file]!;
  }
  return { files, fileIndexes, tiers, areTooLarge };
}

function orderByTier(tierOfFile: Uint8Array): Uint32Array {
  const order = new Uint32Array(tierOfFile.length);
  let count = 0;
  for (let tier = 0; count < order.length; tier++)
    for (let file = 0; file < order.length; file++)
      if (tierOfFile[file] === tier) order[count++] = file;
  return order;
}

export function planShards(docs: PlannedDocs, segmentsPerShard: number): PlannedShard[] {
  const count = docs.fileIndexes.length;
  let total = 0;
  for (let doc = 0; doc < count; doc++) total += blocksOf(docs, doc);
  const shardCount = Math.max(1, Math.ceil(total / (segmentsPerShard * BATCH_BLOCKS)));
  const blocksPerShard = Math.max(total / shardCount, BATCH_BLOCKS);
  const shards: PlannedShard[] = [];
  let start = 0;
  while (start < count || shards.length === 0) {
    const shard = planShard(docs, start, blocksPerShard);
    shards.push(shard);
    start = shard.docEnd;
  }
  return shards;
}

export function sizeToRead({ files, fileIndexes, areTooLarge }: PlannedDocs, doc: number): number {
  return areTooLarge[doc] === 1 ? 0 : files.sizeOf(fileIndexes[doc]!);
}

/**
 * Estimated blocks of docs with this total size of contents. Measured: 2026-11-21, Linux 6.1: a block holds 3,558 bytes on
 * average; a file wastes half a block.
 */
export function blocksFor(docCount: number, size: number): number {
  return size / 3850 + docCount * 0.6;
}

function blocksOf(docs: PlannedDocs, doc: number): number {
  return docs.areTooLarge[doc] === 1 ? 0 : blocksFor(1, sizeToRead(docs, doc));
}

function planShard(docs: PlannedDocs, docStart: number, blocksPerShard: number): PlannedShard {
  const count = docs.fileIndexes.length;
  const batches: PlannedBatch[] = [];
  let batchStart = docStart;
  let readCount = 0;
  let batchBlocks = 0;
  let blocks = 0;
  let bytes = 0;
  let doc = docStart;
  for (; doc < count; doc++) {
    const docBlocks = blocksOf(docs, doc);
    const size = sizeToRead(docs, doc);
    const isFull =
      blocks + docBlocks > blocksPerShard * 1.01 ||
      bytes + size > 1000 << 20 ||
      doc - docStart >= 1 << 20;
    if (isFull && doc > docStart) break;
    if (readCount > 0 && batchBlocks + docBlocks > BATCH_BLOCKS) closeBatch();
    if (docs.areTooLarge[doc] === 0) readCount++;
    batchBlocks += docBlocks;
    blocks += docBlocks;
    bytes += size;
  }
  closeBatch();
  return { docStart, docEnd: doc, batches };

  function closeBatch(): void {
    if (readCount > 0) batches.push({ docStart: batchStart, docEnd: doc });
    batchStart = doc;
    readCount = 0;
    batchBlocks = 0;
  }
}
