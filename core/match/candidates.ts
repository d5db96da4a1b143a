// The docs of the bound shard to evaluate, cut into units of work: the same on every thread.

import { Arena, arenaAlloc } from '../base/arena.ts';
import { NONE_ID } from '../shared/format.ts';
import { UNIT_BYTES_MAX, UNIT_DOCS_MAX } from '../shared/plan.ts';
import { STATUS_OK, STATUS_OUT_OF_MEMORY } from '../shared/status.ts';
import { blobAt, docAt } from '../shard/open.ts';
import { prefetch } from '../shard/pages.ts';
import { clearBit, getBit, setBit } from '../base/bits.ts';
import { orderCandidates } from './candidate-order.ts';
import { ALL_DOCS, boundView, docBitmapSize, newDocBitmap, NO_DOCS } from './bound.ts';
import { contentLeafAt, contentLeaves, leafAt, slotLeaves } from './node.ts';

/** Guess: this many borders (match-starts.ts) cost as much as one block. */
const BORDERS_A_BLOCK: u32 = 16;

/** The candidate docs (u32); docs of one blob are adjacent. */
export let candidateDocs: usize = 0;
export let candidateDocCount: u32 = 0;
/** Estimated bytes of content to read for verifying them. */
export let candidateBytes: f64 = 0;
/** Candidates that are heads (heads.ts): the first ones, and the first unit. */
export let headCount: u32 = 0;
/** Candidates up to the end of the first part, where a unit ends; 0: there is none. */
let partEnd: u32 = 0;
/**
 * First candidate of each unit, u32, with one more element for the end.
 *
 *   candidateDocs  | 3 9 12 | 4 5 | 7 ...       9 and 12 have the content of 3: they stay together
 *   unitStarts     | 0 | 3 | 5 ...
 */
export let unitStarts: usize = 0;
export let unitCount: u32 = 0;

/** The candidates of a binding, to be kept or restored (bindings.ts). */
@unmanaged
export class Candidates {
  bytes: f64;
  docs: u32;
  docCount: u32;
  unitStarts: u32;
  unitCount: u32;
}

export function saveCandidates(out: Candidates): void {
  out.bytes = candidateBytes;
  out.docs = <u32>candidateDocs;
  out.docCount = candidateDocCount;
  out.unitStarts = <u32>unitStarts;
  out.unitCount = unitCount;
}

export function restoreCandidates(saved: Candidates): void {
  candidateBytes = saved.bytes;
  candidateDocs = saved.docs;
  candidateDocCount = saved.docCount;
  unitStarts = saved.unitStarts;
  unitCount = saved.unitCount;
}

/** Bound: 10 us each; further heads of a shard are ordinary candidates. */
const HEADS_MAX: u32 = 24;

/**
 * Lists the candidate docs, those of one blob together: heads, those of the first part
 * (first-part.ts), those that may score best (candidate-order.ts), the others.
 * Errors: STATUS_OUT_OF_MEMORY.
 * @param verdict  NO_DOCS, ALL_DOCS, or a bitmap of docs, which is not changed
 * @param nameHeads  0, or a bitmap of those of `heads` that come first
 * @param heads  0, or a bitmap of docs; with a doc it has all of the same content
 * @param part  0, or such a bitmap of the first part
 * @param isOfAll  false: only heads and part are listed
 */
export function collectCandidates(
  arena: Arena,
  verdict: usize,
  nameHeads: usize,
  heads: usize,
  part: usize,
  isOfAll: bool,
): i32 {
  candidateDocCount = 0;
  headCount = 0;
  partEnd = 0;
  candidateDocs = 0;
  if (verdict == NO_DOCS) return STATUS_OK;
  candidateDocs = arenaAlloc(arena, <usize>boundView.docCount * 4 + 4, 8);
  if (candidateDocs == 0) return STATUS_OUT_OF_MEMORY;
  // A copy: listing a doc removes it and the docs with the same blob.
  const remaining = newDocBitmap(arena);
  if (remaining == 0) return STATUS_OUT_OF_MEMORY;
  if (verdict != ALL_DOCS) memory.copy(remaining, verdict, docBitmapSize());
  else for (let docId: u32 = 0; docId < boundView.docCount; docId++) setBit(remaining, docId);
  if (nameHeads != 0) listDocs(remaining, nameHeads, HEADS_MAX);
  if (heads != 0) listDocs(remaining, heads, HEADS_MAX);
  headCount = candidateDocCount;
  if (part != 0) {
    listDocs(remaining, part, 0xffffffff);
    partEnd = candidateDocCount;
  }
  if (!isOfAll) return STATUS_OK;
  listDocs(remaining, remaining, 0xffffffff);
  return orderCandidates(
    arena,
    candidateDocs + (<usize>headCount << 2),
    candidateDocCount - headCount,
  );
}

/**
 * Moves the docs of `remaining` that are in `selection` to the list, up to `most` plus docs of the
 * same content.
 */
function listDocs(remaining: usize, selection: usize, most: u32): void {
  const words = <u32>(docBitmapSize() >> 3);
  for (let wordIndex: u32 = 0; wordIndex < words; wordIndex++) {
    const wordPtr = remaining + (<usize>wordIndex << 3);
    const mask = load<u64>(selection + (<usize>wordIndex << 3));
    for (let word = load<u64>(wordPtr) & mask; word != 0; word = load<u64>(wordPtr) & mask) {
      if (candidateDocCount >= most) return;
      const docId = wordIndex * 64 + <u32>ctz(word);
      store<u64>(wordPtr, load<u64>(wordPtr) & ~(word & (0 - word)));
      addCandidate(docId);
      addDocsOfSameBlob(remaining, docId);
    }
  }
}

/** Safety: there is room for every doc of the shard. */
@inline
function addCandidate(docId: u32): void {
  store<u32>(candidateDocs + (<usize>candidateDocCount << 2), docId);
  candidateDocCount++;
}

/** Lists the later docs with the same blob in `remaining`. */
function addDocsOfSameBlob(remaining: usize, docId: u32): void {
  for (
    let next = docAt(boundView, docId).nextDoc;
    next != NONE_ID;
    next = docAt(boundView, next).nextDoc
  ) {
    if (getBit(remaining, next) == 0) continue;
    clearBit(remaining, next);
    addCandidate(next);
  }
}

/**
 * Of a plan with one leaf the first units behind the heads have a quarter and half of the bytes: most
 * searches have a low limit. With several leaves the answers would be worse (DECISIONS.md).
 */
const FIRST_UNITS_SHIFT: u32 = 2;

/**
 * Units have at most UNIT_DOCS_MAX docs and about UNIT_BYTES_MAX bytes, the first ones less
 * (FIRST_UNITS_SHIFT); more bytes if the first doc has more, more docs if they share the last one's
 * content. Errors: STATUS_OUT_OF_MEMORY.
 */
export function cutUnits(arena: Arena): i32 {
  unitCount = 0;
  candidateBytes = 0;
  unitStarts = arenaAlloc(arena, (<usize>candidateDocCount + 2) * 4, 8);
  if (unitStarts == 0) return STATUS_OUT_OF_MEMORY;
  let docs: u32 = 0;
  let bytes: u32 = 0;
  let bytesMax: u32 = UNIT_BYTES_MAX;
  let previousBlob: u32 = NONE_ID;
  for (let i: u32 = 0; i < candidateDocCount; i++) {
    const blobId = docAt(boundView, load<u32>(candidateDocs + (<usize>i << 2))).blobId;
    const isSameBlob = blobId != NONE_ID && blobId == previousBlob;
    const size = blobId == NONE_ID || isSameBlob ? 0 : bytesToVerify(blobId);
    const isFull = docs >= UNIT_DOCS_MAX || bytes + size > bytesMax;
    const isStart = i == 0 || i == headCount || i == partEnd;
    if (isStart || (i > headCount && isFull && !isSameBlob)) {
      store<u32>(unitStarts + (<usize>unitCount << 2), i);
      unitCount++;
      const before = headCount > 0 ? max(unitCount, 2) - 2 : unitCount - 1;
      if (slotLeaves.count == 1)
        bytesMax = UNIT_BYTES_MAX >> (FIRST_UNITS_SHIFT - min(before, FIRST_UNITS_SHIFT));
      docs = 0;
      bytes = 0;
    }
    docs++;
    bytes += size;
    candidateBytes += size;
    previousBlob = blobId;
  }
  store<u32>(unitStarts + (<usize>unitCount << 2), candidateDocCount);
  return STATUS_OK;
}

/** A unit is read ahead by this many; other threads work on those between. */
const UNITS_AHEAD: u32 = 2;
/** Guess: above this share of the content, reading all is faster than random reads of pages. */
const SCAN_SHARE: f64 = 8;
/** Bound: a unit's contents may lie far apart. */
const SPAN_MAX: usize = 8 * <usize>UNIT_BYTES_MAX;

/**
 * Has the system read ahead what a unit reads: for mapped shards it reads single pages
 * (daemon/engine/host/mapping.ts). Measured: without it a scan of cold contents took twice as long.
 */
export function prefetchUnits(unit: u32): void {
  if (candidateBytes * SCAN_SHARE < <f64>boundView.contentSize) return;
  if (unit < UNITS_AHEAD) prefetchUnit(unit);
  if (unit + UNITS_AHEAD < unitCount) prefetchUnit(unit + UNITS_AHEAD);
}

function prefetchUnit(unit: u32): void {
  const firstDoc = load<u32>(unitStarts + (<usize>unit << 2));
  const endDoc = load<u32>(unitStarts + (<usize>unit << 2), 4);
  let start = <usize>boundView.postings;
  let end: usize = 0;
  for (let i = firstDoc; i < endDoc; i++) {
    const blobId = docAt(boundView, load<u32>(candidateDocs + (<usize>i << 2))).blobId;
    if (blobId == NONE_ID) continue;
    const blob = blobAt(boundView, blobId);
    const blobStart = <usize>boundView.content + blob.contentOffset;
    start = min(start, blobStart);
    end = max(end, blobStart + blob.size);
  }
  if (end > start && end - start <= SPAN_MAX) prefetch(start, end);
}

/**
 * Estimated bytes to read of a blob: the blocks that a leaf searches, of the leaf with the most. Of a
 * plan with one leaf with ranges only that one counts: whether others are bound may depend on docs
 * outside the first part, where units must be the same.
 */
function bytesToVerify(blobId: u32): u32 {
  const blob = blobAt(boundView, blobId);
  const isLone = slotLeaves.count == 1;
  let most: u32 = 0;
  for (let i: u32 = 0; i < contentLeaves.count; i++) {
    const node = contentLeafAt(i);
    if (node.ruledOut || (isLone && changetype<usize>(node) != changetype<usize>(leafAt(slotLeaves, 0)))) continue;
    const bitmap = node.starts != 0 ? node.starts : node.bitmap;
    if (bitmap == 0) return blob.size;
    let count = countBlocksIn(bitmap, blob.firstBlock, blob.blockCount);
    if (node.borders != 0) {
      // Most borders are excluded by their last bytes.
      const borders = countBlocksIn(node.borders, blob.firstBlock, blob.blockCount);
      count -= borders - (borders + BORDERS_A_BLOCK - 1) / BORDERS_A_BLOCK;
    }
    most = max(most, count);
  }
  return min(blob.size, most * (blob.size / blob.blockCount + 1));
}

function countBlocksIn(bitmap: usize, first: u32, count: u32): u32 {
  let found: u32 = 0;
  for (let blockId = first; blockId < first + count; blockId++) {
    found += getBit(bitmap, blockId);
  }
  return found;
}

/** Number of blocks of candidate docs whose grams a looked-up literal or expression requires; 0 if none was looked up. */
export function countCandidateBlocks(): f64 {
  let count: f64 = 0;
  let previousBlob: u32 = NONE_ID;
  for (let i: u32 = 0; i < candidateDocCount; i++) {
    const blobId = docAt(boundView, load<u32>(candidateDocs + (<usize>i << 2))).blobId;
    if (blobId == NONE_ID || blobId == previousBlob) continue;
    previousBlob = blobId;
    const blob = blobAt(boundView, blobId);
    for (let blockId = blob.firstBlock; blockId < blob.firstBlock + blob.blockCount; blockId++) {
      if (isCandidateBlock(blockId)) count++;
    }
  }
  return count;
}

/** Whether the block is a candidate of a literal or expression that was looked up. */
function isCandidateBlock(blockId: u32): bool {
  for (let i: u32 = 0; i < contentLeaves.count; i++) {
    const node = contentLeafAt(i);
    if (node.ruledOut || node.isUnlisted) continue;
    const bitmap = <usize>node.bitmap;
    if (bitmap != 0 && getBit(bitmap, blockId) != 0) return true;
  }
  return false;
}
