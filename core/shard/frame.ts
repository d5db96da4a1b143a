// One frame: the ids of a posting list in one segment, as ascending local numbers below 8,192. Three
// codes; the head (u16) names code, order and size. FORMAT.md, "Postings".
//
//   head    | code 2 bits | order 3 bits | size 11 bits |      in front of the frames of its list
//
//   SINGLE  one id, as a u16
//   GOLOMB  a varint count, then the gaps in an exponential Golomb code of the head's order, low
//           bit first
//   BITMAP  a bit for each block of the segment, 1,024 bytes
// Measured: 2026-11-21, experiment X3: lists are clustered, so the code that adapts to each gap
// beats the Rice code with one parameter a frame (DECISIONS.md).

import { setBit } from '../base/bits.ts';
import {
  BITMAP_SIZE,
  FRAME_BITMAP,
  FRAME_BITMAP_FROM,
  FRAME_CODE_SHIFT,
  FRAME_GOLOMB,
  FRAME_ORDER_SHIFT,
  FRAME_SINGLE,
  FRAME_SIZE_MASK,
  SEGMENT_BLOCKS,
} from '../shared/format.ts';
import { STATUS_OK, STATUS_FRAME } from '../shared/status.ts';

const ORDER_MAX: u32 = 7;

@inline
function frameHead(code: u32, order: u32, size: u32): u32 {
  return (code << FRAME_CODE_SHIFT) | (order << FRAME_ORDER_SHIFT) | size;
}

@inline
export function frameCode(head: u32): u32 {
  return head >> FRAME_CODE_SHIFT;
}

/** Size in bytes of the frame, from its head. */
@inline
export function frameSize(head: u32): u32 {
  return head & FRAME_SIZE_MASK;
}

/** Order of the code of its gaps; 0 unless the code is GOLOMB. */
@inline
function frameOrder(head: u32): u32 {
  return (head >> FRAME_ORDER_SHIFT) & ORDER_MAX;
}

/** The order that bestGolombBits found. */
let bestOrder: u32 = 0;

/** The smallest size in bits of the gaps over all orders; sets bestOrder. */
function bestGolombBits(idsPtr: usize, count: u32): u32 {
  // Why: trying every order takes eight passes; by the mean gap only four can win.
  const span = <u32>load<u16>(idsPtr + ((<usize>count - 1) << 1)) + 1;
  const meanBits: u32 = 31 - <u32>clz(span / count + 1);
  const first: u32 = meanBits > 3 ? meanBits - 3 : 0;
  const last: u32 = min<u32>(ORDER_MAX, meanBits);
  let best: u32 = 0xffffffff;
  for (let order: u32 = min<u32>(first, last); order <= last; order++) {
    const bits = golombBits(idsPtr, count, order);
    if (bits < best) {
      best = bits;
      bestOrder = order;
    }
  }
  return best;
}

/** Bits that the gaps of the ids take in the code of this order. */
function golombBits(idsPtr: usize, count: u32, order: u32): u32 {
  let previous: u32 = <u32>-1;
  let bits: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const id = <u32>load<u16>(idsPtr + (<usize>i << 1));
    bits += 31 - clz(id - previous - 1 + (1 << order));
    previous = id;
  }
  return 2 * bits + count - count * order;
}

/**
 * Writes the ids as a frame and returns its head; 0 < count <= 8,192. Cost: linear, up to four
 * times.
 * Safety: 1,024 + 16 bytes are free at outPtr. The ids (u16) ascend strictly and are below 8,192.
 */
export function encodeFrame(idsPtr: usize, count: u32, outPtr: usize): u32 {
  if (count == 1) {
    store<u16>(outPtr, load<u16>(idsPtr));
    return frameHead(FRAME_SINGLE, 0, 2);
  }
  if (count >= FRAME_BITMAP_FROM) return encodeBitmap(idsPtr, count, outPtr);
  const bits = bestGolombBits(idsPtr, count);
  const size: u32 = <u32>(count < 128 ? 1 : 2) + ((bits + 7) >> 3);
  if (size >= BITMAP_SIZE) return encodeBitmap(idsPtr, count, outPtr);
  encodeGolomb(idsPtr, count, bestOrder, outPtr);
  return frameHead(FRAME_GOLOMB, bestOrder, size);
}

function encodeBitmap(idsPtr: usize, count: u32, outPtr: usize): u32 {
  memory.fill(outPtr, 0, BITMAP_SIZE);
  for (let i: u32 = 0; i < count; i++) setBit(outPtr, load<u16>(idsPtr + (<usize>i << 1)));
  return frameHead(FRAME_BITMAP, 0, BITMAP_SIZE);
}

/**
 * Writes the count, then the gaps, low bit first. Gap 5 of order 2 is value 9, binary 1001:
 *
 *   0   1   1 0 0      in the order of the stream
 *   |   |   the bits of the value below its top bit, lowest first
 *   |   a one
 *   as many zeros as the value has bits more than 2^order
 */
function encodeGolomb(idsPtr: usize, count: u32, order: u32, outPtr: usize): void {
  let ptr = outPtr;
  if (count < 128) store<u8>(ptr++, <u8>count);
  else {
    store<u8>(ptr, <u8>(count & 127) | 128);
    store<u8>(ptr, <u8>(count >> 7), 1);
    ptr += 2;
  }
  let buffer: u64 = 0;
  let filled: u32 = 0;
  let previous: u32 = <u32>-1;
  for (let i: u32 = 0; i < count; i++) {
    const id = <u32>load<u16>(idsPtr + (<usize>i << 1));
    const value = id - previous - 1 + (1 << order);
    previous = id;
    // `width` zeros, a one, then the low bits of the value below its top bit.
    const top = 31 - clz(value);
    const zeros = top - order;
    const low = <u64>(value ^ (1 << top));
    buffer |= ((low << 1) | 1) << zeros << filled;
    filled += zeros + 1 + top;
    while (filled >= 8) {
      store<u8>(ptr++, <u8>buffer);
      buffer >>= 8;
      filled -= 8;
    }
  }
  if (filled > 0) store<u8>(ptr, <u8>buffer);
}

/**
 * Sets the bits of a frame's ids in the bitmap (1,024 bytes). STATUS_FRAME if one is not below
 * 8,192, the code exceeds the frame, or the head names no code.
 * Safety: the frame is inside its section; up to 16 bytes past it are read (the file's tail of
 * zeros).
 */
export function decodeFrame(head: u32, ptr: usize, bitmapPtr: usize): i32 {
  const code = frameCode(head);
  const size = frameSize(head);
  if (code == FRAME_GOLOMB) return decodeGolomb(ptr, size, frameOrder(head), bitmapPtr);
  if (code == FRAME_SINGLE) {
    const id = <u32>load<u16>(ptr);
    if (size != 2 || id >= SEGMENT_BLOCKS) return STATUS_FRAME;
    setBit(bitmapPtr, id);
    return STATUS_OK;
  }
  if (code != FRAME_BITMAP || size != BITMAP_SIZE) return STATUS_FRAME;
  for (let i: usize = 0; i < BITMAP_SIZE; i += 16) {
    v128.store(bitmapPtr + i, v128.or(v128.load(bitmapPtr + i), v128.load(ptr + i)));
  }
  return STATUS_OK;
}

/**
 * Reads two ids from each word, and checks at the end whether the code exceeded the frame. With an
 * incorrect count it reads at most as many ids as the segment has blocks, 27 bits each.
 * Bound: a gap below 8,192 of any order takes at most 13 zeros, a one and 13 bits: 27 of the 56
 * bits that a word has at least. A longer code gives an id that is too large.
 */
function decodeGolomb(ptr: usize, size: u32, order: u32, bitmapPtr: usize): i32 {
  if (size < 2) return STATUS_FRAME;
  let next = ptr + 1;
  let count = <u32>load<u8>(ptr);
  if (count > 127) {
    count = (count & 127) | (<u32>load<u8>(ptr, 1) << 7);
    next++;
  }
  const base: u32 = (1 << order) - 1;
  let id: u32 = <u32>-1;
  // The last `left` bits before `next` are the low ones of `word`; those above are the bits from
  // `next` on, or 0. Why not a load at the current bit: it would wait for the code before it.
  let word: u64 = 0;
  let left: u32 = 0;
  while (count > 0) {
    word |= load<u64>(next) << left;
    next += (63 - left) >> 3;
    left |= 56;
    const zeros = <u32>ctz(word);
    if (zeros > 13) return STATUS_FRAME;
    const top = zeros + order;
    const code = <u32>(word >> zeros) >> 1;
    word >>= zeros + top + 1;
    left -= zeros + top + 1;
    id += ((1 << top) | (code & ((1 << top) - 1))) - base;
    if (id >= SEGMENT_BLOCKS) return STATUS_FRAME;
    setBit(bitmapPtr, id);
    if (--count == 0) break;
    const otherZeros = <u32>ctz(word);
    if (otherZeros > 13) return STATUS_FRAME;
    const otherTop = otherZeros + order;
    const otherCode = <u32>(word >> otherZeros) >> 1;
    word >>= otherZeros + otherTop + 1;
    left -= otherZeros + otherTop + 1;
    id += ((1 << otherTop) | (otherCode & ((1 << otherTop) - 1))) - base;
    if (id >= SEGMENT_BLOCKS) return STATUS_FRAME;
    setBit(bitmapPtr, id);
    count--;
  }
  return ((next - ptr) << 3) - left <= <usize>size << 3 ? STATUS_OK : STATUS_FRAME;
}
