// The shard that the match tree is bound to, the counts of binding, and bitmaps of its docs.

import { Arena, arenaAlloc } from '../base/arena.ts';
import { STATUS_OK, STATUS_OUT_OF_MEMORY, STATUS_STOPPED } from '../shared/status.ts';
import { blobAt, docAt } from '../shard/open.ts';
import { ShardView } from '../shard/view.ts';
import { BITMAP_SIZE, NONE_ID, PATH_ROW_SIZE_MAX, SEGMENT_BLOCKS } from '../shared/format.ts';
import { setBit } from '../base/bits.ts';

export let boundView: ShardView = changetype<ShardView>(0);
/** Bytes of a bitmap of the bound shard's blocks: whole segments, so that frames can be copied. */
export let blockBitmapSize: usize = 0;
/** Its segments, a bit each: a damaged list may contain others. */
export let boundSegments: u32 = 0;
/** The groups of docs whose paths are scanned, a bit each (shard/path-grams.ts). */
export const boundGroups = memory.data(128, 16);
if (PATH_ROW_SIZE_MAX > 128) ERROR('boundGroups: size');
/** The docs that binding is restricted to, a bitmap; 0: all. */
export let restrictedDocs: usize = 0;
/** A bitmap with all blocks of restrictedDocs; 0: each doc is tested for its blocks. */
export let boundBlocks: usize = 0;
export let indexBytes: f64 = 0;
/** Runs of regular expressions on paths while binding. */
export let regexRuns: u32 = 0;
export let failStatus: i32 = 0;

/** What binding does once a literal has many blocks: nothing, it is noted, or binding also ends. */
export const MANY_IGNORED: u32 = 0;
export const MANY_NOTED: u32 = 1;
export const MANY_ENDS: u32 = 2;
let atManyBlocks: u32 = MANY_IGNORED;
let manyBlocks: u32 = 0;
/** The leaf whose blocks are counted, and whether it is being bound. */
let countedLeaf: usize = 0;
let isCountedLeaf: bool = false;
/** The number of first segments in which that leaf has many blocks; 0: it has not that many. */
export let partSegments: u32 = 0;

/** The result of a subtree for docs: none, all, or those in a bitmap. */
export const NO_DOCS: usize = 1;
export const ALL_DOCS: usize = 2;

/**
 * The sets named by DOCS nodes: u32 each, NO_DOCS, ALL_DOCS, or the address of a constant bitmap.
 */
export let docSets: usize = 0;
export let docSetCount: u32 = 0;

export function useDocSets(table: usize, count: u32): void {
  docSets = table;
  docSetCount = count;
}

export function beginBinding(view: ShardView): void {
  rebind(view);
  indexBytes = 0;
  regexRuns = 0;
  failStatus = STATUS_OK;
  atManyBlocks = MANY_IGNORED;
  partSegments = 0;
}

/** @param action  MANY_* @param blocks  so many in the first half of a shard are many @param leaf  counted */
export function setManyBlocksAction(action: u32, blocks: u32, leaf: usize): void {
  atManyBlocks = action;
  manyBlocks = blocks;
  countedLeaf = leaf;
}

/** To be called before each node is bound. */
@inline
export function enterNode(node: usize): void {
  isCountedLeaf = node == countedLeaf;
}

/** The blocks of the node that is being bound do not count from here on. */
export function stopCounting(): void {
  isCountedLeaf = false;
}

/** A larger part is often wasted: the whole shard must then be bound as well. */
const PART_DIVISOR: u32 = 2;

@inline
export function areBlocksCounted(): bool {
  return atManyBlocks != MANY_IGNORED && isCountedLeaf && partSegments == 0;
}

/** To be called with the number of a literal's blocks up to the end of `segment`. */
export function noteBlocks(count: u32, segment: u32): void {
  const end = (segment + 1) * SEGMENT_BLOCKS;
  if (count < manyBlocks || end * PART_DIVISOR > boundView.blockCount) return;
  partSegments = segment + 1;
  if (atManyBlocks == MANY_ENDS) failBinding(STATUS_STOPPED);
}

/** As noteBlocks, if these segments were found to have many. */
export function setPartSegments(segments: u32): void {
  if (areBlocksCounted()) partSegments = segments;
}

/** Makes the shard of a kept binding the bound one again. */
export function rebind(view: ShardView): void {
  boundView = view;
  restrictedDocs = 0;
  boundBlocks = 0;
  const segmentCount = max(1, (view.blockCount + SEGMENT_BLOCKS - 1) / SEGMENT_BLOCKS);
  blockBitmapSize = <usize>segmentCount * BITMAP_SIZE;
  boundSegments = <u32>(((<u64>1) << segmentCount) - 1);
  memory.fill(boundGroups, 0xff, PATH_ROW_SIZE_MAX);
}

/** Restricts binding to some docs, a bitmap, and the segments with their contents, a bit each. */
export function restrictTo(docs: usize, segments: u32): void {
  restrictedDocs = docs;
  boundSegments &= segments;
  memory.fill(boundGroups, 0, PATH_ROW_SIZE_MAX);
  for (let offset: usize = 0; offset < docBitmapSize(); offset += 8) {
    // A group has a multiple of 64 docs.
    if (load<u64>(docs + offset) != 0)
      setBit(boundGroups, (<u32>offset << 3) >> boundView.pathGroupShift);
  }
}

/** From here on lists are read only in some segments, a bit each. Returns what widenSegments takes. */
export function narrowSegments(segments: u32): u32 {
  const before = boundSegments;
  boundSegments &= segments;
  return before;
}

/** Ends narrowSegments. */
export function widenSegments(before: u32): void {
  boundSegments = before;
}

/** To be called after restrictTo. @param blocks  a bitmap with all blocks of these docs */
export function restrictToBlocks(blocks: usize): void {
  boundBlocks = blocks;
}

/** Whether binding is restricted to docs, each of which is tested for its blocks. */
@inline
export function isDocByDoc(): bool {
  return restrictedDocs != 0 && boundBlocks == 0;
}

/** The segments of the contents of some docs, a bitmap; a bit each. */
export function segmentsOf(docs: usize): u32 {
  let segments: u32 = 0;
  for (let offset: usize = 0; offset < docBitmapSize(); offset += 8) {
    for (let word = load<u64>(docs + offset); word != 0; word &= word - 1) {
      const docId = (<u32>offset << 3) + <u32>ctz(word);
      const blobId = docAt(boundView, docId).blobId;
      if (blobId == NONE_ID) continue;
      const blob = blobAt(boundView, blobId);
      const end = (blob.firstBlock + max(blob.blockCount, 1) - 1) / SEGMENT_BLOCKS;
      for (let segment = blob.firstBlock / SEGMENT_BLOCKS; segment <= end; segment++)
        segments |= 1 << segment;
    }
  }
  return segments;
}

/** The first doc from `docId` on that binding is restricted to; docCount or more: there is none. */
export function nextBoundDoc(docId: u32): u32 {
  if (restrictedDocs == 0) return docId;
  let offset = <usize>(docId >> 6) << 3;
  if (offset >= docBitmapSize()) return boundView.docCount;
  let word = load<u64>(restrictedDocs + offset) & (~(<u64>0) << (docId & 63));
  while (word == 0) {
    offset += 8;
    if (offset >= docBitmapSize()) return boundView.docCount;
    word = load<u64>(restrictedDocs + offset);
  }
  return (<u32>offset << 3) + <u32>ctz(word);
}

export function failBinding(status: i32): void {
  if (failStatus == STATUS_OK) failStatus = status;
}

export function countIndexBytes(bytes: u32): void {
  indexBytes += bytes;
}

export function countRegexRuns(count: u32): void {
  regexRuns += count;
}

@inline
export function docBitmapSize(): usize {
  return docBitmapSizeOf(boundView);
}

/** Bytes of a bitmap of the docs of a shard. */
@inline
export function docBitmapSizeOf(view: ShardView): usize {
  return ((<usize>view.docCount + 127) >> 7) << 4;
}

/** An empty bitmap of docs; 0, with failStatus set, if the arena is full. */
export function newDocBitmap(arena: Arena): usize {
  const bitmap = arenaAlloc(arena, docBitmapSize() + 16, 16);
  if (bitmap == 0) failBinding(STATUS_OUT_OF_MEMORY);
  else memory.fill(bitmap, 0, docBitmapSize() + 16);
  return bitmap;
}

export function intersectBitmaps(target: usize, other: usize, size: usize): void {
  for (let i: usize = 0; i < size; i += 16) {
    v128.store(target + i, v128.and(v128.load(target + i), v128.load(other + i)));
  }
}

export function uniteBitmaps(target: usize, other: usize, size: usize): void {
  for (let i: usize = 0; i < size; i += 16) {
    v128.store(target + i, v128.or(v128.load(target + i), v128.load(other + i)));
  }
}

/** Whether no bit of `size` bytes, a multiple of 8, is set. */
export function isEmptyBitmap(bitmap: usize, size: usize): bool {
  let any: u64 = 0;
  for (let i: usize = 0; i < size; i += 8) any |= load<u64>(bitmap + i);
  return any == 0;
}

export function addDocsOfBlob(docs: usize, blobId: u32): void {
  addDocsFrom(docs, blobAt(boundView, blobId).firstDoc);
}

/** Adds a doc and the later ones of its blob. */
@inline
export function addDocsFrom(docs: usize, first: u32): void {
  // Bound: the chain ascends (checked by openShard), so it ends.
  for (let docId = first; docId != NONE_ID; docId = docAt(boundView, docId).nextDoc)
    setBit(docs, docId);
}
