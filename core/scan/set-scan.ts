// The loops of the searcher for sets of literals (literal-set.ts). Each step tests 32 bytes:
//   1. six table look-ups by nibble give for each byte the buckets whose fingerprint
//      (fingerprint.ts) ends there; the look-ups of the two bytes before come from the step before,
//      shifted in;
//   2. any_true over both vectors; nearly always false;
//   3. else for each byte with a bucket, from the left, the literals of its buckets are compared
//      with the haystack at their only possible start: probes first, then needles (literal.ts).
// With 16 buckets a step tests 16 bytes, with two sets of tables. Safety, for all functions here:
// up to 64 bytes past `end` may be read; they never change a result. Nothing before `start` is
// read. `start` counts as a code point border.

import { decodeUtf8, decodedSize } from '../text/utf8.ts';
import {
  CANDIDATE_SIZE,
  Candidate,
  Fingerprint,
  fingerprintCandidates,
  fingerprintTables,
} from './fingerprint.ts';
import { shiftOne, shiftTwo } from './lanes.ts';
import { matchNeedle } from './literal.ts';
import { laneLimit } from './newlines.ts';

const STEP: usize = 32;
const NO_LITERAL: u32 = 0xffffffff;

export const LITERAL_SET_HEAD_SIZE: usize = 16;

/** Head of a set, followed by u32 offsets of the needles. No addresses, so it may be copied. */
@unmanaged
export class LiteralSet {
  count: u32; // 1 to LITERAL_SET_COUNT_MAX
  narrowOffset: u32; // from the head to the Fingerprint for haystacks without U+212A and U+017F
  wideOffset: u32; // the same for other haystacks; may equal narrowOffset
  startsBad: u32; // 1: a literal starts with U+FFFD: a candidate may be inside a code point
}

if (offsetof<LiteralSet>() != LITERAL_SET_HEAD_SIZE) ERROR('LiteralSet: size');

let matchEnd: usize = 0;
let matchIndex: u32 = 0;

/** The buckets of each byte in the last step, first half and second half. */
const hitsLow = memory.data(32, 16);
const hitsHigh = memory.data(32, 16);

/** End of the last match of a scan; meaningless if there was none. */
@inline
export function foundSetEnd(): usize {
  return matchEnd;
}

/** Index in its set of the last literal found; meaningless if there was none. */
@inline
export function foundSetIndex(): u32 {
  return matchIndex;
}

/** True if `ptr` is inside a well-formed sequence. Reads nothing before `start`. */
function isWithinPoint(start: usize, ptr: usize, end: usize): bool {
  if (load<u8>(ptr) >> 6 != 2) return false;
  const backMax = min<usize>(ptr - start, 3);
  for (let back: usize = 1; back <= backMax; back++) {
    if (decodedSize(decodeUtf8(ptr - back, end)) > back) return true;
  }
  return false;
}

/** The first literal of `hits`, a bit for each bucket, that matches at `ptr`. */
function verify(
  set: usize,
  print: Fingerprint,
  hits: u32,
  ptr: usize,
  end: usize,
  flags: u32,
): bool {
  matchIndex = NO_LITERAL;
  const bytes = load<u64>(ptr + <usize>print.probeOffset);
  for (let rest = hits; rest != 0; rest &= rest - 1) {
    const bucket = <usize>ctz(rest);
    const bucketEnd = fingerprintCandidates(print, bucket + 1);
    let entry = fingerprintCandidates(print, bucket);
    for (; entry < bucketEnd; entry += CANDIDATE_SIZE) {
      const candidate = changetype<Candidate>(entry);
      if ((bytes | candidate.probeOr) != candidate.probe) continue;
      if (candidate.index > matchIndex) break;
      const needle =
        set + <usize>load<u32>(set + (<usize>candidate.index << 2), LITERAL_SET_HEAD_SIZE);
      const found = matchNeedle(needle, ptr, end, flags);
      if (found == 0) continue;
      matchIndex = candidate.index;
      matchEnd = found;
      break;
    }
  }
  return matchIndex != NO_LITERAL;
}

/**
 * Start of the first match whose fingerprint ends in the STEP bytes at `ptr`; 0: none. `mask` has a
 * bit for each byte with a valid bucket.
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
function lookUp(lowTable: v128, highTable: v128, low: v128, high: v128): v128 {
  return v128.and(i8x16.swizzle(lowTable, low), i8x16.swizzle(highTable, high));
}

@inline
function lowNibbles(bytes: v128): v128 {
  return v128.and(bytes, i8x16.splat(15));
}

@inline
function highNibbles(bytes: v128): v128 {
  return v128.and(i16x8.shr_u(bytes, 4), i8x16.splat(15));
}

/** Mask of the non-zero lanes of the 32 in two vectors. */
@inline
function nonZeroLanes(lanes0: v128, lanes1: v128): u32 {
  const zero = i8x16.splat(0);
  const low = <u32>i8x16.bitmask(i8x16.ne(lanes0, zero));
  return low | (<u32>i8x16.bitmask(i8x16.ne(lanes1, zero)) << 16);
}

/**
 * Start of the leftmost match of any literal, or `end`; for 8 buckets. Safety: the shortest match
 * fits in [start, end).
 */
export function scanHalf(
  set: usize,
  print: Fingerprint,
  start: usize,
  end: usize,
  flags: u32,
): usize {
  const tables = fingerprintTables(print, 0);
  const firstLow = v128.load(tables, 0);
  const firstHigh = v128.load(tables, 16);
  const secondLow = v128.load(tables, 32);
  const secondHigh = v128.load(tables, 48);
  const thirdLow = v128.load(tables, 64);
  const thirdHigh = v128.load(tables, 80);
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
    const first0 = lookUp(firstLow, firstHigh, low0, high0);
    const first1 = lookUp(firstLow, firstHigh, low1, high1);
    const second0 = lookUp(secondLow, secondHigh, low0, high0);
    const second1 = lookUp(secondLow, secondHigh, low1, high1);
    const before0 = v128.and(shiftTwo(firstBefore, first0), shiftOne(secondBefore, second0));
    const before1 = v128.and(shiftTwo(first0, first1), shiftOne(second0, second1));
    const hits0 = v128.and(before0, lookUp(thirdLow, thirdHigh, low0, high0));
    const hits1 = v128.and(before1, lookUp(thirdLow, thirdHigh, low1, high1));
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

/** As scanHalf, for a fingerprint of 16 buckets. */
export function scanBoth(
  set: usize,
  print: Fingerprint,
  start: usize,
  end: usize,
  flags: u32,
): usize {
  const tables = fingerprintTables(print, 0);
  const firstLow = v128.load(tables, 0);
  const firstHigh = v128.load(tables, 16);
  const secondLow = v128.load(tables, 32);
  const secondHigh = v128.load(tables, 48);
  const thirdLow = v128.load(tables, 64);
  const thirdHigh = v128.load(tables, 80);
  const others = fingerprintTables(print, 1);
  const otherFirstLow = v128.load(others, 0);
  const otherFirstHigh = v128.load(others, 16);
  const otherSecondLow = v128.load(others, 32);
  const otherSecondHigh = v128.load(others, 48);
  const otherThirdLow = v128.load(others, 64);
  const otherThirdHigh = v128.load(others, 80);
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
    const first = lookUp(firstLow, firstHigh, low, high);
    const second = lookUp(secondLow, secondHigh, low, high);
    const before = v128.and(shiftTwo(firstBefore, first), shiftOne(secondBefore, second));
    const hits = v128.and(before, lookUp(thirdLow, thirdHigh, low, high));
    firstBefore = first;
    secondBefore = second;
    const otherFirst = lookUp(otherFirstLow, otherFirstHigh, low, high);
    const otherSecond = lookUp(otherSecondLow, otherSecondHigh, low, high);
    const otherBefore = v128.and(
      shiftTwo(otherFirstBefore, otherFirst),
      shiftOne(otherSecondBefore, otherSecond),
    );
    const otherHits = v128.and(otherBefore, lookUp(otherThirdLow, otherThirdHigh, low, high));
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
