// The literal searcher: compiles a needle once and finds it in any number of haystacks, exactly by
// the rules of the query language: code points are equal, or fold to the same one (simple case
// folding) when case is ignored, and each byte that is not well-formed UTF-8 is a U+FFFD, in needle
// and haystack. Chooses the cheapest exact engine:
//   EXACT       bytes as they are: case-sensitive, or nothing in the needle has case;
//   ASCII_FOLD  bytes, ASCII letters in both cases: only ASCII letters of the needle have case;
//   GENERAL     code points (point-plan.ts): case outside ASCII, or U+FFFD in the needle.
// Invariant: a well-formed needle without U+FFFD matches as bytes exactly where it matches as code
// points, since its first byte is never the middle of a well-formed sequence. Safety, for all
// functions that take a haystack: up to 64 bytes past `end` may be read; they never change a
// result. Nothing before `start` is read. `start` counts as a code point border.

import { foldCodePoint, isFoldable } from '../text/fold.ts';
import { REPLACEMENT, decodeUtf8, decodedPoint, decodedSize } from '../text/utf8.ts';
import {
  BytePlan,
  bytePlanSize,
  compileBytePlan,
  countBytes,
  findBytes,
  matchesBytes,
} from './byte-plan.ts';
import {
  PointPlan,
  compilePointPlan,
  findPoints,
  foundPointsEnd,
  matchPoints,
  pointPlanSizeMax,
} from './point-plan.ts';

const ENGINE_EXACT: u32 = 1;
const ENGINE_ASCII_FOLD: u32 = 2;
const ENGINE_GENERAL: u32 = 3;

/** The haystack may contain U+212A or U+017F, which fold into ASCII (k, s): as BLOB_FLAG_FOLDS_TO_ASCII. */
export const HAYSTACK_FOLDS_INTO_ASCII: u32 = 1;

/** Status of compileNeedle: the needle has no byte. */
export const NEEDLE_EMPTY: i32 = -1;
/** Status of compileNeedle: outCapacity is below needleSizeMax(size). */
export const NEEDLE_OUT_TOO_SMALL: i32 = -2;
/** Status of compileNeedle: the needle has more than NEEDLE_SIZE_MAX bytes. */
export const NEEDLE_TOO_LARGE: i32 = -3;

/** Most bytes of a needle. */
export const NEEDLE_SIZE_MAX: usize = 1 << 16;

const HEAD_SIZE: usize = 16;

/** Head of a compiled needle, followed by the plans. No addresses, so it may be copied. */
@unmanaged
class Needle {
  engine: u32; // ENGINE_...
  size: u32; // bytes of the needle
  bytesOffset: u32; // from the needle's start to its BytePlan; 0 if GENERAL
  pointsOffset: u32; // from the needle's start to its PointPlan; 0 if never used
}

if (offsetof<Needle>() != HEAD_SIZE) ERROR('Needle: size');

let matchEnd: usize = 0;

const TRAIT_FOLDABLE: u32 = 1; // a code point has case
const TRAIT_FOLDABLE_WIDE: u32 = 2; // a non-ASCII code point has case
const TRAIT_KELVIN: u32 = 4; // k or s in any case: non-ASCII code points may match
const TRAIT_REPLACEMENT: u32 = 8; // a bad byte or U+FFFD

/** The traits that decide the engine: TRAIT_... of the code points in [ptr, end). */
function traitsOf(ptr: usize, end: usize): u32 {
  let traits: u32 = 0;
  while (ptr < end) {
    const result = decodeUtf8(ptr, end);
    const point = decodedPoint(result);
    if (point == REPLACEMENT) traits |= TRAIT_REPLACEMENT;
    if (isFoldable(point)) traits |= point < 0x80 ? TRAIT_FOLDABLE : TRAIT_FOLDABLE_WIDE;
    const folded = foldCodePoint(point);
    if (folded == 0x6b || folded == 0x73) traits |= TRAIT_KELVIN;
    ptr += decodedSize(result);
  }
  return traits;
}

function chooseEngine(traits: u32, caseSensitive: bool): u32 {
  if ((traits & TRAIT_REPLACEMENT) != 0) return ENGINE_GENERAL;
  if (caseSensitive) return ENGINE_EXACT;
  if ((traits & TRAIT_FOLDABLE_WIDE) != 0) return ENGINE_GENERAL;
  return (traits & TRAIT_FOLDABLE) != 0 ? ENGINE_ASCII_FOLD : ENGINE_EXACT;
}

/** Room for compileNeedle with a needle of `size` bytes, at most NEEDLE_SIZE_MAX. */
export function needleSizeMax(size: usize): usize {
  return HEAD_SIZE + bytePlanSize(size) + pointPlanSizeMax(size);
}

/**
 * Compiles the `size` bytes at `needlePtr`, UTF-8; returns the bytes used, a multiple of 16, or
 * NEEDLE_EMPTY, NEEDLE_OUT_TOO_SMALL, NEEDLE_TOO_LARGE.
 * @param outPtr       8-aligned; the result holds no addresses and may be copied
 * @param outCapacity  bytes at outPtr, at least needleSizeMax(size)
 */
export function compileNeedle(
  needlePtr: usize,
  size: usize,
  caseSensitive: bool,
  outPtr: usize,
  outCapacity: usize,
): i32 {
  if (size == 0) return NEEDLE_EMPTY;
  if (size > NEEDLE_SIZE_MAX) return NEEDLE_TOO_LARGE;
  if (outCapacity < needleSizeMax(size)) return NEEDLE_OUT_TOO_SMALL;
  const traits = traitsOf(needlePtr, needlePtr + size);
  const engine = chooseEngine(traits, caseSensitive);
  const needle = changetype<Needle>(outPtr);
  needle.engine = engine;
  needle.size = <u32>size;
  needle.bytesOffset = 0;
  needle.pointsOffset = 0;
  let used = HEAD_SIZE;
  if (engine != ENGINE_GENERAL) {
    needle.bytesOffset = <u32>used;
    const plan = changetype<BytePlan>(outPtr + used);
    compileBytePlan(plan, needlePtr, size, engine == ENGINE_ASCII_FOLD);
    used += bytePlanSize(size);
  }
  const mayFallBack = engine == ENGINE_ASCII_FOLD && (traits & TRAIT_KELVIN) != 0;
  if (engine == ENGINE_GENERAL || mayFallBack) {
    needle.pointsOffset = <u32>used;
    const plan = changetype<PointPlan>(outPtr + used);
    used += compilePointPlan(plan, needlePtr, size, !caseSensitive);
  }
  return <i32>used; // Bound: NEEDLE_SIZE_MAX keeps it far below 2^31.
}

/** The needle's plan for code points on a haystack with `flags`; null if bytes are exact. */
@inline
function pointPlanFor(needle: usize, flags: u32): usize {
  const record = changetype<Needle>(needle);
  const isNeeded = record.engine == ENGINE_GENERAL || (flags & HAYSTACK_FOLDS_INTO_ASCII) != 0;
  return isNeeded && record.pointsOffset != 0 ? needle + <usize>record.pointsOffset : 0;
}

@inline
function bytePlanOf(needle: usize): BytePlan {
  return changetype<BytePlan>(needle + <usize>changetype<Needle>(needle).bytesOffset);
}

/**
 * Start of the first match within [start, end), or `end`; foundEnd gives its end.
 * @param flags  HAYSTACK_FOLDS_INTO_ASCII unless it certainly contains no U+212A and U+017F
 */
export function findNeedle(needle: usize, start: usize, end: usize, flags: u32): usize {
  const points = pointPlanFor(needle, flags);
  if (points != 0) {
    const found = findPoints(changetype<PointPlan>(points), start, end);
    matchEnd = foundPointsEnd();
    return found;
  }
  const found = findBytes(bytePlanOf(needle), start, end);
  matchEnd = found + <usize>changetype<Needle>(needle).size;
  return found;
}

/** End of the match that starts at `ptr`, a code point border; 0: none. */
export function matchNeedle(needle: usize, ptr: usize, end: usize, flags: u32): usize {
  const points = pointPlanFor(needle, flags);
  if (points != 0) return matchPoints(changetype<PointPlan>(points), ptr, end);
  const size = <usize>changetype<Needle>(needle).size;
  return end - ptr >= size && matchesBytes(bytePlanOf(needle), ptr) ? ptr + size : 0;
}

/** End of the last match of findNeedle; meaningless if there was none. */
@inline
export function foundEnd(): usize {
  return matchEnd;
}

/** Number of matches without overlap in [start, end), from the left. */
export function countNeedle(needle: usize, start: usize, end: usize, flags: u32): u32 {
  const points = pointPlanFor(needle, flags);
  if (points == 0) return countBytes(bytePlanOf(needle), start, end);
  const plan = changetype<PointPlan>(points);
  let count: u32 = 0;
  let ptr = findPoints(plan, start, end);
  while (ptr < end) {
    count++;
    ptr = findPoints(plan, foundPointsEnd(), end);
  }
  return count;
}
