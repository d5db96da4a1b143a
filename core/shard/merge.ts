// Joins the coded segments of a shard into its gram dictionary and posting lists, without decoding:
// for each key a mask of the segments with it, their frame heads, their frames. Postings leave
// through an output area that the host empties. FORMAT.md, "Gram dictionary" and "Postings".

import * as format from '../shared/format.ts';
import { FRAME_SINGLE } from '../shared/format.ts';
import { SEGMENT_HEAD_SIZE } from './builder.ts';
import { frameCode, frameSize } from './frame.ts';

/** Longest list: mask, heads, and a full frame in every segment. */
const LIST_SIZE_MAX: usize = 4 + format.SEGMENT_COUNT_MAX * (2 + 1024);
const NO_KEY: u32 = 0xffffffff;

/**
 * The merge's position in one segment: its lowest unmerged key.
 *
 *   segment   | sum, gramCount | keys ... | heads ... | frames ... |      as builder.ts wrote it
 *                               ^keyPtr    ^headPtr    ^framePtr         all three advance together
 */
@unmanaged
class SegmentCursor {
  keyPtr: u32; // address of the next key, u32; keyEnd: all are merged
  keyEnd: u32;
  headPtr: u32; // address of the head of its frame, u16
  framePtr: u32; // address of its frame
}
const CURSOR_SIZE: usize = 16;
if (offsetof<SegmentCursor>() != CURSOR_SIZE) ERROR('SegmentCursor: size');

const cursors: usize = memory.data(512, 16);
let cursorCount: u32 = 0;
/** The resulting dictionary: u32 keys, u32 list references, and one more at the end. */
export let keysPtr: usize = 0;
export let listsPtr: usize = 0;
let gramCount: u32 = 0;
let postingsSize: u32 = 0;

@inline
function cursorAt(segment: u32): SegmentCursor {
  return changetype<SegmentCursor>(cursors + <usize>segment * CURSOR_SIZE);
}

/** `tables` has room for GRAM_KEY_COUNT keys and as many references: 16 MiB and 4 bytes. */
export function mergeBegin(tables: usize): void {
  cursorCount = 0;
  keysPtr = tables;
  listsPtr = tables + <usize>format.GRAM_KEY_COUNT * 4;
  gramCount = 0;
  postingsSize = 0;
}

/** Adds the next segment, in the builder's format; it must stay in place. */
export function mergeAddSegment(ptr: usize): void {
  assert(cursorCount < format.SEGMENT_COUNT_MAX);
  const count = load<u32>(ptr, 8);
  const cursor = cursorAt(cursorCount++);
  cursor.keyPtr = <u32>(ptr + SEGMENT_HEAD_SIZE);
  cursor.keyEnd = cursor.keyPtr + count * 4;
  cursor.headPtr = cursor.keyEnd;
  cursor.framePtr = cursor.headPtr + ((count * 2 + 3) & ~3);
}

/**
 * Writes lists to [out, outEnd) until one more might not fit; returns the bytes written, 0 at the
 * end.
 * Safety: the area takes at least LIST_SIZE_MAX bytes, else nothing is ever written.
 */
export function mergeStep(out: usize, outEnd: usize): u32 {
  let ptr = out;
  while (ptr + LIST_SIZE_MAX <= outEnd) {
    const key = lowestKey();
    if (key == NO_KEY) break;
    const listOffset = postingsSize + <u32>(ptr - out);
    ptr = mergeKey(key, listOffset, ptr);
  }
  postingsSize += <u32>(ptr - out);
  return <u32>(ptr - out);
}

/** Ends the merge: writes the reference after the last list. Returns the number of grams. */
export function mergeFinish(): u32 {
  store<u32>(listsPtr + (<usize>gramCount << 2), postingsSize);
  return gramCount;
}

/** The lowest unmerged key of all segments; NO_KEY: all are merged. */
function lowestKey(): u32 {
  let lowest = NO_KEY;
  for (let i: u32 = 0; i < cursorCount; i++) {
    const cursor = cursorAt(i);
    if (cursor.keyPtr < cursor.keyEnd) lowest = min(lowest, load<u32>(cursor.keyPtr));
  }
  return lowest;
}

@inline
function hasKey(cursor: SegmentCursor, key: u32): bool {
  return cursor.keyPtr < cursor.keyEnd && load<u32>(cursor.keyPtr) == key;
}

/** Writes the list of `key` at `out` and advances its cursors; returns the list's end. */
function mergeKey(key: u32, listOffset: u32, out: usize): usize {
  let mask: u32 = 0;
  let last: u32 = 0;
  for (let i: u32 = 0; i < cursorCount; i++) {
    if (!hasKey(cursorAt(i), key)) continue;
    mask |= 1 << i;
    last = i;
  }
  store<u32>(keysPtr + (<usize>gramCount << 2), key);
  const referencePtr = listsPtr + (<usize>gramCount << 2);
  gramCount++;
  if (popcnt(mask) == 1) {
    const cursor = cursorAt(last);
    if (frameCode(load<u16>(cursor.headPtr)) == FRAME_SINGLE) {
      // A gram of one block has no list: the reference is the blockId.
      const blockId = last * format.SEGMENT_BLOCKS + load<u16>(cursor.framePtr);
      store<u32>(referencePtr, (<u32>1 << format.LIST_SINGLE_SHIFT) | blockId);
      stepCursor(cursor);
      return out;
    }
  }
  store<u32>(referencePtr, listOffset);
  return writeList(mask, out);
}

/** Writes `mask | heads | frames` of the segments in the mask; returns the list's end. */
function writeList(mask: u32, out: usize): usize {
  store<u32>(out, mask);
  let headPtr = out + 4;
  let framePtr = headPtr + <usize>popcnt(mask) * 2;
  for (; mask != 0; mask &= mask - 1) {
    const cursor = cursorAt(ctz(mask));
    const head = <u32>load<u16>(cursor.headPtr);
    const size = frameSize(head);
    store<u16>(headPtr, <u16>head);
    memory.copy(framePtr, cursor.framePtr, size);
    headPtr += 2;
    framePtr += size;
    stepCursor(cursor);
  }
  return framePtr;
}

function stepCursor(cursor: SegmentCursor): void {
  cursor.framePtr += frameSize(load<u16>(cursor.headPtr));
  cursor.headPtr += 2;
  cursor.keyPtr += 4;
}
