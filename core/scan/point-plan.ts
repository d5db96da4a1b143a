// Searches for a string of code points whose match may differ from it in bytes: ignoring case
// outside ASCII, or with U+FFFD, which every bad byte of the haystack equals. SIMD finds the
// anchor, a part that every match contains, and code points are compared only around it:
//   ANCHOR_RUN         a stretch of ASCII that only ASCII can match (so no k, s when folding): a
//                      byte plan;
//   ANCHOR_TWO_PAIRS   one code point: the first two bytes of each code point that equals it;
//   ANCHOR_FOUR_PAIRS  the same, if those are more than two;
//   ANCHOR_BAD         U+FFFD: the haystack is decoded from one byte above 0x7F to the next.
// The anchor that costs least is chosen: rare in source code, and fast to find. From its position
// the start of the match is found by decoding backward as many code points as the string has before
// the anchor; each start belongs to exactly one position. Safety, for all functions here: up to 64 bytes past `end` may be
// read; they never change a result. Nothing before `start` is read. `start` counts as a code point
// border.

import { FOLD_CLASS_MAX, foldCodePoint, foldVariants } from '../text/fold.ts';
import {
  REPLACEMENT,
  decodeUtf8,
  decodeUtf8Before,
  decodedPoint,
  decodedSize,
  encodeUtf8,
} from '../text/utf8.ts';
import { BytePlan, bytePlanHitRate, bytePlanSize, compileBytePlan, findBytes } from './byte-plan.ts';
import { FREQUENCY_UNIT, byteFrequency } from './frequency.ts';
import { findNonAscii } from './newlines.ts';

const ANCHOR_RUN: u32 = 1;
const ANCHOR_TWO_PAIRS: u32 = 2;
const ANCHOR_FOUR_PAIRS: u32 = 3;
const ANCHOR_BAD: u32 = 4;

const HEAD_SIZE: usize = 48;
const PAIR_COUNT: u32 = 4;
/**
 * Cost of four pairs instead of two, as a hit rate. Measured: 2026-11-21, bench/kernels.ts: 0.13 ns
 * a byte more; a hit costs about 25 ns.
 */
const FOUR_PAIRS_COST: u64 = (<u64>FREQUENCY_UNIT * FREQUENCY_UNIT) / 200;

/** Head of a plan, followed by pointCount u32, folded if isFolding; at runOffset the run's plan. */
@unmanaged
export class PointPlan {
  pointCount: u32; // at least 1
  isFolding: u32; // 1: haystack code points are folded before they are compared
  anchorKind: u32; // ANCHOR_...
  anchorIndex: u32; // code points before the anchor
  pair0: u32; // ANCHOR_..._PAIRS: first byte | second byte << 8 | OR of the second byte << 16
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

export function foundPointsEnd(): usize {
  return matchEnd;
}

/** Room for a plan of `size` bytes of UTF-8, a multiple of 16. */
export function pointPlanSizeMax(size: usize): usize {
  return runOffsetOf(size) + bytePlanSize(size);
}

@inline
function runOffsetOf(pointCount: usize): usize {
  return HEAD_SIZE + ((pointCount * 4 + 15) & ~15);
}

@inline
function pointsOf(plan: PointPlan): usize {
  return changetype<usize>(plan) + HEAD_SIZE;
}

/** Writes the plan for the `size` (at least 1) bytes at `source`, UTF-8; returns its size. */
export function compilePointPlan(
  plan: PointPlan,
  source: usize,
  size: usize,
  isFolding: bool,
): usize {
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

/** First address in [ptr, end) of a code point that is not isPlain; `end` if there is none. */
function plainEnd(ptr: usize, end: usize, isFolding: bool): usize {
  while (ptr < end && isPlain(<u32>load<u8>(ptr), isFolding)) ptr++;
  return ptr;
}

/** Sets the cheapest anchor; returns the plan's size. */
function chooseAnchor(plan: PointPlan, source: usize, end: usize): usize {
  const isFolding = plan.isFolding != 0;
  const run = changetype<BytePlan>(changetype<usize>(plan) + <usize>plan.runOffset);
  let cost: u64 = u64.MAX_VALUE;
  let index: u32 = 0;
  let runStart: usize = 0;
  let runSize: usize = 0;
  for (let ptr = source; ptr < end; ) {
    const size = plainEnd(ptr, end, isFolding) - ptr;
    if (size > 0) {
      compileBytePlan(run, ptr, size, isFolding);
      if (bytePlanHitRate(run) < cost) {
        cost = bytePlanHitRate(run);
        plan.anchorKind = ANCHOR_RUN;
        plan.anchorIndex = index;
        runStart = ptr;
        runSize = size;
      }
      index += <u32>size;
      ptr += size;
    } else {
      cost = tryPointAnchor(plan, index, cost);
      index++;
      ptr += decodedSize(decodeUtf8(ptr, end));
    }
  }
  if (plan.anchorKind != ANCHOR_RUN) return <usize>plan.runOffset;
  compileBytePlan(run, runStart, runSize, isFolding);
  return <usize>plan.runOffset + bytePlanSize(runSize);
}

/** Makes code point `index` the anchor if it is cheaper than `cost`; returns the new cost. */
function tryPointAnchor(plan: PointPlan, index: u32, cost: u64): u64 {
  const point = load<u32>(pointsOf(plan) + (<usize>index << 2));
  const pointCost = point == REPLACEMENT ? nonAsciiRate() : pairsCost(point, plan.isFolding != 0);
  if (pointCost >= cost) return cost;
  plan.anchorIndex = index;
  plan.anchorKind = point == REPLACEMENT ? ANCHOR_BAD : setPairs(plan, point);
  return pointCost;
}

/** Writes the code points that equal `point` to `variants`, returns how many. */
@inline
function loadVariants(point: u32, isFolding: bool): u32 {
  if (isFolding) return foldVariants(point, variants);
  store<u32>(variants, point);
  return 1;
}

/** The pair of variant `index`. A code point of one byte matches any second byte. */
function variantPair(index: u32): u32 {
  const end = encodeUtf8(encoded, load<u32>(variants + (<usize>index << 2)));
  const first = <u32>load<u8>(encoded);
  if (end - encoded == 1) return first | 0xffff00;
  return first | (<u32>load<u8>(encoded, 1) << 8);
}

/** As bytePlanHitRate, for all pairs of `point`, and FOUR_PAIRS_COST for more than two. */
function pairsCost(point: u32, isFolding: bool): u64 {
  let cost: u64 = 0;
  const count = loadVariants(point, isFolding);
  for (let index: u32 = 0; index < count; index++) {
    const pair = variantPair(index);
    const second = pair >> 16 != 0 ? FREQUENCY_UNIT : byteFrequency(<u8>(pair >> 8));
    cost += <u64>byteFrequency(<u8>pair) * second;
  }
  return count > 2 ? cost + FOUR_PAIRS_COST : cost;
}

/** As bytePlanHitRate, for the bytes above 0x7F. */
function nonAsciiRate(): u64 {
  let rate: u64 = 0;
  for (let byte: u32 = 0x80; byte < 0x100; byte++) {
    rate += <u64>byteFrequency(<u8>byte) * FREQUENCY_UNIT;
  }
  return rate;
}

/** Sets the pairs of the code points that equal `point`; returns the resulting kind of anchor. */
function setPairs(plan: PointPlan, point: u32): u32 {
  const count = loadVariants(point, plan.isFolding != 0);
  plan.pair0 = variantPair(0);
  plan.pair1 = variantPair(min(1, count - 1));
  plan.pair2 = variantPair(min(2, count - 1));
  plan.pair3 = variantPair(min(3, count - 1));
  return count <= 2 ? ANCHOR_TWO_PAIRS : ANCHOR_FOUR_PAIRS;
}

/** Lanes of `bytes` that are `first` and whose successor in `next` is `second`. */
@inline
function pairHits(bytes: v128, next: v128, first: v128, second: v128): v128 {
  return v128.and(i8x16.eq(bytes, first), i8x16.eq(next, second));
}

/**
 * First address in [start, end) of pair0 or pair1, else `end`. Neither is of one byte: a code point
 * with ASCII variants that is not in a run has three of them (k and s).
 */
function findTwoPairs(plan: PointPlan, start: usize, end: usize): usize {
  const firstA = i8x16.splat(<u8>plan.pair0);
  const firstB = i8x16.splat(<u8>plan.pair1);
  const secondA = i8x16.splat(<u8>(plan.pair0 >> 8));
  const secondB = i8x16.splat(<u8>(plan.pair1 >> 8));
  for (let ptr = start; ptr < end; ptr += 32) {
    const bytes0 = v128.load(ptr);
    const bytes1 = v128.load(ptr, 16);
    const next0 = v128.load(ptr, 1);
    const next1 = v128.load(ptr, 17);
    const hitsA0 = pairHits(bytes0, next0, firstA, secondA);
    const hitsA1 = pairHits(bytes1, next1, firstA, secondA);
    const hits0 = v128.or(hitsA0, pairHits(bytes0, next0, firstB, secondB));
    const hits1 = v128.or(hitsA1, pairHits(bytes1, next1, firstB, secondB));
    if (!v128.any_true(v128.or(hits0, hits1))) continue;
    const mask = <u32>i8x16.bitmask(hits0) | (<u32>i8x16.bitmask(hits1) << 16);
    return min(ptr + <usize>ctz(mask), end);
  }
  return end;
}

/** As pairHits, for a pair of PointPlan, whose second byte may be any. */
@inline
function maskedPairHits(bytes: v128, next: v128, pair: u32): v128 {
  const maskedNext = v128.or(next, i8x16.splat(<u8>(pair >> 16)));
  return pairHits(bytes, maskedNext, i8x16.splat(<u8>pair), i8x16.splat(<u8>(pair >> 8)));
}

/** First address in [start, end) of any of the four pairs; `end` if none. */
function findFourPairs(plan: PointPlan, start: usize, end: usize): usize {
  const pair0 = plan.pair0;
  const pair1 = plan.pair1;
  const pair2 = plan.pair2;
  const pair3 = plan.pair3;
  for (let ptr = start; ptr < end; ptr += 16) {
    const bytes = v128.load(ptr);
    const next = v128.load(ptr, 1);
    const hits01 = v128.or(maskedPairHits(bytes, next, pair0), maskedPairHits(bytes, next, pair1));
    const hits23 = v128.or(maskedPairHits(bytes, next, pair2), maskedPairHits(bytes, next, pair3));
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
  if (plan.anchorKind == ANCHOR_TWO_PAIRS) return findTwoPairs(plan, start, end);
  if (plan.anchorKind == ANCHOR_FOUR_PAIRS) return findFourPairs(plan, start, end);
  return findBad(start, end);
}

/** Start of the `count` code points before `ptr`; 0 if there are fewer after `start`. */
function stepBack(start: usize, ptr: usize, count: u32): usize {
  while (count > 0) {
    if (ptr == start) return 0;
    ptr -= decodedSize(decodeUtf8Before(start, ptr));
    count--;
  }
  return ptr;
}

/** End of the match that starts at `ptr`, a code point border; 0 if there is none. */
export function matchPoints(plan: PointPlan, ptr: usize, end: usize): usize {
  const isFolding = plan.isFolding != 0;
  let planPoint = pointsOf(plan);
  const planEnd = planPoint + (<usize>plan.pointCount << 2);
  while (planPoint < planEnd) {
    if (ptr >= end) return 0;
    const result = decodeUtf8(ptr, end);
    let point = decodedPoint(result);
    if (isFolding) point = foldCodePoint(point);
    if (point != load<u32>(planPoint)) return 0;
    ptr += decodedSize(result);
    planPoint += 4;
  }
  return ptr;
}

/** The first match within [start, end), else `end`; foundPointsEnd gives its end. */
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
