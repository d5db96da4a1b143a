// Searches for a string of bytes whose ASCII letters may match both cases. A compiled plan holds
// the two rarest bytes of the string (frequency.ts) and their positions in it. Each step tests 64
// starts p:
//   1. hits = (load(p + first) | or == firstByte) & (load(p + second) | or == secondByte), four
//      vectors;
//   2. any_true over all four; nearly always false, then p += 64;
//   3. else the hits become a 64-bit mask, cut to starts from which the string fits before `end`;
//   4. each hit is verified 16 bytes at a time: all lanes of (haystack | or) == value. Lanes behind
//      the string's last byte have or = value = 0xFF, so they are always equal.
// Strings of one byte use the byte scanner, strings of two need no step 4. Knows no code points.
// Safety, for all functions here: up to 64 bytes past `end` may be read; they never change a
// result. Nothing before `start` is read.

import { FREQUENCY_UNIT, maskedFrequency } from './frequency.ts';
import { countMaskedByte, findMaskedByte, laneLimit } from './newlines.ts';

const STEP: usize = 64;
const CHUNK_SIZE: usize = 32;
const HEAD_SIZE: usize = 16;

/** Head of a plan, followed by v128 value, v128 or-mask for each 16 bytes of the string. */
@unmanaged
export class BytePlan {
  size: u32; // of the string, at least 1
  firstIndex: u32; // bytes from the string's start to the rarest byte
  secondIndex: u32; // the same for the next rarest; equals firstIndex in a string of one byte
  firstByte: u8; // after OR with firstOr
  firstOr: u8; // 0x20 if both cases count, else 0
  secondByte: u8;
  secondOr: u8;
}

if (offsetof<BytePlan>() != HEAD_SIZE) ERROR('BytePlan: size');

export function bytePlanSize(size: usize): usize {
  return HEAD_SIZE + ((size + 15) >> 4) * CHUNK_SIZE;
}

/** The OR mask that makes both cases equal: 0x20 for an ASCII letter if folding. */
@inline
function orMaskOf(byte: u8, isFolding: bool): u8 {
  return isFolding && (byte | 0x20) - 0x61 < 26 ? 0x20 : 0;
}

/**
 * Writes the plan for the `size` (at least 1) bytes at `source`. With `isFolding` each ASCII letter
 * matches both cases.
 */
export function compileBytePlan(plan: BytePlan, source: usize, size: usize, isFolding: bool): void {
  const chunks = changetype<usize>(plan) + HEAD_SIZE;
  memory.fill(chunks, 0xff, bytePlanSize(size) - HEAD_SIZE);
  for (let index: usize = 0; index < size; index++) {
    const byte = load<u8>(source + index);
    const orMask = orMaskOf(byte, isFolding);
    const lane = chunks + (index >> 4) * CHUNK_SIZE + (index & 15);
    store<u8>(lane, byte | orMask);
    store<u8>(lane, orMask, 16);
  }
  plan.size = <u32>size;
  chooseAnchors(plan, source, <u32>size, isFolding);
}

/** Sets the two bytes to search for: the rarest two, the first ones among equals. */
function chooseAnchors(plan: BytePlan, source: usize, size: u32, isFolding: bool): void {
  let first: u32 = 0;
  let second: u32 = 0;
  let firstFrequency: u32 = u32.MAX_VALUE;
  let secondFrequency: u32 = u32.MAX_VALUE;
  for (let index: u32 = 0; index < size; index++) {
    const byte = load<u8>(source + <usize>index);
    const frequency = maskedFrequency(byte, orMaskOf(byte, isFolding));
    if (frequency < firstFrequency) {
      second = first;
      secondFrequency = firstFrequency;
      first = index;
      firstFrequency = frequency;
    } else if (frequency < secondFrequency) {
      second = index;
      secondFrequency = frequency;
    }
  }
  const firstByte = load<u8>(source + <usize>first);
  const secondByte = load<u8>(source + <usize>second);
  plan.firstIndex = first;
  plan.secondIndex = second;
  plan.firstOr = orMaskOf(firstByte, isFolding);
  plan.firstByte = firstByte | plan.firstOr;
  plan.secondOr = orMaskOf(secondByte, isFolding);
  plan.secondByte = secondByte | plan.secondOr;
}

/** Expected hits of step 1 in FREQUENCY_UNIT * FREQUENCY_UNIT bytes. */
export function bytePlanHitRate(plan: BytePlan): u64 {
  const first = maskedFrequency(plan.firstByte, plan.firstOr);
  if (plan.size == 1) return <u64>first * FREQUENCY_UNIT;
  return <u64>first * maskedFrequency(plan.secondByte, plan.secondOr);
}

/** True if the string is at `ptr`. Safety: it fits before the haystack's end. */
@inline
function matchesAt(chunks: usize, chunksEnd: usize, ptr: usize): bool {
  let chunk = chunks;
  while (
    i8x16.all_true(i8x16.eq(v128.or(v128.load(ptr), v128.load(chunk, 16)), v128.load(chunk)))
  ) {
    chunk += CHUNK_SIZE;
    ptr += 16;
    if (chunk >= chunksEnd) return true;
  }
  return false;
}

export function matchesBytes(plan: BytePlan, ptr: usize): bool {
  const chunks = changetype<usize>(plan) + HEAD_SIZE;
  return matchesAt(chunks, changetype<usize>(plan) + bytePlanSize(<usize>plan.size), ptr);
}

/** Lanes of the 16 starts where both bytes match. `isFolding` is a constant at each call. */
@inline
function pairHits(
  first: usize,
  second: usize,
  firstByte: v128,
  secondByte: v128,
  firstOr: v128,
  secondOr: v128,
  isFolding: bool,
): v128 {
  let firstBytes = v128.load(first);
  let secondBytes = v128.load(second);
  if (isFolding) {
    firstBytes = v128.or(firstBytes, firstOr);
    secondBytes = v128.or(secondBytes, secondOr);
  }
  return v128.and(i8x16.eq(firstBytes, firstByte), i8x16.eq(secondBytes, secondByte));
}

/**
 * The loop of the file's head, for strings of two bytes and more. Returns the first match or `end`;
 * with `isCounting` the number of matches without overlap. Both flags are constants at each call.
 */
@inline
function scanPairs(
  plan: BytePlan,
  start: usize,
  end: usize,
  isFolding: bool,
  isCounting: bool,
): usize {
  const size = <usize>plan.size;
  const firstIndex = <usize>plan.firstIndex;
  const secondIndex = <usize>plan.secondIndex;
  const firstByte = i8x16.splat(plan.firstByte);
  const secondByte = i8x16.splat(plan.secondByte);
  const firstOr = i8x16.splat(plan.firstOr);
  const secondOr = i8x16.splat(plan.secondOr);
  const chunks = changetype<usize>(plan) + HEAD_SIZE;
  const chunksEnd = changetype<usize>(plan) + bytePlanSize(size);
  const last = end - size;
  let count: usize = 0;
  let next = start; // where the next match may start
  for (let ptr = start; ptr <= last; ptr += STEP) {
    const first = ptr + firstIndex;
    const second = ptr + secondIndex;
    const hits0 = pairHits(first, second, firstByte, secondByte, firstOr, secondOr, isFolding);
    const hits1 = pairHits(
      first + 16,
      second + 16,
      firstByte,
      secondByte,
      firstOr,
      secondOr,
      isFolding,
    );
    const hits2 = pairHits(
      first + 32,
      second + 32,
      firstByte,
      secondByte,
      firstOr,
      secondOr,
      isFolding,
    );
    const hits3 = pairHits(
      first + 48,
      second + 48,
      firstByte,
      secondByte,
      firstOr,
      secondOr,
      isFolding,
    );
    if (!v128.any_true(v128.or(v128.or(hits0, hits1), v128.or(hits2, hits3)))) continue;
    const low = <u32>i8x16.bitmask(hits0) | (<u32>i8x16.bitmask(hits1) << 16);
    const high = <u32>i8x16.bitmask(hits2) | (<u32>i8x16.bitmask(hits3) << 16);
    let mask = (<u64>low | (<u64>high << 32)) & laneLimit(last - ptr + 1);
    while (mask != 0) {
      const hit = ptr + <usize>ctz(mask);
      mask &= mask - 1;
      if (isCounting && hit < next) continue;
      if (size > 2 && !matchesAt(chunks, chunksEnd, hit)) continue;
      if (!isCounting) return hit;
      count++;
      next = hit + size;
    }
  }
  return isCounting ? count : end;
}

function findExactPairs(plan: BytePlan, start: usize, end: usize): usize {
  return scanPairs(plan, start, end, false, false);
}

function findFoldedPairs(plan: BytePlan, start: usize, end: usize): usize {
  return scanPairs(plan, start, end, true, false);
}

function countExactPairs(plan: BytePlan, start: usize, end: usize): usize {
  return scanPairs(plan, start, end, false, true);
}

function countFoldedPairs(plan: BytePlan, start: usize, end: usize): usize {
  return scanPairs(plan, start, end, true, true);
}

/** Address of the first match within [start, end); `end` if there is none. */
export function findBytes(plan: BytePlan, start: usize, end: usize): usize {
  if (end - start < <usize>plan.size) return end;
  if (plan.size == 1) return findMaskedByte(start, end, plan.firstByte, plan.firstOr);
  if ((plan.firstOr | plan.secondOr) == 0) return findExactPairs(plan, start, end);
  return findFoldedPairs(plan, start, end);
}

/** Number of matches without overlap in [start, end), from the left. */
export function countBytes(plan: BytePlan, start: usize, end: usize): u32 {
  if (end - start < <usize>plan.size) return 0;
  if (plan.size == 1) return countMaskedByte(start, end, plan.firstByte, plan.firstOr);
  if ((plan.firstOr | plan.secondOr) == 0) return <u32>countExactPairs(plan, start, end);
  return <u32>countFoldedPairs(plan, start, end);
}
