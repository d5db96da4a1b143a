// The full check of an open shard, beyond openShard: all checksums, lines and cuts of all blocks,
// and every posting against its content. Slow by design. Works in bounded steps.

import * as format from '../shared/format.ts';
import {
  STATUS_CASE_MARKS,
  STATUS_CONTENT,
  STATUS_GRAM_KEYS,
  STATUS_OK,
  STATUS_PAGE_SUM,
  STATUS_FRAME,
  STATUS_SECTION_CHECKSUM,
} from '../shared/status.ts';
import { xxh64 } from '../base/xxh64.ts';
import { countByte } from '../scan/newlines.ts';
import { markBlock } from '../text/case-marks.ts';
import { isAscii, markSize } from '../text/utf8.ts';
import { clearKeys, extractKeys, isMiddleNewline, KEY_SET_SIZE } from './extract.ts';
import { listMask, readSegment } from './lists.ts';
import { findDamagedPage } from './pages.ts';
import { hashPosting } from './posting-sum.ts';
import { blobAt, blockAt, docAt, sectionRow } from './open.ts';
import { pathGramsBuild, pathKeyCount, pathKeys, pathRows, pathRowSize } from './path-grams.ts';
import { ShardView } from './view.ts';

/** Section, block or gram in which the last check failed. */
export let failIndex: u32 = 0;

function fail(status: i32, index: u32): i32 {
  failIndex = index;
  return status;
}

/** Checks the checksum of every section, and the sums of all pages. */
export function verifyChecksums(view: ShardView): i32 {
  for (let kind: u32 = 1; kind <= format.SECTION_COUNT; kind++) {
    const row = sectionRow(view.base, kind);
    if (xxh64(<usize>view.base + row.start, row.size) != row.checksum) {
      return fail(STATUS_SECTION_CHECKSUM, kind);
    }
  }
  const damaged = findDamagedPage(view.base, format.HEADER_SIZE, view.pageSums);
  return damaged == 0xffffffff ? STATUS_OK : fail(STATUS_PAGE_SUM, damaged);
}

/**
 * Checks the grams of paths by building them again. @param scratch  a multiple of 16; room for 4
 * bytes a doc, and for pathGramsBuild
 */
export function verifyPathGrams(view: ShardView, scratch: usize): i32 {
  for (let docId: u32 = 0; docId < view.docCount; docId++) {
    const doc = docAt(view, docId);
    store<u32>(scratch + (<usize>docId << 2), doc.pathOffset + doc.pathSize);
  }
  const build = (scratch + (<usize>view.docCount << 2) + 15) & ~15;
  pathGramsBuild(view.paths, scratch, view.docCount, build);
  const isSame =
    pathKeyCount == view.pathGramCount &&
    pathRowSize == view.pathRowSize &&
    memory.compare(pathKeys, view.pathGramKeys, <usize>pathKeyCount << 2) == 0 &&
    memory.compare(pathRows, view.pathGramRows, <usize>pathKeyCount * pathRowSize) == 0;
  return isSame ? STATUS_OK : fail(STATUS_GRAM_KEYS, format.SECTION_PATH_GRAM_ROWS);
}

/** Room for the keys of a block, which may be all. */
const KEYS_SIZE: usize = <usize>format.GRAM_KEY_COUNT * 4 + 64;

/** Bytes of scratch memory for verifySegment: a set and a list of keys, and a bitmap. */
export function verifyScratchSize(): usize {
  return KEY_SET_SIZE + KEYS_SIZE + format.BITMAP_SIZE + format.CASE_MARKS_SIZE;
}

/**
 * Whether the postings of a segment have this sum (posting-sum.ts). Reads no content. @param
 * scratch  BITMAP_SIZE bytes
 */
export function verifySegmentSum(view: ShardView, segment: u32, sum: u64, scratch: usize): i32 {
  const status = sumPostings(view, segment, scratch);
  if (status != STATUS_OK) return status;
  return postingSum == sum ? STATUS_OK : fail(STATUS_FRAME, segment * format.SEGMENT_BLOCKS);
}

/**
 * Checks one segment: cuts and lines of its blocks, flags of the blobs that begin in it, and that
 * its postings and case marks are exactly those of its blocks. Reads about 32 MiB.
 * @param scratch  verifyScratchSize bytes: set of keys, keys of a block, bitmap, marks
 */
export function verifySegment(view: ShardView, segment: u32, scratch: usize): i32 {
  const first = segment * format.SEGMENT_BLOCKS;
  const end = min(first + format.SEGMENT_BLOCKS, view.blockCount);
  memory.fill(scratch, 0, KEY_SET_SIZE);
  const keys = scratch + KEY_SET_SIZE;
  const bitmap = keys + KEYS_SIZE;
  const marks = bitmap + format.BITMAP_SIZE;
  let contentSum: u64 = 0;
  for (let blockId = first; blockId < end; blockId++) {
    const row = blockAt(view, blockId);
    if (row.blobId == format.NONE_ID) continue;
    const start = <usize>view.content + row.contentOffset;
    const stop = <usize>view.content + blockAt(view, blockId + 1).contentOffset;
    if (!isBlockValid(view, blockId, start, stop)) return fail(STATUS_CONTENT, blockId);
    if (!areMarksValid(view, blockId, start, stop, marks)) return fail(STATUS_CASE_MARKS, blockId);
    const keysEnd = extractKeys(start, stop, scratch, keys);
    for (let ptr = keys; ptr < keysEnd; ptr += 4) {
      const key = load<u32>(ptr);
      if (!isMiddleNewline(key)) contentSum += hashPosting(key, blockId - first);
    }
    clearKeys(scratch, keys, keysEnd);
  }
  const status = sumPostings(view, segment, bitmap);
  if (status != STATUS_OK) return status;
  return postingSum == contentSum ? STATUS_OK : fail(STATUS_FRAME, first);
}

/** Whether a block begins at a line's start, with a line number that follows from the newlines before. */
function isBlockValid(view: ShardView, blockId: u32, start: usize, stop: usize): bool {
  const row = blockAt(view, blockId);
  if (stop <= start) return false;
  const blob = blobAt(view, row.blobId);
  if (blockId == blob.firstBlock) {
    const blobStart = <usize>view.content + blob.contentOffset;
    const hasFlag = (blob.flags & format.BLOB_FLAG_NON_ASCII) != 0;
    if (row.line != 0 || isAscii(blobStart, blobStart + blob.size) == hasFlag) return false;
    const isMarked = (blob.flags & format.BLOB_FLAG_MARKED) != 0;
    if (isMarked && markSize(blobStart, blobStart + blob.size) == 0) return false;
  } else if (load<u8>(start - 1) != 10) return false;
  if (blockId + 1 == blob.firstBlock + blob.blockCount) return true;
  const next = blockAt(view, blockId + 1);
  return next.blobId == format.NONE_ID || next.line == row.line + countByte(start, stop, 10);
}

/** Whether the block's case marks match its bytes; `scratch` has room for marks. */
function areMarksValid(
  view: ShardView,
  blockId: u32,
  start: usize,
  stop: usize,
  scratch: usize,
): bool {
  markBlock(start, stop, scratch);
  return (
    memory.compare(
      scratch,
      <usize>view.caseMarks + <usize>blockId * format.CASE_MARKS_SIZE,
      format.CASE_MARKS_SIZE,
    ) == 0
  );
}

/** Sum of the postings decoded by sumPostings. */
let postingSum: u64 = 0;

/** Decodes the frames of all grams in the segment. Why a sum: it needs no two sets of postings. */
function sumPostings(view: ShardView, segment: u32, bitmap: usize): i32 {
  postingSum = 0;
  for (let gram: u32 = 0; gram < view.gramCount; gram++) {
    if ((listMask(view, gram) & (<u32>1 << segment)) == 0) continue;
    memory.fill(bitmap, 0, format.BITMAP_SIZE);
    if (readSegment(view, gram, segment, bitmap) != STATUS_OK) return fail(STATUS_FRAME, gram);
    const key = load<u32>(<usize>view.gramKeys + (<usize>gram << 2));
    for (let i: u32 = 0; i < format.SEGMENT_BLOCKS / 64; i++) {
      for (let word = load<u64>(bitmap + (<usize>i << 3)); word != 0; word &= word - 1) {
        postingSum += hashPosting(key, i * 64 + <u32>ctz(word));
      }
    }
  }
  return STATUS_OK;
}
