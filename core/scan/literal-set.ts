// Searches for a set of literals at once, by the rules of literal.ts: compiles the set once and finds the
// leftmost match of any of its literals in any number of haystacks. Each step looks at 32 bytes:
//   1. six table look-ups by nibble give for each byte the buckets whose fingerprint (fingerprint.ts) ends
//      there; the look-ups of the two bytes before come from the step before, shifted in;
//   2. any_true over both vectors; nearly always false;
//   3. else for each byte with a bucket, from the left, the literals of its buckets are compared with the
//      haystack at the only place where they can start (literal.ts), the earliest of the set first.
// A set has one fingerprint for haystacks without U+212A and U+017F, and another one for the rest if that
// makes a difference.
// Safety, for all functions that take a haystack: up to 64 bytes past `end` may be read; they never
// change a result. Nothing before `start` is read. `start` counts as a code point border.

import { NEEDLE_ROW_SIZE } from '../shared/program';
import { REPLACEMENT, decodeUtf8, decodedPoint, decodedSize } from '../text/utf8';
import {
  FINGERPRINT_LITERALS_MAX,
  FINGERPRINT_SIZE,
  BUCKETS_PER_HALF,
  Fingerprint,
  bucketStart,
  fingerprintAdd,
  fingerprintBegin,
  fingerprintEnd,
  fingerprintLiterals,
  fingerprintTables,
} from './fingerprint';
import {
  HAYSTACK_FOLDS_INTO_ASCII,
  NEEDLE_EMPTY,
  NEEDLE_NO_ROOM,
  NEEDLE_TOO_LARGE,
  NEEDLE_SIZE_MAX,
  compileNeedle,
  matchNeedle,
  needleSizeMax,
} from './literal';
import { laneLimit } from './newlines';

/** Status of compileLiteralSet: no literal, or more than LITERAL_SET_COUNT_MAX. */
export const LITERAL_SET_COUNT: i32 = -4;

/** Most literals of a set. */
export const LITERAL_SET_COUNT_MAX: u32 = FINGERPRINT_LITERALS_MAX;

const STEP: usize = 32;
const NO_LITERAL: u32 = 0xffffffff;
const HEAD_SIZE: usize = 16;
/** Bytes of a compiled needle: at most so many for each of its bytes, and so many more. */
const SIZE_PER_BYTE: usize = 8;
const SIZE_PER_NEEDLE: usize = 192;

/** Head of a set: no addresses, so it may be copied. Behind it u32 offsets of the needles from the head. */
@unmanaged
class LiteralSet {
  count: u32; // 1 to LITERAL_SET_COUNT_MAX
  narrowOffset: u32; // from the head to the Fingerprint for haystacks without U+212A and U+017F
  wideOffset: u32; // the same for other haystacks; may equal narrowOffset
  startsBad: u32; // 1: a literal starts with U+FFFD, so that a candidate may lie within a code point
}

if (offsetof<LiteralSet>() != HEAD_SIZE) ERROR('LiteralSet: size');

let matchEnd: usize = 0;
let matchIndex: u32 = 0;

/** What the last step found: the buckets of each byte, first half and second half. */
const hitsLow = memory.data(32, 16);
const hitsHigh = memory.data(32, 16);

@inline
function narrowOffsetOf(count: u32): usize {
  return HEAD_SIZE + ((<usize>count * 4 + 15) & ~15);
}

/** Room that compileLiteralSet asks for `count` literals of together `size` bytes. */
export function literalSetSizeMax(count: u32, size: usize): usize {
  const needlesSize = <usize>count * SIZE_PER_NEEDLE + size * SIZE_PER_BYTE;
  return narrowOffsetOf(count) + 2 * FINGERPRINT_SIZE + needlesSize;
}

/**
 * Compiles `count` literals to `outPtr`.
 *
 * @param rows         count rows of NEEDLE_ROW_SIZE: offset and size of a literal (u32) among `bytes`;
 *                     neither is needed after the call
 * @param bytes        UTF-8; bad bytes act as U+FFFD
 * @param outPtr       16-aligned; the result holds no addresses and may be copied
 * @param outCapacity  bytes at outPtr, at least literalSetSizeMax of count and the sum of sizes
 * @returns            bytes used, a multiple of 16; or LITERAL_SET_COUNT, NEEDLE_EMPTY, NEEDLE_NO_ROOM,
 *                     NEEDLE_TOO_LARGE
 */
export function compileLiteralSet(
  rows: usize,
  count: u32,
  bytes: usize,
  isCaseSensitive: bool,
  outPtr: usize,
  outCapacity: usize,
): i32 {
  if (count == 0 || count > LITERAL_SET_COUNT_MAX) return LITERAL_SET_COUNT;
  const status = checkRows(rows, count, outCapacity);
  if (status < 0) return status;
  const set = changetype<LiteralSet>(outPtr);
  const narrowOffset = narrowOffsetOf(count);
  set.count = count;
  set.narrowOffset = <u32>narrowOffset;
  set.wideOffset = <u32>narrowOffset;
  set.startsBad = startsBad(rows, count, bytes) ? 1 : 0;
  writeFingerprint(outPtr + narrowOffset, rows, count, bytes, !isCaseSensitive, false);
  let used = narrowOffset + FINGERPRINT_SIZE;
  if (!isCaseSensitive) {
    writeFingerprint(outPtr + used, rows, count, bytes, true, true);
    if (memory.compare(outPtr + used, outPtr + narrowOffset, FINGERPRINT_SIZE) != 0) {
      set.wideOffset = <u32>used;
      used += FINGERPRINT_SIZE;
    }
  }
  for (let index: u32 = 0; index < count; index++) {
    store<u32>(outPtr + (<usize>index << 2), <u32>used, HEAD_SIZE);
    const source = bytes + rowOffset(rows, index);
    const out = outPtr + used;
    const size = compileNeedle(source, rowSize(rows, index), isCaseSensitive, out, outCapacity - used);
    assert(size > 0, 'literal set: needle');
    used += <usize>size;
  }
  return <i32>used; // Bound: LITERAL_SET_COUNT_MAX and NEEDLE_SIZE_MAX keep it far below 2^31.
}

@inline
function rowOffset(rows: usize, index: u32): usize {
  return <usize>load<u32>(rows + <usize>(index * NEEDLE_ROW_SIZE));
}

@inline
function rowSize(rows: usize, index: u32): usize {
  return <usize>load<u32>(rows + <usize>(index * NEEDLE_ROW_SIZE), 4);
}

/** 0 if the literals can be compiled to `capacity` bytes, else a status. */
function checkRows(rows: usize, count: u32, capacity: usize): i32 {
  let total: usize = 0;
  for (let index: u32 = 0; index < count; index++) {
    const size = rowSize(rows, index);
    if (size == 0) return NEEDLE_EMPTY;
    if (size > NEEDLE_SIZE_MAX) return NEEDLE_TOO_LARGE;
    total += size;
  }
  return capacity < literalSetSizeMax(count, total) ? NEEDLE_NO_ROOM : 0;
}

/** True if one of the literals starts with U+FFFD or a bad byte. */
function startsBad(rows: usize, count: u32, bytes: usize): bool {
  for (let index: u32 = 0; index < count; index++) {
    const source = bytes + rowOffset(rows, index);
    if (decodedPoint(decodeUtf8(source, source + rowSize(rows, index))) == REPLACEMENT) return true;
  }
  return false;
}

function writeFingerprint(
  out: usize,
  rows: usize,
  count: u32,
  bytes: usize,
  isFolding: bool,
  isWide: bool,
): void {
  fingerprintBegin();
  let sizeMin = u32.MAX_VALUE;
  for (let index: u32 = 0; index < count; index++) {
    const source = bytes + rowOffset(rows, index);
    sizeMin = min(sizeMin, fingerprintAdd(index, source, rowSize(rows, index), isFolding, isWide));
  }
  fingerprintEnd(changetype<Fingerprint>(out), count, sizeMin);
}

/**
 * Start of the leftmost match of any literal that lies in [start, end), or `end` if there is none. Of the
 * literals that match there, foundSetIndex gives the first of the set, and foundSetEnd its end.
 *
 * @param set    what compileLiteralSet wrote
 * @param flags  HAYSTACK_FOLDS_INTO_ASCII unless the haystack is known to hold no U+212A and U+017F
 */
export function findInSet(set: usize, start: usize, end: usize, flags: u32): usize {
  const record = changetype<LiteralSet>(set);
  const isWide = (flags & HAYSTACK_FOLDS_INTO_ASCII) != 0;
  const print = changetype<Fingerprint>(set + <usize>(isWide ? record.wideOffset : record.narrowOffset));
  if (end - start < <usize>print.sizeMin) return end;
  if (print.bucketCount == BUCKETS_PER_HALF) return scanHalf(set, print, start, end, flags);
  return scanBoth(set, print, start, end, flags);
}

/** End of the match that findInSet found last; means nothing if it found none. */
@inline
export function foundSetEnd(): usize {
  return matchEnd;
}

/** Number in its set of the literal that findInSet found last; means nothing if it found none. */
@inline
export function foundSetIndex(): u32 {
  return matchIndex;
}

/** True if a well-formed sequence of several bytes lies around `ptr`. Reads nothing before `start`. */
function isWithinPoint(start: usize, ptr: usize, end: usize): bool {
  if (load<u8>(ptr) >> 6 != 2) return false;
  const backMax = min<usize>(ptr - start, 3);
  for (let back: usize = 1; back <= backMax; back++) {
    if (decodedSize(decodeUtf8(ptr - back, end)) > back) return true;
  }
  return false;
}

/** Sets matchIndex and matchEnd to the first literal of `hits`, a bit for each bucket, that is at `ptr`. */
function verify(set: usize, print: Fingerprint, hits: u32, ptr: usize, end: usize, flags: u32): bool {
  matchIndex = NO_LITERAL;
  const literals = fingerprintLiterals(print);
  for (let rest = hits; rest != 0; rest &= rest - 1) {
    const bucket = <usize>ctz(rest);
    const literalsEnd = literals + bucketStart(print, bucket + 1);
    for (let literal = literals + bucketStart(print, bucket); literal < literalsEnd; literal++) {
      const index = <u32>load<u8>(literal);
      if (index > matchIndex) break;
      const needle = set + <usize>load<u32>(set + (<usize>index << 2), HEAD_SIZE);
      const found = matchNeedle(needle, ptr, end, flags);
      if (found == 0) continue;
      matchIndex = index;
      matchEnd = found;
      break;
    }
  }
  return matchIndex != NO_LITERAL;
}

/**
 * Start of the first match whose fingerprint ends in the STEP bytes at `ptr`, for which hitsLow and hitsHigh
 * hold the buckets; 0 if there is none. `mask` has a bit for each byte with a bucket that counts.
 */
function verifyStep(
  set: usize,
  print: Fingerprint,
  ptr: usize,
  mask: u32,
  start: usize,
  end: usize,
  flags: u32,
): usize {
  const first = ptr - <usize>print.endOffset;
  const canBeWithin = changetype<LiteralSet>(set).startsBad != 0;
  for (let rest = mask; rest != 0; rest &= rest - 1) {
    const lane = <usize>ctz(rest);
    const candidate = first + lane;
    if (canBeWithin && isWithinPoint(start, candidate, end)) continue;
    const hits = <u32>load<u8>(hitsLow + lane) | (<u32>load<u8>(hitsHigh + lane) << 8);
    if (verify(set, print, hits, candidate, end, flags)) return candidate;
  }
  return 0;
}

/** Buckets of each lane by a pair of tables and both nibbles of the bytes. */
@inline
function lookUp(table: usize, low: v128, high: v128): v128 {
  return v128.and(i8x16.swizzle(v128.load(table), low), i8x16.swizzle(v128.load(table, 16), high));
}

@inline
function lowNibbles(bytes: v128): v128 {
  return v128.and(bytes, i8x16.splat(15));
}

@inline
function highNibbles(bytes: v128): v128 {
  return v128.and(i16x8.shr_u(bytes, 4), i8x16.splat(15));
}

/** `lanes` moved one place up, behind the last one of `before`. */
@inline
function shiftOne(before: v128, lanes: v128): v128 {
  return i8x16.shuffle(before, lanes, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
}

/** `lanes` moved two places up, behind the last two of `before`. */
@inline
function shiftTwo(before: v128, lanes: v128): v128 {
  return i8x16.shuffle(before, lanes, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29);
}

/** Mask of the lanes of the 32 in two vectors that are not zero. */
@inline
function nonZeroLanes(lanes0: v128, lanes1: v128): u32 {
  const zero = i8x16.splat(0);
  const low = <u32>i8x16.bitmask(i8x16.ne(lanes0, zero));
  return low | (<u32>i8x16.bitmask(i8x16.ne(lanes1, zero)) << 16);
}

/** The loop of the file's head for 8 buckets. Safety: the shortest match fits in [start, end). */
function scanHalf(set: usize, print: Fingerprint, start: usize, end: usize, flags: u32): usize {
  const tables = fingerprintTables(print, 0);
  const from = start + <usize>print.endOffset;
  const stop = end - <usize>print.sizeMin + <usize>print.endOffset + 1;
  let firstBefore = i8x16.splat(-1); // bytes before the first one may be any
  let secondBefore = i8x16.splat(-1);
  v128.store(hitsHigh, i8x16.splat(0));
  v128.store(hitsHigh, i8x16.splat(0), 16);
  for (let ptr = from; ptr < stop; ptr += STEP) {
    const bytes0 = v128.load(ptr);
    const bytes1 = v128.load(ptr, 16);
    const low0 = lowNibbles(bytes0);
    const low1 = lowNibbles(bytes1);
    const high0 = highNibbles(bytes0);
    const high1 = highNibbles(bytes1);
    const first0 = lookUp(tables, low0, high0);
    const first1 = lookUp(tables, low1, high1);
    const second0 = lookUp(tables + 32, low0, high0);
    const second1 = lookUp(tables + 32, low1, high1);
    const before0 = v128.and(shiftTwo(firstBefore, first0), shiftOne(secondBefore, second0));
    const before1 = v128.and(shiftTwo(first0, first1), shiftOne(second0, second1));
    const hits0 = v128.and(before0, lookUp(tables + 64, low0, high0));
    const hits1 = v128.and(before1, lookUp(tables + 64, low1, high1));
    firstBefore = first1;
    secondBefore = second1;
    if (!v128.any_true(v128.or(hits0, hits1))) continue;
    v128.store(hitsLow, hits0);
    v128.store(hitsLow, hits1, 16);
    const mask = nonZeroLanes(hits0, hits1) & <u32>laneLimit(stop - ptr);
    const found = verifyStep(set, print, ptr, mask, start, end, flags);
    if (found != 0) return found;
  }
  return end;
}

/** The same for 16 buckets. */
function scanBoth(set: usize, print: Fingerprint, start: usize, end: usize, flags: u32): usize {
  const tables = fingerprintTables(print, 0);
  const others = fingerprintTables(print, 1);
  const from = start + <usize>print.endOffset;
  const stop = end - <usize>print.sizeMin + <usize>print.endOffset + 1;
  let firstBefore = i8x16.splat(-1);
  let secondBefore = i8x16.splat(-1);
  let otherFirstBefore = i8x16.splat(-1);
  let otherSecondBefore = i8x16.splat(-1);
  v128.store(hitsLow, i8x16.splat(0), 16);
  v128.store(hitsHigh, i8x16.splat(0), 16);
  for (let ptr = from; ptr < stop; ptr += STEP >> 1) {
    const bytes = v128.load(ptr);
    const low = lowNibbles(bytes);
    const high = highNibbles(bytes);
    const first = lookUp(tables, low, high);
    const second = lookUp(tables + 32, low, high);
    const before = v128.and(shiftTwo(firstBefore, first), shiftOne(secondBefore, second));
    const hits = v128.and(before, lookUp(tables + 64, low, high));
    firstBefore = first;
    secondBefore = second;
    const otherFirst = lookUp(others, low, high);
    const otherSecond = lookUp(others + 32, low, high);
    const otherBefore = v128.and(
      shiftTwo(otherFirstBefore, otherFirst),
      shiftOne(otherSecondBefore, otherSecond),
    );
    const otherHits = v128.and(otherBefore, lookUp(others + 64, low, high));
    otherFirstBefore = otherFirst;
    otherSecondBefore = otherSecond;
    const any = v128.or(hits, otherHits);
    if (!v128.any_true(any)) continue;
    v128.store(hitsLow, hits);
    v128.store(hitsHigh, otherHits);
    const mask = nonZeroLanes(any, i8x16.splat(0)) & <u32>laneLimit(stop - ptr);
    const found = verifyStep(set, print, ptr, mask, start, end, flags);
    if (found != 0) return found;
  }
  return end;
}
