// Builds the segments of one batch of blobs: cuts contents into blocks, collects their grams,
// encodes posting frames. The host places contents back to back, adds them, and writes the output:
// segments, block rows, blob rows. merge.ts joins segments. All memory is laid out once.
//
// A segment in memory and in its temporary file:
//   u64 sum of its postings (posting-sum.ts) | u32 gramCount | u32 keys[gramCount] |
//   u16 heads[gramCount], padded to 4 | frames back to back

import * as format from '../shared/format.ts';
import {
  STATUS_OK,
  STATUS_OUT_OF_MEMORY,
  STATUS_SEGMENTS_FULL,
  STATUS_TOO_MANY_TRIGRAMS,
} from '../shared/status.ts';
import { findByte, findLastByte, countByte } from '../scan/newlines.ts';
import { markBlock } from '../text/case-marks.ts';
import { isAscii, markSize } from '../text/utf8.ts';
import { KEY_SET_SIZE, clearKeys, extractKeys, isMiddleNewline } from './extract.ts';
import { encodeFrame, frameSize } from './frame.ts';
import { hashPosting } from './posting-sum.ts';
import { BlobRow, BlockRow } from './rows.ts';

/** Keys of one segment; pages are touched only as far as they are used. */
const KEY_CAPACITY: u32 = 40 << 20;
/** BlockIds and blobs that a batch can have. */
const BLOCK_CAPACITY: u32 = format.SEGMENT_BLOCKS * format.SEGMENT_COUNT_MAX;
const BLOB_CAPACITY: u32 = 65536;
export const SEGMENT_HEAD_SIZE: usize = 12;
/** Room that one frame may need while it is written. */
const FRAME_SIZE_MAX: usize = 2048;

// The tables, laid out once over the memory of builderInit, in this order. Those of the open segment
// are rewritten for each segment; rows, marks and output collect for the batch.
//
//   keySet         256 KiB   a bit for each key of the current block; zeros between calls
//   keyCounts        8 MiB   u32 for each key: its blocks, then the end of its ids (closeSegment)
//   keys           160 MiB   u32 keys of the open segment, block by block, as extracted (to keysEnd)
//   blockKeyEnds    32 KiB   u32 for each block of the open segment: end of its keys
//   idsByKey        80 MiB   u16 blocks of the segment, sorted by key
//   blockRows        3 MiB   BlockRow for each blockId of the batch
//   blobRows       1.5 MiB   BlobRow for each blob of the batch
//   caseMarks        8 MiB   CASE_MARKS_SIZE bytes for each blockId
//   segmentEnds      128 B    u32 for each closed segment: its end in the output
//   output         the rest  closed segments, each at a multiple of 8 (to outputEnd)
let keySet: usize = 0;
let keyCounts: usize = 0;
let keys: usize = 0;
let keysEnd: usize = 0;
let blockKeyEnds: usize = 0;
let idsByKey: usize = 0;
export let blockRows: usize = 0;
export let blobRows: usize = 0;
export let caseMarks: usize = 0;
export let output: usize = 0;
let outputEnd: usize = 0;
let outputLimit: usize = 0;
let segmentEnds: usize = 0;

// Counts of the batch, final after builderClose: bytes of content; blobs; blockIds, unused ones included, a multiple of
// SEGMENT_BLOCKS; closed segments.
export let contentSize: u32 = 0;
export let blobCount: u32 = 0;
export let blockCount: u32 = 0;
export let segmentCount: u32 = 0;
let segmentBlockCount: u32 = 0;
let postingSum: u64 = 0;

/**
 * Lays out [start, end), which need not be zeros; contents are elsewhere. Errors:
 * STATUS_OUT_OF_MEMORY if it is too small.
 */
export function builderInit(start: usize, end: usize): i32 {
  keySet = (start + 15) & ~15;
  keyCounts = keySet + KEY_SET_SIZE;
  keys = keyCounts + <usize>format.GRAM_KEY_COUNT * 4;
  blockKeyEnds = keys + <usize>KEY_CAPACITY * 4;
  idsByKey = blockKeyEnds + <usize>format.SEGMENT_BLOCKS * 4;
  blockRows = idsByKey + <usize>KEY_CAPACITY * 2;
  blobRows = blockRows + <usize>BLOCK_CAPACITY * format.BLOCK_ROW_SIZE;
  caseMarks = (blobRows + <usize>BLOB_CAPACITY * format.BLOB_ROW_SIZE + 15) & ~15;
  segmentEnds = caseMarks + <usize>BLOCK_CAPACITY * format.CASE_MARKS_SIZE;
  output = (segmentEnds + format.SEGMENT_COUNT_MAX * 4 + 7) & ~7;
  outputLimit = end;
  if (output + (16 << 20) > end) return STATUS_OUT_OF_MEMORY;
  memory.fill(keySet, 0, KEY_SET_SIZE);
  return STATUS_OK;
}

export function builderBegin(): void {
  contentSize = 0;
  blobCount = 0;
  blockCount = 0;
  segmentCount = 0;
  segmentBlockCount = 0;
  keysEnd = keys;
  outputEnd = output;
}

/**
 * Adds the content at [start, start + size), size > 0, directly after the previous one. Cost:
 * linear, plus a pass over all keys for closing a segment every 32 MiB or so.
 * @param trigramMax  most distinct grams of the content; 0 = no limit
 * @returns STATUS_OK; STATUS_TOO_MANY_TRIGRAMS, STATUS_SEGMENTS_FULL or STATUS_OUT_OF_MEMORY:
 * nothing was added, the batch can be finished without it
 */
export function builderAddBlob(start: usize, size: u32, trigramMax: u32): i32 {
  if (blobCount == BLOB_CAPACITY) return STATUS_OUT_OF_MEMORY;
  const end = start + size;
  const count = countBlocks(start, end);
  const keysSize = (<usize>size + count) * 4;
  if (segmentBlockCount > 0) {
    // A content that fits one segment is never split by the end of one, so that adding it can be
    // undone.
    const canFit =
      segmentBlockCount + count <= format.SEGMENT_BLOCKS && keysEnd + keysSize <= blockKeyEnds;
    const status = canFit ? STATUS_OK : closeSegment(contentSize);
    if (status != STATUS_OK) return status;
  }
  if (segmentCount + count / (format.SEGMENT_BLOCKS / 2) + 1 > format.SEGMENT_COUNT_MAX)
    return STATUS_SEGMENTS_FULL;
  // Why: adding a content across segments cannot be undone, so its grams are counted first.
  if (trigramMax > 0 && (count > format.SEGMENT_BLOCKS || keysSize > <usize>KEY_CAPACITY * 4)) {
    if (countDistinct(start, end) > trigramMax) return STATUS_TOO_MANY_TRIGRAMS;
    trigramMax = 0;
  }
  const keysBefore = keysEnd;
  const firstBlock = blockCount;
  const status = addBlocks(start, end);
  if (status != STATUS_OK) return status;
  if (trigramMax > 0 && isOverTrigramMax(keysBefore, trigramMax)) {
    // The next content overwrites rows and marks beyond the counts.
    keysEnd = keysBefore;
    segmentBlockCount -= count;
    blockCount -= count;
    return STATUS_TOO_MANY_TRIGRAMS;
  }
  writeBlobRow(start, size, firstBlock);
  return STATUS_OK;
}

function writeBlobRow(start: usize, size: u32, firstBlock: u32): void {
  const row = changetype<BlobRow>(blobRows + <usize>blobCount * format.BLOB_ROW_SIZE);
  row.contentOffset = contentSize;
  row.size = size;
  row.firstBlock = firstBlock;
  row.blockCount = blockCount - firstBlock;
  row.firstDoc = format.NONE_ID;
  row.flags = blobFlags(start, start + size);
  blobCount++;
  contentSize += size;
}

/** End of the block that starts at `start`: whole lines up to BLOCK_SIZE, or one longer line. */
function blockEnd(start: usize, end: usize): usize {
  if (end - start <= format.BLOCK_SIZE) return end;
  const limit = start + format.BLOCK_SIZE;
  const last = findLastByte(start, limit, 10);
  if (last < limit) return last + 1;
  const next = findByte(limit, end, 10);
  return next < end ? next + 1 : end;
}

function countBlocks(start: usize, end: usize): u32 {
  let count: u32 = 0;
  for (; start < end; count++) start = blockEnd(start, end);
  return count;
}

/** Distinct grams of a content; for contents that do not fit one segment. */
function countDistinct(start: usize, end: usize): u32 {
  const listEnd = extractKeys(start, end, keySet, keysEnd);
  clearKeys(keySet, keysEnd, listEnd);
  return <u32>((listEnd - keysEnd) >> 2);
}

/** Whether the keys from `list` on, listed block by block, have more distinct ones than trigramMax. */
function isOverTrigramMax(list: usize, trigramMax: u32): bool {
  if (<u32>((keysEnd - list) >> 2) <= trigramMax) return false;
  let distinct: u32 = 0;
  for (let ptr = list; ptr < keysEnd; ptr += 4) {
    const wordPtr = keySet + ((load<u32>(ptr) >> 5) << 2);
    const bit = <u32>1 << (load<u32>(ptr) & 31);
    const word = load<u32>(wordPtr);
    if ((word & bit) == 0) distinct++;
    store<u32>(wordPtr, word | bit);
  }
  clearKeys(keySet, list, keysEnd);
  return distinct > trigramMax;
}

function blobFlags(start: usize, end: usize): u32 {
  if (isAscii(start, end)) return 0;
  let flags: u32 = format.BLOB_FLAG_NON_ASCII;
  if (markSize(start, end) != 0) flags |= format.BLOB_FLAG_MARKED;
  // U+017F is C5 BF, U+212A is E2 84 AA.
  for (let ptr = findByte(start, end, 0xc5); ptr + 1 < end; ptr = findByte(ptr + 1, end, 0xc5)) {
    if (load<u8>(ptr, 1) == 0xbf) return flags | format.BLOB_FLAG_FOLDS_TO_ASCII;
  }
  for (let ptr = findByte(start, end, 0xe2); ptr + 2 < end; ptr = findByte(ptr + 1, end, 0xe2)) {
    if (load<u16>(ptr, 1) == 0xaa84) return flags | format.BLOB_FLAG_FOLDS_TO_ASCII;
  }
  return flags;
}

/**
 * Cuts a content into blocks with row, case marks and keys. A full segment is closed, so that a
 * large content may span several.
 */
function addBlocks(start: usize, end: usize): i32 {
  let line: u32 = 0;
  let blockStart = start;
  while (blockStart < end) {
    const next = blockEnd(blockStart, end);
    const offset = contentSize + <u32>(blockStart - start);
    const keysSize = min<usize>(next - blockStart + 1, format.GRAM_KEY_COUNT) * 4;
    if (segmentBlockCount == format.SEGMENT_BLOCKS || keysEnd + keysSize > blockKeyEnds) {
      const status = closeSegment(offset);
      if (status != STATUS_OK) return status;
    }
    markBlock(blockStart, next, caseMarks + <usize>blockCount * format.CASE_MARKS_SIZE);
    writeBlockRow(offset, blobCount, line);
    const listStart = keysEnd;
    keysEnd = extractKeys(blockStart, next, keySet, keysEnd);
    clearKeys(keySet, listStart, keysEnd);
    store<u32>(blockKeyEnds + (<usize>segmentBlockCount << 2), <u32>keysEnd);
    segmentBlockCount++;
    line += countByte(blockStart, next, 10);
    blockStart = next;
  }
  return STATUS_OK;
}

function writeBlockRow(contentOffset: u32, blobId: u32, line: u32): void {
  const row = changetype<BlockRow>(blockRows + <usize>blockCount * format.BLOCK_ROW_SIZE);
  row.contentOffset = contentOffset;
  row.blobId = blobId;
  row.line = line;
  blockCount++;
}

/** Encodes the open segment, and fills its unused blockIds with empty rows at `offset`. */
function closeSegment(offset: u32): i32 {
  if (segmentCount == format.SEGMENT_COUNT_MAX) return STATUS_SEGMENTS_FULL;
  const gramCount = sortIdsByKey();
  const keysSize = <usize>gramCount * 4 + ((<usize>gramCount * 2 + 3) & ~(<usize>3));
  const headSize = SEGMENT_HEAD_SIZE + keysSize;
  if (outputEnd + headSize + FRAME_SIZE_MAX > outputLimit) return STATUS_OUT_OF_MEMORY;
  const segmentEnd = encodeSegment(gramCount, outputEnd, outputEnd + headSize);
  if (segmentEnd == 0) return STATUS_OUT_OF_MEMORY;
  outputEnd = (segmentEnd + 7) & ~7;
  store<u32>(segmentEnds + (<usize>segmentCount << 2), <u32>outputEnd);
  for (; segmentBlockCount < format.SEGMENT_BLOCKS; segmentBlockCount++) {
    memory.fill(caseMarks + <usize>blockCount * format.CASE_MARKS_SIZE, 0, format.CASE_MARKS_SIZE);
    writeBlockRow(offset, format.NONE_ID, 0);
  }
  segmentCount++;
  segmentBlockCount = 0;
  keysEnd = keys;
  return STATUS_OK;
}

/**
 * Counting sort: the local blockIds of each key, in key order, into `idsByKey`; `keyCounts` then
 * has the end of each. Returns the number of keys that are indexed.
 */
function sortIdsByKey(): u32 {
  // 1. count each key
  memory.fill(keyCounts, 0, <usize>format.GRAM_KEY_COUNT * 4);
  for (let ptr = keys; ptr < keysEnd; ptr += 4) {
    const countPtr = keyCounts + (<usize>load<u32>(ptr) << 2);
    store<u32>(countPtr, load<u32>(countPtr) + 1);
  }
  // 2. compute the start of each key's ids
  let gramCount: u32 = 0;
  let next: u32 = 0;
  for (let key: u32 = 0; key < format.GRAM_KEY_COUNT; key++) {
    const countPtr = keyCounts + (<usize>key << 2);
    const count = load<u32>(countPtr);
    if (count == 0) continue;
    store<u32>(countPtr, next);
    next += count;
    if (!isMiddleNewline(key)) gramCount++;
  }
  // 3. place each id; blocks come in order, so the ids of a key ascend
  let ptr = keys;
  postingSum = 0;
  for (let block: u32 = 0; block < segmentBlockCount; block++) {
    const blockKeysEnd = <usize>load<u32>(blockKeyEnds + (<usize>block << 2));
    for (; ptr < blockKeysEnd; ptr += 4) {
      const key = load<u32>(ptr);
      if (!isMiddleNewline(key)) postingSum += hashPosting(key, block);
      const positionPtr = keyCounts + (<usize>key << 2);
      const position = load<u32>(positionPtr);
      store<u16>(idsByKey + (<usize>position << 1), <u16>block);
      store<u32>(positionPtr, position + 1);
    }
  }
  return gramCount;
}

/** Returns the end, 0 if the output is full. Keys, heads and frames are written to three places. */
function encodeSegment(gramCount: u32, headPtr: usize, framesPtr: usize): usize {
  store<u64>(headPtr, postingSum);
  store<u32>(headPtr, gramCount, 8);
  let keyPtr = headPtr + SEGMENT_HEAD_SIZE;
  let frameHeadPtr = keyPtr + (<usize>gramCount << 2);
  let framePtr = framesPtr;
  let idsStart: u32 = 0;
  for (let key: u32 = 0; key < format.GRAM_KEY_COUNT; key++) {
    const idsEnd = load<u32>(keyCounts + (<usize>key << 2));
    // 0: the key does not occur. Else the end of its ids, which start at the end of the previous
    // ones.
    if (idsEnd == 0) continue;
    const count = idsEnd - idsStart;
    const ids = idsByKey + (<usize>idsStart << 1);
    idsStart = idsEnd;
    if (isMiddleNewline(key)) continue;
    if (framePtr + FRAME_SIZE_MAX > outputLimit) return 0;
    const head = encodeFrame(ids, count, framePtr);
    store<u32>(keyPtr, key);
    store<u16>(frameHeadPtr, <u16>head);
    keyPtr += 4;
    frameHeadPtr += 2;
    framePtr += frameSize(head);
  }
  return framePtr;
}

/**
 * Ends the batch: shifts the rows to its position in the shard.
 * @param contentBase, blobBase, blockBase  content offset, blobId and blockId of the batch's first
 */
export function builderFinish(contentBase: u32, blobBase: u32, blockBase: u32): void {
  for (let i: u32 = 0; i < blobCount; i++) {
    const row = changetype<BlobRow>(blobRows + <usize>i * format.BLOB_ROW_SIZE);
    row.contentOffset += contentBase;
    row.firstBlock += blockBase;
  }
  for (let i: u32 = 0; i < blockCount; i++) {
    const row = changetype<BlockRow>(blockRows + <usize>i * format.BLOCK_ROW_SIZE);
    row.contentOffset += contentBase;
    if (row.blobId != format.NONE_ID) row.blobId += blobBase;
  }
}

/** All counts are final afterwards. Errors: STATUS_OUT_OF_MEMORY, STATUS_SEGMENTS_FULL. */
export function builderClose(): i32 {
  return segmentBlockCount > 0 ? closeSegment(contentSize) : STATUS_OK;
}

/** Address after a segment in memory, where the next one starts. Safety: index < segmentCount. */
export function builderSegmentEnd(index: u32): usize {
  return <usize>load<u32>(segmentEnds + (<usize>index << 2));
}
