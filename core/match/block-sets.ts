// The blocks of the bound shard that may contain a literal, by its grams. Lists of longer literals
// are intersected segment by segment, rarest first, as long as a list can save more verifying than
// it costs; for one and two characters the lists of all keys with them are united.

import { Arena, arenaAlloc } from '../base/arena.ts';
import {
  BITMAP_SIZE,
  CASE_MARKS_SIZE,
  GRAM_CHAR_BITS,
  NONE_ID,
  SEGMENT_BLOCKS,
  SHARD_BITMAP_SIZE,
} from '../shared/format.ts';
import { STATUS_OK, STATUS_OUT_OF_MEMORY } from '../shared/status.ts';
import {
  GRAM_ABSENT,
  listMask,
  listSize,
  lowerGram,
  frameBytes,
  readSegment,
} from '../shard/lists.ts';
import { blobAt, blockAt, docAt } from '../shard/open.ts';
import { clearBit, getBit, setBit } from '../base/bits.ts';
import { hasMarks } from '../text/case-marks.ts';
import { GRAM_CHAR_NEWLINE } from '../text/gram-chars.ts';
import {
  addDocsFrom,
  areBlocksCounted,
  isDocByDoc,
  blockBitmapSize,
  boundBlocks,
  boundSegments,
  boundView,
  countIndexBytes,
  docBitmapSize,
  failBinding,
  failStatus,
  intersectBitmaps,
  isEmptyBitmap,
  newDocBitmap,
  nextBoundDoc,
  NO_DOCS,
  noteBlocks,
  restrictedDocs,
} from './bound.ts';
import { beginVisits, probeGram, probeGrams, visitGram } from './lookups.ts';
import { Grams, keyAt } from './grams.ts';
import { MatchNode } from './node.ts';

/** Above this share of a shard's blocks a two-character literal is searched in all of them. */
const PREFIX_SHARE_NUMERATOR: u32 = 6;
const PREFIX_SHARE_DENOMINATOR: u32 = 10;
/** Guess: decoding a coded byte costs 8 ns; a full bitmap of 1,024 bytes 80 ns. */
const DECODE_NS_PER_BYTE: u32 = 8;
const BITMAP_NS: u32 = 80;
/** Frames of at least this coded size count as bitmaps. */
const DENSE_SIZE: u32 = 900;

/** Guess: cost of verifying a block by a regular expression. */
export const VERIFY_REGEX_NS: u32 = 4000;

const GRAM_CHAR_MASK: u32 = (1 << GRAM_CHAR_BITS) - 1;

let scratchBitmap: usize = 0;

/** Allocates scratch memory from the arena; false if it is full. */
export function blockSetsInit(arena: Arena): bool {
  scratchBitmap = arenaAlloc(arena, BITMAP_SIZE, 16);
  return scratchBitmap != 0;
}

/** An empty bitmap of blocks; 0, with failStatus set, if the arena is full. */
export function newBlockBitmap(arena: Arena): usize {
  const bitmap = arenaAlloc(arena, blockBitmapSize, 16);
  if (bitmap == 0) failBinding(STATUS_OUT_OF_MEMORY);
  else memory.fill(bitmap, 0, blockBitmapSize);
  return bitmap;
}

/**
 * Fills the empty segments of `bitmap` from `firstSegment` on with the blocks that have the literal's
 * grams and marks. False: no block has all its grams. They ignore case, so it is absent in any spelling.
 */
export function fillWithGrams(
  arena: Arena,
  grams: Grams,
  firstSegment: u32,
  bitmap: usize,
  verifyNs: u32,
): bool {
  return intersectGrams(arena, grams.keys, grams.keyCount, grams.marks, firstSegment, bitmap, verifyNs);
}

/** Adds the blocks of some docs, a bitmap, to `bitmap`. */
export function addBlocksOfDocs(docs: usize, bitmap: usize): void {
  for (let offset: usize = 0; offset < docBitmapSize(); offset += 8) {
    for (let word = load<u64>(docs + offset); word != 0; word &= word - 1) {
      const blobId = docAt(boundView, (<u32>offset << 3) + <u32>ctz(word)).blobId;
      if (blobId == NONE_ID) continue;
      const blob = blobAt(boundView, blobId);
      for (let i: u32 = 0; i < blob.blockCount; i++) setBit(bitmap, blob.firstBlock + i);
    }
  }
}

export function blocksOfDocs(docs: usize, bitmap: usize): void {
  memory.fill(bitmap, 0, blockBitmapSize);
  addBlocksOfDocs(docs, bitmap);
}

/**
 * Adds the blocks that may contain a literal of one or two letters. Returns false, and adds nothing,
 * if they are so many that all blocks may as well be read.
 */
export function uniteShort(arena: Arena, grams: Grams, bitmap: usize): bool {
  beginVisits(arena);
  if (failStatus != STATUS_OK) return true;
  return grams.gramCharCount == 2 ? unitePrefix(grams, bitmap) : uniteMiddle(grams, bitmap);
}

/**
 * The union of all lists whose keys begin with the two letters: complete, since every block counts
 * as ending in a newline. False as in uniteShort.
 */
function unitePrefix(grams: Grams, bitmap: usize): bool {
  const pair = keyAt(grams, 0);
  const first = lowerGram(boundView, pair << GRAM_CHAR_BITS);
  const end = lowerGram(boundView, (pair + 1) << GRAM_CHAR_BITS);
  let bytes: u32 = 0;
  for (let gram = first; gram < end; gram++) bytes += visit(gram);
  if (isUnionLarge(bytes)) return false;
  for (let gram = first; gram < end; gram++) uniteGram(gram, bitmap);
  return true;
}

/**
 * The union of all lists whose keys have the letter in the middle: complete, since every character
 * has a neighbour on both sides. False also for a newline, which is never in the middle.
 */
function uniteMiddle(grams: Grams, bitmap: usize): bool {
  const gramChar = keyAt(grams, 0);
  if (gramChar == GRAM_CHAR_NEWLINE) return false;
  const gramCount = boundView.gramCount;
  let bytes: u32 = 0;
  for (let gram = nextMiddle(0, gramChar); gram < gramCount; gram = nextMiddle(gram + 1, gramChar)) {
    bytes += visit(gram);
    if (isUnionLarge(bytes)) return false;
  }
  for (let gram = nextMiddle(0, gramChar); gram < gramCount; gram = nextMiddle(gram + 1, gramChar)) {
    uniteGram(gram, bitmap);
  }
  return true;
}

/** First gram from `gram` on whose key has `gramChar` in the middle; gramCount if there is none. */
function nextMiddle(gram: u32, gramChar: u32): u32 {
  const keys = <usize>boundView.gramKeys;
  const count = boundView.gramCount;
  const mask = i32x4.splat(<i32>(GRAM_CHAR_MASK << GRAM_CHAR_BITS));
  const target = i32x4.splat(<i32>(gramChar << GRAM_CHAR_BITS));
  // Why four at once: the dictionary is all there is to scan, and this takes a tenth of the time.
  for (; gram + 4 <= count; gram += 4) {
    const middles = v128.and(v128.load(keys + (<usize>gram << 2)), mask);
    const hits = i32x4.bitmask(i32x4.eq(middles, target));
    if (hits != 0) return gram + <u32>ctz(hits);
  }
  for (; gram < count; gram++) {
    const key = load<u32>(keys + (<usize>gram << 2));
    if (((key >> GRAM_CHAR_BITS) & GRAM_CHAR_MASK) == gramChar) break;
  }
  return gram;
}

/** Counts a gram as visited; returns the coded bytes of its list. */
@inline
function visit(gram: u32): u32 {
  visitGram(gram);
  return listSize(boundView, gram);
}

/** Whether lists of this coded size leave about as many blocks as there are. */
function isUnionLarge(bytes: u32): bool {
  // Measured: 2026-11-21, X3: a posting takes about half a byte.
  const share = <u64>boundView.blockCount * PREFIX_SHARE_NUMERATOR;
  return <u64>bytes * 2 * PREFIX_SHARE_DENOMINATOR > share;
}

export function uniteGram(gram: u32, bitmap: usize): void {
  for (let mask = listMask(boundView, gram) & boundSegments; mask != 0; mask &= mask - 1) {
    readInto(gram, ctz(mask), bitmap + <usize>ctz(mask) * BITMAP_SIZE);
  }
}

function readInto(gram: u32, segment: u32, bitmap: usize): void {
  const status = readSegment(boundView, gram, segment, bitmap);
  if (status != STATUS_OK) failBinding(status);
  countIndexBytes(frameBytes);
}

/** A list to intersect. */
@unmanaged
class GramList {
  gram: u32;
  size: u32; // coded bytes
  segments: u32; // that it has, a bit each
}

@inline
function listAt(lists: usize, index: u32): GramList {
  return changetype<GramList>(lists + <usize>index * offsetof<GramList>());
}

/**
 * Intersects the lists of all keys into `bitmap`, from `firstSegment` on, as long as that pays; keeps
 * the blocks with `marks` (an address, 0: none). False: no block has all keys.
 */
export function intersectGrams(
  arena: Arena,
  keys: usize,
  keyCount: u32,
  marks: usize,
  firstSegment: u32,
  bitmap: usize,
  verifyNs: u32,
): bool {
  const grams = arenaAlloc(arena, <usize>keyCount * 4, 8);
  const lists = arenaAlloc(arena, <usize>keyCount * offsetof<GramList>(), 8);
  if (grams == 0 || lists == 0) {
    failBinding(STATUS_OUT_OF_MEMORY);
    return false;
  }
  if (!probeGrams(boundView, keys, keyCount, grams)) return false;
  for (let i: u32 = 0; i < keyCount; i++) {
    const list = listAt(lists, i);
    list.gram = load<u32>(grams + (<usize>i << 2));
    list.size = listSize(boundView, list.gram);
  }
  sortBySize(lists, keyCount);
  let segments = boundSegments & ~((<u32>1 << firstSegment) - 1);
  for (let i: u32 = 0; i < keyCount && segments != 0; i++) {
    const list = listAt(lists, i);
    list.segments = listMask(boundView, list.gram);
    segments &= list.segments;
  }
  let isAny = false;
  let blocks: u32 = 0;
  for (; segments != 0; segments &= segments - 1) {
    const segment = <u32>ctz(segments);
    const part = bitmap + <usize>segment * BITMAP_SIZE;
    intersectSegment(lists, keyCount, segment, part, verifyNs);
    if (failStatus != STATUS_OK) return isAny;
    if (boundBlocks != 0) intersectBitmaps(part, boundBlocks + (part - bitmap), BITMAP_SIZE);
    if (isEmptyBitmap(part, BITMAP_SIZE)) continue;
    isAny = true;
    if (marks != 0 && !isDocByDoc())
      keepMarked(marks, part, segment * SEGMENT_BLOCKS, BITMAP_SIZE);
    if (!areBlocksCounted()) continue;
    blocks += countBits(part, BITMAP_SIZE);
    noteBlocks(blocks, segment);
    if (failStatus != STATUS_OK) return true;
  }
  if (marks != 0 && isDocByDoc()) keepMarkedOfBound(marks, bitmap);
  return isAny;
}

/** Segments of a shard at most. */
export const SEGMENTS_MAX: u32 = SHARD_BITMAP_SIZE / BITMAP_SIZE;
const leastCosts = memory.data(128, 4);
if (SEGMENTS_MAX * 4 > 128) ERROR('leastCosts: size');

/**
 * Guess: adds the cost of reading the rarest list of the keys to `costs`, nanoseconds by segment, u64
 * each. Nothing is read where a gram is absent.
 */
export function addReadCosts(keys: usize, keyCount: u32, costs: usize): void {
  memory.fill(leastCosts, 0xff, SEGMENTS_MAX * 4);
  for (let i: u32 = 0; i < keyCount; i++) {
    const gram = probeGram(boundView, load<u32>(keys + (<usize>i << 2)));
    if (gram == GRAM_ABSENT) return;
    const mask = listMask(boundView, gram);
    const costNs = frameCostNs(listSize(boundView, gram) / max(1, popcnt(mask)));
    for (let rest = boundSegments; rest != 0; rest &= rest - 1) {
      const least = leastCosts + (<usize>ctz(rest) << 2);
      store<u32>(least, min(load<u32>(least), ((mask >> ctz(rest)) & 1) != 0 ? costNs : 0));
    }
  }
  for (let segment: usize = 0; segment < SEGMENTS_MAX; segment++) {
    const cost = costs + (segment << 3);
    store<u64>(cost, load<u64>(cost) + load<u32>(leastCosts + (segment << 2)));
  }
}

@inline
function frameCostNs(size: u32): u32 {
  return size >= DENSE_SIZE ? BITMAP_NS : size * DECODE_NS_PER_BYTE + BITMAP_NS;
}

/** Sorts ascending and stable (insertion sort: few lists). */
function sortBySize(lists: usize, count: u32): void {
  for (let i: u32 = 1; i < count; i++) {
    const gram = listAt(lists, i).gram;
    const size = listAt(lists, i).size;
    let position = i;
    for (; position > 0 && listAt(lists, position - 1).size > size; position--) {
      listAt(lists, position).gram = listAt(lists, position - 1).gram;
      listAt(lists, position).size = listAt(lists, position - 1).size;
    }
    listAt(lists, position).gram = gram;
    listAt(lists, position).size = size;
  }
}

function intersectSegment(
  lists: usize,
  listCount: u32,
  segment: u32,
  bitmap: usize,
  verifyNs: u32,
): void {
  readInto(listAt(lists, 0).gram, segment, bitmap);
  for (let i: u32 = 1; i < listCount; i++) {
    const remaining = countBits(bitmap, BITMAP_SIZE);
    if (remaining == 0) return;
    const list = listAt(lists, i);
    const frame = list.size / max(1, popcnt(list.segments));
    const readNs = frameCostNs(frame);
    // Why: a list with a share p of the blocks leaves about p of the candidates.
    const saved =
      frame >= DENSE_SIZE
        ? remaining / 3
        : remaining - (remaining * min(2 * frame, SEGMENT_BLOCKS)) / SEGMENT_BLOCKS;
    if (saved * verifyNs < readNs) return;
    memory.fill(scratchBitmap, 0, BITMAP_SIZE);
    readInto(list.gram, segment, scratchBitmap);
    if (failStatus != STATUS_OK) return;
    intersectBitmaps(bitmap, scratchBitmap, BITMAP_SIZE);
  }
}

/** Sets the bits of all blocks of the shard in the empty `bitmap`, unused ones included. */
export function setAllBlocks(bitmap: usize): void {
  const whole = boundView.blockCount >> 3;
  memory.fill(bitmap, 0xff, whole);
  for (let blockId = whole << 3; blockId < boundView.blockCount; blockId++) setBit(bitmap, blockId);
}

/**
 * Removes the blocks whose case marks exclude a literal. The bitmap has `size` bytes, and its first bit
 * is the block `firstBlock`.
 */
export function keepMarked(marks: usize, bitmap: usize, firstBlock: u32, size: usize): void {
  for (let offset: usize = 0; offset < size; offset += 8) {
    const word = load<u64>(bitmap + offset);
    let kept = word;
    for (let remaining = word; remaining != 0; remaining &= remaining - 1) {
      const blockId = firstBlock + (<u32>offset << 3) + <u32>ctz(remaining);
      // A damaged list may contain a blockId that does not exist.
      if (blockId >= boundView.blockCount) break;
      const blockMarks = <usize>boundView.caseMarks + <usize>blockId * CASE_MARKS_SIZE;
      // Why no branch: it would wait for the marks.
      kept ^= remaining & (0 - remaining) & (<u64>hasMarks(blockMarks, marks) - 1);
    }
    store<u64>(bitmap + offset, kept);
  }
}

/** As keepMarked, for the blocks of the bound docs. */
function keepMarkedOfBound(marks: usize, bitmap: usize): void {
  for (let docId = nextBoundDoc(0); docId < boundView.docCount; docId = nextBoundDoc(docId + 1)) {
    const blobId = docAt(boundView, docId).blobId;
    if (blobId == NONE_ID) continue;
    const blob = blobAt(boundView, blobId);
    for (let block = blob.firstBlock; block < blob.firstBlock + blob.blockCount; block++) {
      if (getBit(bitmap, block) == 0) continue;
      const blockMarks = <usize>boundView.caseMarks + <usize>block * CASE_MARKS_SIZE;
      if (!hasMarks(blockMarks, marks)) clearBit(bitmap, block);
    }
  }
}

/** Number of set bits in `size` bytes, a multiple of 8. */
export function countBits(bitmap: usize, size: usize): u32 {
  let count: u64 = 0;
  for (let i: usize = 0; i < size; i += 8) count += popcnt(load<u64>(bitmap + i));
  return <u32>count;
}

/**
 * How many blocks of a segment are in the bitmap. Without the last one, whose next block is elsewhere, and without those of
 * contents that are also in other segments: then the number is the same in a first part as in the whole shard.
 */
export function countInnerBlocks(bitmap: usize, segment: u32): u32 {
  const first = segment * SEGMENT_BLOCKS;
  let end = min(first + SEGMENT_BLOCKS, boundView.blockCount);
  if (end <= first) return 0;
  const start = max(first, endOfBlobBefore(first));
  if (end == first + SEGMENT_BLOCKS) {
    const lastBlob = blockAt(boundView, end - 1).blobId;
    end--;
    if (lastBlob != NONE_ID) {
      const blob = blobAt(boundView, lastBlob);
      if (blob.firstBlock + blob.blockCount > end + 1) end = min(end, blob.firstBlock);
    }
  }
  return start < end ? countBetween(bitmap, start, end) : 0;
}

/** The end of the content that `block` continues, or `block`. */
function endOfBlobBefore(block: u32): u32 {
  const blobId = blockAt(boundView, block).blobId;
  if (blobId == NONE_ID) return block;
  const blob = blobAt(boundView, blobId);
  return blob.firstBlock < block ? blob.firstBlock + blob.blockCount : block;
}

/** Number of set bits [start, end), of at least one. */
function countBetween(bitmap: usize, start: u32, end: u32): u32 {
  const firstWord = start >> 6;
  const lastWord = (end - 1) >> 6;
  let count: u64 = 0;
  for (let i = firstWord; i <= lastWord; i++) {
    let word = load<u64>(bitmap + (<usize>i << 3));
    if (i == firstWord) word &= ~(<u64>0) << (start & 63);
    if (i == lastWord) word &= ~(<u64>0) >> (63 - ((end - 1) & 63));
    count += popcnt(word);
  }
  return <u32>count;
}

/** The bound docs with a block in the bitmap; sets the node's cost, about its number of blocks. */
export function docsOfBlocks(arena: Arena, node: MatchNode, bitmap: usize): usize {
  const docs = newDocBitmap(arena);
  if (docs == 0) return NO_DOCS;
  const count = isDocByDoc() ? addBoundDocs(docs, bitmap) : addDocsOfBlocks(docs, bitmap);
  node.cost = 3 + min(count, 0x3ffffff0);
  if (restrictedDocs == 0 || isDocByDoc()) return count == 0 ? NO_DOCS : docs;
  intersectBitmaps(docs, restrictedDocs, docBitmapSize());
  return isEmptyBitmap(docs, docBitmapSize()) ? NO_DOCS : docs;
}

/** As addDocsOfBlocks, by a test of each bound doc. */
function addBoundDocs(docs: usize, bitmap: usize): u32 {
  let count: u32 = 0;
  for (let docId = nextBoundDoc(0); docId < boundView.docCount; docId = nextBoundDoc(docId + 1)) {
    const blobId = docAt(boundView, docId).blobId;
    if (blobId == NONE_ID) continue;
    const blob = blobAt(boundView, blobId);
    const before = count;
    for (let i: u32 = 0; i < blob.blockCount; i++) count += getBit(bitmap, blob.firstBlock + i);
    if (count > before) setBit(docs, docId);
  }
  return count;
}

/** Blobs whose docs are added together, so that their rows are waited for at once. */
const BLOBS_AT_ONCE: u32 = 64;
const blobList = memory.data(256, 4);
if (BLOBS_AT_ONCE * 4 > 256) ERROR('blobList: size');

/** Adds the docs with a block of the bound segments in the bitmap to `docs`; returns the number of blocks. */
export function addDocsOfBlocks(docs: usize, bitmap: usize): u32 {
  let count: u32 = 0;
  for (let rest = boundSegments; rest != 0; rest &= rest - 1)
    count += addDocsOfSegment(docs, bitmap, ctz(rest));
  return count;
}

function addDocsOfSegment(docs: usize, bitmap: usize, segment: u32): u32 {
  const first = segment * SEGMENT_BLOCKS;
  let count: u32 = 0;
  let blobCount: u32 = 0;
  let previousBlob: u32 = NONE_ID;
  for (let block = first; block < first + SEGMENT_BLOCKS; block += 64) {
    let word = load<u64>(bitmap + (block >> 3));
    for (; word != 0; word &= word - 1) {
      const blockId = block + <u32>ctz(word);
      // A damaged list may contain a blockId that does not exist.
      if (blockId >= boundView.blockCount) break;
      const blobId = blockAt(boundView, blockId).blobId;
      // Why no branches: they would wait for the row.
      count += <u32>(blobId != NONE_ID);
      store<u32>(blobList + (<usize>blobCount << 2), blobId);
      blobCount += <u32>(blobId != NONE_ID) & <u32>(blobId != previousBlob);
      previousBlob = blobId;
      if (blobCount < BLOBS_AT_ONCE) continue;
      addDocsOfBlobs(docs, blobCount);
      blobCount = 0;
    }
  }
  addDocsOfBlobs(docs, blobCount);
  return count;
}

/** Adds the docs of the blobs in blobList. */
function addDocsOfBlobs(docs: usize, count: u32): void {
  const end = blobList + (<usize>count << 2);
  for (let ptr = blobList; ptr < end; ptr += 4)
    store<u32>(ptr, blobAt(boundView, load<u32>(ptr)).firstDoc);
  for (let ptr = blobList; ptr < end; ptr += 4) addDocsFrom(docs, load<u32>(ptr));
}
