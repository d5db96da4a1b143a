// Writes text as JSON in UTF-8. Only required escapes are used, and each byte that is not
// well-formed UTF-8 becomes U+FFFD. Each step takes 16 bytes without a branch on their values:
//   1. letters = the escape letter of each byte: n for a newline and so on, else the byte itself;
//      a lane of 0 is a byte without a letter (U+0001, all above 0x7F): its step is written by code
//      points instead;
//   2. escaped = mask of the lanes that differ from their letter, or are a quote or a backslash;
//   3. for each half: a row of EXPANSIONS, chosen by the half's 8 bits of the mask, spreads the
//      letters so that there is a gap before each escaped one; a gap is a lane of 0, and becomes a
//      backslash.
// Measured: 2026-11-21, bench/kernels.ts, Linux kernel/, EPYC (Zen 4): 4.9 GB/s; one escape at a
// time, each found by ctz, 1.3. Leaves quotes around strings, objects and arrays to the caller.

import { REPLACEMENT, decodeUtf8, decodedPoint, decodedSize } from '../text/utf8.ts';

const STEP: usize = 16;
const HALF: usize = 8;
const QUOTE: u8 = 0x22;
const BACKSLASH: u8 = 0x5c;
/** A lane index for which i8x16.swizzle gives 0. */
const GAP: u8 = 0x80;

/** For each mask of 8 lanes, the lane of the letters at each of 16 bytes. */
const EXPANSIONS: usize = memory.data(256 * 16, 16);
buildExpansions();

function buildExpansions(): void {
  memory.fill(EXPANSIONS, GAP, 256 * 16);
  for (let mask: u32 = 0; mask < 256; mask++) {
    let entry = EXPANSIONS + (<usize>mask << 4);
    for (let lane: u32 = 0; lane < 8; lane++) {
      if (((mask >> lane) & 1) != 0) entry++;
      store<u8>(entry, <u8>lane);
      entry++;
    }
  }
}

/** Letters for the control characters below 16; 0 if there is none. */
@inline
function shortEscapes(): v128 {
  return i8x16(0, 0, 0, 0, 0, 0, 0, 0, 0x62, 0x74, 0x6e, 0, 0x66, 0x72, 0, 0);
}

@inline
function lettersOf(bytes: v128): v128 {
  const isPlain = i8x16.gt_s(bytes, i8x16.splat(0x1f));
  return v128.or(v128.and(bytes, isPlain), i8x16.swizzle(shortEscapes(), bytes));
}

@inline
function escapedMask(bytes: v128, letters: v128): u32 {
  const isQuote = i8x16.eq(bytes, i8x16.splat(QUOTE));
  const isBackslash = i8x16.eq(bytes, i8x16.splat(BACKSLASH));
  const isMapped = i8x16.ne(bytes, letters);
  return <u32>i8x16.bitmask(v128.or(isMapped, v128.or(isQuote, isBackslash)));
}

/** Step 3 for the letters from `firstLane` on; writes 16 bytes. */
@inline
function expandHalf(outPtr: usize, letters: v128, mask: u32, firstLane: v128): void {
  const lanes = v128.or(v128.load(EXPANSIONS + (<usize>mask << 4)), firstLane);
  const spread = i8x16.swizzle(letters, lanes);
  const isGap = i8x16.eq(spread, i8x16.splat(0));
  v128.store(outPtr, v128.or(spread, v128.and(isGap, i8x16.splat(BACKSLASH))));
}

@inline
function hexDigit(value: u32): u32 {
  return value + (value < 10 ? 0x30 : 0x57);
}

function writeAscii(outPtr: usize, byte: u32): usize {
  if (byte >= 0x20) {
    const isEscaped = byte == QUOTE || byte == BACKSLASH;
    store<u16>(outPtr, isEscaped ? BACKSLASH | (byte << 8) : byte);
    return outPtr + (isEscaped ? 2 : 1);
  }
  const letter = <u32>i8x16.extract_lane_u(lettersOf(i8x16.splat(<u8>byte)), 0);
  if (letter != 0) {
    store<u16>(outPtr, BACKSLASH | (letter << 8));
    return outPtr + 2;
  }
  store<u32>(outPtr, 0x3030755c); // \u00
  store<u16>(outPtr, hexDigit(byte >> 4) | (hexDigit(byte & 15) << 8), 4);
  return outPtr + 6;
}

/** Writes the non-ASCII code point of `size` bytes at `ptr`; returns the address after it. */
@inline
function writePoint(outPtr: usize, ptr: usize, point: u32, size: usize): usize {
  const isReplaced = point == REPLACEMENT;
  store<u32>(outPtr, isReplaced ? 0xbdbfef : load<u32>(ptr));
  return outPtr + (isReplaced ? 3 : size);
}

/** Writes a last step of 1 to 15 bytes; 0 if one of them has no letter. */
function writeLastStep(outPtr: usize, ptr: usize, size: usize): usize {
  const lanes = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const isInside = i8x16.lt_u(lanes, i8x16.splat(<u8>size));
  const bytes = v128.bitselect(v128.load(ptr), i8x16.splat(0x20), isInside);
  const letters = lettersOf(bytes);
  if (!i8x16.all_true(letters)) return 0;
  const mask = escapedMask(bytes, letters);
  const low = mask & 0xff;
  expandHalf(outPtr, letters, low, i8x16.splat(0));
  if (size > HALF) {
    const high = outPtr + HALF + <usize>popcnt(low);
    expandHalf(high, letters, mask >> 8, i8x16.splat(<u8>HALF));
  }
  return outPtr + size + <usize>popcnt(mask);
}

let stepsEnd: usize = 0;

/**
 * Writes steps up to `end` or to a byte without a letter; sets stepsEnd. Why separate: calls in the
 * loop would evict its constants from registers: half as fast.
 */
function writeSteps(outPtr: usize, ptr: usize, end: usize): usize {
  while (end - ptr >= STEP) {
    const bytes = v128.load(ptr);
    const letters = lettersOf(bytes);
    if (!i8x16.all_true(letters)) {
      stepsEnd = ptr;
      return outPtr;
    }
    const mask = escapedMask(bytes, letters);
    const low = mask & 0xff;
    expandHalf(outPtr, letters, low, i8x16.splat(0));
    const high = outPtr + HALF + <usize>popcnt(low);
    expandHalf(high, letters, mask >> 8, i8x16.splat(<u8>HALF));
    outPtr += STEP + <usize>popcnt(mask);
    ptr += STEP;
  }
  const last = ptr < end ? writeLastStep(outPtr, ptr, end - ptr) : outPtr;
  stepsEnd = last != 0 ? end : ptr;
  return last != 0 ? last : outPtr;
}

/**
 * Writes [start, end) as the inside of a JSON string; returns the end. A cut sequence is bad bytes.
 * Safety: 6 * (end - start) + 16 bytes are free at outPtr, outside [start, end); all may be
 * written. Up to 64 bytes past `end` may be read; they never change a result.
 */
export function writeJsonString(outPtr: usize, start: usize, end: usize): usize {
  let ptr = start;
  while (ptr < end) {
    outPtr = writeSteps(outPtr, ptr, end);
    ptr = stepsEnd;
    const stop = min(end, ptr + STEP);
    while (ptr < stop) {
      const result = decodeUtf8(ptr, end);
      const point = decodedPoint(result);
      const size = decodedSize(result);
      outPtr = point < 0x80 ? writeAscii(outPtr, point) : writePoint(outPtr, ptr, point, size);
      ptr += size;
    }
  }
  return outPtr;
}

/** The two digits of each number below 100. */
const PAIRS: usize = memory.data(200, 16);
buildPairs();

function buildPairs(): void {
  for (let value: u32 = 0; value < 100; value++) {
    store<u8>(PAIRS + (<usize>value << 1), 0x30 + value / 10);
    store<u8>(PAIRS + (<usize>value << 1), 0x30 + (value % 10), 1);
  }
}

@inline
function pairOf(value: u32): u16 {
  return load<u16>(PAIRS + (<usize>value << 1));
}

@inline
function digitsOf(value: u32): usize {
  if (value < 10_000) return value < 100 ? (value < 10 ? 1 : 2) : value < 1000 ? 3 : 4;
  if (value < 100_000_000)
    return value < 1_000_000 ? (value < 100_000 ? 5 : 6) : value < 10_000_000 ? 7 : 8;
  return value < 1_000_000_000 ? 9 : 10;
}

export function writeDecimal(outPtr: usize, value: u32): usize {
  const end = outPtr + digitsOf(value);
  let ptr = end;
  while (value >= 100) {
    ptr -= 2;
    store<u16>(ptr, pairOf(value % 100));
    value /= 100;
  }
  if (value >= 10) store<u16>(outPtr, pairOf(value));
  else store<u8>(outPtr, 0x30 + value);
  return end;
}

/**
 * Writes an ASCII string of the program. Static strings are UTF-16 in the module.
 * Safety: up to 15 bytes behind the string may be written.
 */
export function writeAsciiText(outPtr: usize, text: string): usize {
  const size = <usize>text.length;
  const ptr = changetype<usize>(text);
  for (let i: usize = 0; i < size; i += STEP) {
    const units = ptr + (i << 1);
    v128.store(outPtr + i, i8x16.narrow_i16x8_u(v128.load(units), v128.load(units, 16)));
  }
  return outPtr + size;
}

/** Copies `size` bytes. Safety: up to 15 bytes behind them may be read and written. */
export function writeBytes(outPtr: usize, ptr: usize, size: usize): usize {
  for (let i: usize = 0; i < size; i += STEP) v128.store(outPtr + i, v128.load(ptr + i));
  return outPtr + size;
}

/** Writes `size` bytes at `ptr` as lower-case hexadecimal digits; returns the address after them. */
export function writeHex(outPtr: usize, ptr: usize, size: usize): usize {
  for (let i: usize = 0; i < size; i++) {
    const byte = <u32>load<u8>(ptr + i);
    store<u16>(outPtr + (i << 1), hexDigit(byte >> 4) | (hexDigit(byte & 15) << 8));
  }
  return outPtr + (size << 1);
}
