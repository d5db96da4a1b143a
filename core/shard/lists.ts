// Reads the gram dictionary and posting lists of an open shard: finds grams, gives the cost of a
// list, and adds the frame of one segment to a bitmap. Postings are checked before they are read
// (pages.ts). Independent of queries. FORMAT.md, "Postings".

import {
  BITMAP_SIZE,
  LIST_SINGLE_SHIFT,
  SHARD_BITMAP_SIZE,
  SEGMENT_BLOCKS,
} from '../shared/format.ts';
import { STATUS_OK, STATUS_FRAME } from '../shared/status.ts';
import { textKey } from '../text/gram-chars.ts';
import { ShardView } from './view.ts';
import { needBytes } from './pages.ts';
import { setBit } from '../base/bits.ts';
import { decodeFrame, frameSize } from './frame.ts';

// From a gram to its blocks (FORMAT.md, "Gram dictionary"):
//
//   gram keys  | key | key | ...      ascending: binary search gives the gram's index
//   gram lists | reference | ...      the only blockId, or the start of the list
//   postings   | mask of segments | head of each frame | frames |

/** Instead of an index: no block has the gram. */
export const GRAM_ABSENT: u32 = 0xffffffff;
const SINGLE_MASK: u32 = 0x7fffffff;

/** Index of the first gram whose key is not below `key`; gramCount: none. About 18 steps. */
export function lowerGram(view: ShardView, key: u32): u32 {
  let start: u32 = 0;
  let end = view.gramCount;
  while (start < end) {
    const middle = (start + end) >> 1;
    if (load<u32>(<usize>view.gramKeys + (<usize>middle << 2)) < key) start = middle + 1;
    else end = middle;
  }
  return start;
}

/** Index of the gram with this key, or GRAM_ABSENT. */
export function findGram(view: ShardView, key: u32): u32 {
  return gramAt(view, lowerGram(view, key), key);
}

/** `index`, as lowerGram gives it, if its gram has this key; else GRAM_ABSENT. */
@inline
export function gramAt(view: ShardView, index: u32, key: u32): u32 {
  if (index == view.gramCount) return GRAM_ABSENT;
  return load<u32>(<usize>view.gramKeys + (<usize>index << 2)) == key ? index : GRAM_ABSENT;
}

/**
 * lowerGram of `count` keys, u32 each; the indexes go to `out`. Why together: a step of one search
 * waits for memory, and its branch is mispredicted half of the time; steps of several searches wait
 * at once, without branches.
 */
export function lowerGrams(view: ShardView, keys: usize, count: u32, out: usize): void {
  const end = out + (<usize>count << 2);
  const toKey = keys - out;
  memory.fill(out, 0, end - out);
  for (let rest = view.gramCount; rest > 0; ) {
    // The answer is among the `rest` grams from the index on, or the one behind them.
    const half = (rest + 1) >> 1;
    const middle = <usize>view.gramKeys + (<usize>(half - 1) << 2);
    for (let ptr = out; ptr < end; ptr += 4) {
      const index = load<u32>(ptr);
      const isBelow = load<u32>(middle + (<usize>index << 2)) < load<u32>(toKey + ptr);
      store<u32>(ptr, index + (half & (0 - <u32>isBelow)));
    }
    rest -= half;
  }
}

/** Safety: gram <= gramCount; the last reference is the end of the postings. */
@inline
function listReference(view: ShardView, gram: u32): u32 {
  return load<u32>(<usize>view.gramLists + (<usize>gram << 2));
}

@inline
function isSingle(reference: u32): bool {
  return reference >> LIST_SINGLE_SHIFT != 0;
}

/** Coded bytes of a list, 0 for a single posting; lists are read in this order. */
export function listSize(view: ShardView, gram: u32): u32 {
  const reference = listReference(view, gram);
  if (isSingle(reference)) return 0;
  let next = gram + 1;
  while (isSingle(listReference(view, next))) next++;
  return listReference(view, next) - reference;
}

/** Lists that nextLongList passes at once if they are short. */
const STRIDE_MAX: u32 = 64;

/**
 * The first gram from `gram` on whose list has at least `sizeMin` > 0 coded bytes; gramCount: none.
 * Most lists are so short that many in a row have less.
 */
export function nextLongList(view: ShardView, gram: u32, sizeMin: u32): u32 {
  const end = view.gramCount;
  while (gram < end && isSingle(listReference(view, gram))) gram++;
  let stride = STRIDE_MAX;
  while (gram < end) {
    // A list ends at the start of the next one; single postings have none.
    let next = min(end, gram + stride);
    while (next > gram && isSingle(listReference(view, next))) next--;
    const isNextOnly = next == gram || stride == 1;
    if (next == gram) {
      next = min(end, gram + stride + 1);
      while (next < end && isSingle(listReference(view, next))) next++;
    }
    if (listReference(view, next) - listReference(view, gram) < sizeMin) {
      gram = next;
      stride = min(stride << 1, STRIDE_MAX);
    } else if (isNextOnly) return gram;
    else stride >>= 1;
  }
  return end;
}

export function listMask(view: ShardView, gram: u32): u32 {
  const reference = listReference(view, gram);
  if (isSingle(reference)) return <u32>1 << ((reference & SINGLE_MASK) / SEGMENT_BLOCKS);
  const list = <usize>view.postings + reference;
  needBytes(view, list, list + 4);
  return load<u32>(list);
}

/** Coded bytes read by the last readSegment. */
export let frameBytes: u32 = 0;

/** Address of the frame that seekFrame found. */
let framePtr: usize = 0;

/** Head of the list's frame in `segment`; 0 if the list exceeds the section. Sets framePtr. */
function seekFrame(view: ShardView, reference: u32, segment: u32): u32 {
  const list = <usize>view.postings + reference;
  const end = <usize>view.postings + view.postingsSize;
  needBytes(view, list, list + 4);
  const mask = load<u32>(list);
  const count = popcnt(mask);
  let ptr = list + 4 + (<usize>count << 1);
  if (ptr > end) return 0;
  needBytes(view, list, ptr);
  const before = popcnt(mask & (((<u32>1) << segment) - 1));
  for (let i: u32 = 0; i < before; i++) ptr += frameSize(load<u16>(list + 4 + (<usize>i << 1)));
  const head = <u32>load<u16>(list + 4 + (<usize>before << 1));
  framePtr = ptr;
  if (ptr + frameSize(head) > end) return 0;
  // Decoding reads up to 16 bytes after the frame.
  needBytes(view, ptr, ptr + frameSize(head) + 16);
  return head;
}

/**
 * Sets the bits of the list's blocks in `segment`, which is in its mask; frameBytes is their size.
 */
export function readSegment(view: ShardView, gram: u32, segment: u32, bitmapPtr: usize): i32 {
  const reference = listReference(view, gram);
  if (isSingle(reference)) {
    frameBytes = 0;
    setBit(bitmapPtr, (reference & SINGLE_MASK) % SEGMENT_BLOCKS);
    return STATUS_OK;
  }
  const head = seekFrame(view, reference, segment);
  if (head == 0) return STATUS_FRAME;
  frameBytes = frameSize(head);
  return decodeFrame(head, framePtr, bitmapPtr);
}

/** Blocks of a trigram, UTF-8 text, as a bitmap of SHARD_BITMAP_SIZE bytes. For inspection. */
export function listBlocks(view: ShardView, text: usize, size: u32, bitmapPtr: usize): i32 {
  memory.fill(bitmapPtr, 0, SHARD_BITMAP_SIZE);
  const gram = findGram(view, textKey(text, text + size));
  if (gram == GRAM_ABSENT) return STATUS_OK;
  for (let mask = listMask(view, gram); mask != 0; mask &= mask - 1) {
    const segment = <u32>ctz(mask);
    const status = readSegment(view, gram, segment, bitmapPtr + <usize>segment * BITMAP_SIZE);
    if (status != STATUS_OK) return status;
  }
  return STATUS_OK;
}
