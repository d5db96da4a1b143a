// Searches for a string of code points whose match may differ from it in bytes: without regard to case
// outside ASCII, or with U+FFFD, which every bad byte of the haystack equals. Something that must occur
// in each match, the anchor, is looked for with SIMD, and only around it code points are compared:
//   ANCHOR_RUN    a stretch of ASCII that only ASCII can match (so no k, s when folding): a byte plan;
//   ANCHOR_PAIRS  one code point: the first two bytes of each code point that equals it;
//   ANCHOR_BAD    U+FFFD: the haystack is decoded from one byte above 0x7F to the next.
// The anchor that is rarest in source code wins. From its place the match's start is found by decoding
// backward as many code points as stand before it, which gives each start for exactly one place.
// Safety, for all functions here: up to 64 bytes past `end` may be read; they never change a result.
// Nothing before `start` is read. `start` counts as a code point border.

import { FOLD_CLASS_MAX, foldCodePoint, foldVariants } from '../text/fold';
import {
  REPLACEMENT,
  decodeUtf8,
  decodeUtf8Before,
  decodedPoint,
  decodedSize,
  encodeUtf8,
} from '../text/utf8';
import { BytePlan, bytePlanHitRate, bytePlanSize, compileBytePlan, findBytes } from './byte-plan';
import { FREQUENCY_UNIT, byteFrequency } from './frequency';
import { findNonAscii } from './newlines';

const ANCHOR_RUN: u32 = 1;
const ANCHOR_PAIRS: u32 = 2;
const ANCHOR_BAD: u32 = 3;

const HEAD_SIZE: usize = 48;
const PAIR_COUNT: u32 = 4;

/** Head of a plan. Behind it pointCount u32, folded if isFolding; at runOffset the run's byte plan. */
@unmanaged
export class PointPlan {
  pointCount: u32; // at least 1
  isFolding: u32; // 1: haystack code points are folded before they are compared
  anchorKind: u32; // ANCHOR_...
  anchorIndex: u32; // code points before the anchor
  pair0: u32; // ANCHOR_PAIRS: first byte | second byte << 8 | OR of the second byte << 16
  pair1: u32; // unused pairs repeat another one
  pair2: u32;
  pair3: u32;
  runOffset: u32; // bytes from the plan's start to the BytePlan of ANCHOR_RUN
  reserved0: u32; // zero
  reserved1: u32;
  reserved2: u32;
}

if (offsetof<PointPlan>() != HEAD_SIZE) ERROR('PointPlan: size');
if (FOLD_CLASS_MAX != PAIR_COUNT) ERROR('PointPlan: pairs');

let matchEnd: usize = 0;
const variants: usize = memory.data(16, 16);
const encoded: usize = memory.data(8, 8);

/** End of the match that findPoints returned last. */
export function foundPointsEnd(): usize {
  return matchEnd;
}

/** Room that a plan for `size` bytes of UTF-8 may need, a multiple of 16. */
export function pointPlanSizeMax(size: usize): usize {
  return runOffsetOf(size) + bytePlanSize(size);
}

/** Where the run's plan lies behind `pointCount` code points. */
@inline
function runOffsetOf(pointCount: usize): usize {
  return HEAD_SIZE + ((pointCount * 4 + 15) & ~15);
}

@inline
function pointsOf(plan: PointPlan): usize {
  return changetype<usize>(plan) + HEAD_SIZE;
}

/**
 * Writes the plan for the `size` (at least 1) bytes at `source`, read as UTF-8, to `plan`, which has room
 * for pointPlanSizeMax(size), and returns its size.
 */
export function compilePointPlan(plan: PointPlan, source: usize, size: usize, isFolding: bool): usize {
  memory.fill(changetype<usize>(plan), 0, HEAD_SIZE);
  plan.isFolding = isFolding ? 1 : 0;
  const end = source + size;
  let point = pointsOf(plan);
  for (let ptr = source; ptr < end; point += 4) {
    const result = decodeUtf8(ptr, end);
    store<u32>(point, isFolding ? foldCodePoint(decodedPoint(result)) : decodedPoint(result));
    ptr += decodedSize(result);
    plan.pointCount += 1;
  }
  plan.runOffset = <u32>runOffsetOf(<usize>plan.pointCount);
  return chooseAnchor(plan, source, end);
}

/** True if only ASCII can match `point`. */
@inline
function isPlain(point: u32, isFolding: bool): bool {
  return point < 0x80 && !(isFolding && ((point | 0x20) == 0x6b || (point | 0x20) == 0x73));
}

/** First address in [ptr, end) of a code point that isPlain does not hold for; `end` if none. */
function plainEnd(ptr: usize, end: usize, isFolding: bool): usize {
  while (ptr < end && isPlain(<u32>load<u8>(ptr), isFolding)) ptr++;
  return ptr;
}

/** Sets the rarest anchor; returns the plan's size. */
function chooseAnchor(plan: PointPlan, source: usize, end: usize): usize {
  const isFolding = plan.isFolding != 0;
  const run = changetype<BytePlan>(changetype<usize>(plan) + <usize>plan.runOffset);
  let rate: u64 = u64.MAX_VALUE;
  let index: u32 = 0;
  let runStart: usize = 0;
  let runSize: usize = 0;
  for (let ptr = source; ptr < end; ) {
    const size = plainEnd(ptr, end, isFolding) - ptr;
    if (size > 0) {
      compileBytePlan(run, ptr, size, isFolding);
      if (bytePlanHitRate(run) < rate) {
        rate = bytePlanHitRate(run);
        plan.anchorKind = ANCHOR_RUN;
        plan.anchorIndex = index;
        runStart = ptr;
        runSize = size;
      }
      index += <u32>size;
      ptr += size;
    } else {
      rate = tryPointAnchor(plan, index, rate);
      index++;
      ptr += decodedSize(decodeUtf8(ptr, end));
    }
  }
  if (plan.anchorKind != ANCHOR_RUN) return <usize>plan.runOffset;
  compileBytePlan(run, runStart, runSize, isFolding);
  return <usize>plan.runOffset + bytePlanSize(runSize);
}

/** Makes code point `index` the anchor if it is rarer than `rate`; returns the rate that then holds. */
function tryPointAnchor(plan: PointPlan, index: u32, rate: u64): u64 {
  const point = load<u32>(pointsOf(plan) + (<usize>index << 2));
  const pointRate = point == REPLACEMENT ? nonAsciiRate() : pairsRate(point, plan.isFolding != 0);
  if (pointRate >= rate) return rate;
  plan.anchorIndex = index;
  plan.anchorKind = point == REPLACEMENT ? ANCHOR_BAD : ANCHOR_PAIRS;
  if (point != REPLACEMENT) setPairs(plan, point);
  return pointRate;
}

/** Writes the code points that equal `point` to `variants`, returns how many. */
@inline
function loadVariants(point: u32, isFolding: bool): u32 {
  if (isFolding) return foldVariants(point, variants);
  store<u32>(variants, point);
  return 1;
}

/** The pair, as in PointPlan, of variant `index`. A code point of one byte takes any second byte. */
function variantPair(index: u32): u32 {
  const end = encodeUtf8(encoded, load<u32>(variants + (<usize>index << 2)));
  const first = <u32>load<u8>(encoded);
  if (end - encoded == 1) return first | 0xffff00;
  return first | (<u32>load<u8>(encoded, 1) << 8);
}

/** As bytePlanHitRate, for all the pairs of `point`. */
function pairsRate(point: u32, isFolding: bool): u64 {
  let rate: u64 = 0;
  const count = loadVariants(point, isFolding);
  for (let index: u32 = 0; index < count; index++) {
    const pair = variantPair(index);
    const second = pair >> 16 != 0 ? FREQUENCY_UNIT : byteFrequency(<u8>(pair >> 8));
    rate += <u64>byteFrequency(<u8>pair) * second;
  }
  return rate;
}

/** As bytePlanHitRate, for the bytes above 0x7F. */
function nonAsciiRate(): u64 {
  let rate: u64 = 0;
  for (let byte: u32 = 0x80; byte < 0x100; byte++) {
    rate += <u64>byteFrequency(<u8>byte) * FREQUENCY_UNIT;
  }
  return rate;
}

function setPairs(plan: PointPlan, point: u32): void {
  const count = loadVariants(point, plan.isFolding != 0);
  plan.pair0 = variantPair(0);
  plan.pair1 = variantPair(min(1, count - 1));
  plan.pair2 = variantPair(min(2, count - 1));
  plan.pair3 = variantPair(min(3, count - 1));
}

/** Lanes of the 16 bytes `first` and their successors `second` at which `pair` stands. */
@inline
function onePairHits(first: v128, second: v128, pair: u32): v128 {
  const maskedSecond = v128.or(second, i8x16.splat(<u8>(pair >> 16)));
  const isFirst = i8x16.eq(first, i8x16.splat(<u8>pair));
  return v128.and(isFirst, i8x16.eq(maskedSecond, i8x16.splat(<u8>(pair >> 8))));
}

function findPairs(plan: PointPlan, start: usize, end: usize): usize {
  const pair0 = plan.pair0;
  const pair1 = plan.pair1;
  const pair2 = plan.pair2;
  const pair3 = plan.pair3;
  for (let ptr = start; ptr < end; ptr += 16) {
    const first = v128.load(ptr);
    const second = v128.load(ptr, 1);
    const hits01 = v128.or(onePairHits(first, second, pair0), onePairHits(first, second, pair1));
    const hits23 = v128.or(onePairHits(first, second, pair2), onePairHits(first, second, pair3));
    const hits = v128.or(hits01, hits23);
    if (v128.any_true(hits)) return min(ptr + <usize>ctz(i8x16.bitmask(hits)), end);
  }
  return end;
}

function findBad(start: usize, end: usize): usize {
  let ptr = findNonAscii(start, end);
  while (ptr < end) {
    const result = decodeUtf8(ptr, end);
    if (decodedPoint(result) == REPLACEMENT) return ptr;
    ptr += decodedSize(result);
    if (ptr < end && load<i8>(ptr) >= 0) ptr = findNonAscii(ptr, end);
  }
  return end;
}

function findAnchor(plan: PointPlan, start: usize, end: usize): usize {
  if (plan.anchorKind == ANCHOR_RUN) {
    const run = changetype<BytePlan>(changetype<usize>(plan) + <usize>plan.runOffset);
    return findBytes(run, start, end);
  }
  if (plan.anchorKind == ANCHOR_PAIRS) return findPairs(plan, start, end);
  return findBad(start, end);
}

/** Start of the `count` code points before `ptr`; 0 if fewer lie behind `start`. */
function stepBack(start: usize, ptr: usize, count: u32): usize {
  while (count > 0) {
    if (ptr == start) return 0;
    ptr -= decodedSize(decodeUtf8Before(start, ptr));
    count--;
  }
  return ptr;
}

/** End of the match that starts at `ptr`; 0 if none does. */
function matchPoints(plan: PointPlan, ptr: usize, end: usize): usize {
  const isFolding = plan.isFolding != 0;
  let wanted = pointsOf(plan);
  const wantedEnd = wanted + (<usize>plan.pointCount << 2);
  while (wanted < wantedEnd) {
    if (ptr >= end) return 0;
    const result = decodeUtf8(ptr, end);
    let point = decodedPoint(result);
    if (isFolding) point = foldCodePoint(point);
    if (point != load<u32>(wanted)) return 0;
    ptr += decodedSize(result);
    wanted += 4;
  }
  return ptr;
}

/** Address of the first match that lies in [start, end), whose end foundPointsEnd gives; `end` if none. */
export function findPoints(plan: PointPlan, start: usize, end: usize): usize {
  let from = start;
  while (from < end) {
    const anchor = findAnchor(plan, from, end);
    if (anchor == end) return end;
    const candidate = stepBack(start, anchor, plan.anchorIndex);
    if (candidate != 0) {
      matchEnd = matchPoints(plan, candidate, end);
      if (matchEnd != 0) return candidate;
    }
    from = anchor + decodedSize(decodeUtf8(anchor, end));
  }
  return end;
}
