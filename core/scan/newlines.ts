// Counts and finds one byte value, mostly newlines. Each step tests 64 bytes:
//   1. compare four vectors with the byte; an equal lane is 0xFF;
//   2. finding: OR the four, test any_true once, and only then make a 64-bit mask of the lanes;
//   3. counting: subtract the comparisons (0xFF = -1) from four vectors of u8 sums, and widen those
//      before a lane can overflow, every 255 steps.
// The end of the haystack is one more step whose mask is cut to the bytes that count. Safety, for
// all functions here: up to 64 bytes past `end` may be read; they never change a result. Nothing
// before `start` is read.

const STEP: usize = 64;
/** Steps after which a u8 sum may be full. */
const STEPS_MAX: usize = 255;

/** Sum of the 16 unsigned lanes. */
@inline
function sumLanes(sums: v128): u32 {
  const wide = i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(sums));
  return (
    i32x4.extract_lane(wide, 0) +
    i32x4.extract_lane(wide, 1) +
    i32x4.extract_lane(wide, 2) +
    i32x4.extract_lane(wide, 3)
  );
}

/** Mask of those of the 64 bytes at `ptr` that equal `byte` after OR with `orMask`. */
@inline
function stepMask(ptr: usize, byte: v128, orMask: v128): u64 {
  const mask0 = i8x16.bitmask(i8x16.eq(v128.or(v128.load(ptr), orMask), byte));
  const mask1 = i8x16.bitmask(i8x16.eq(v128.or(v128.load(ptr, 16), orMask), byte));
  const mask2 = i8x16.bitmask(i8x16.eq(v128.or(v128.load(ptr, 32), orMask), byte));
  const mask3 = i8x16.bitmask(i8x16.eq(v128.or(v128.load(ptr, 48), orMask), byte));
  const low = <u64>(<u32>mask0 | (<u32>mask1 << 16));
  return low | (<u64>(<u32>mask2 | (<u32>mask3 << 16)) << 32);
}

/** Mask of the lanes below `count`; all from 64 on. */
@inline
export function laneLimit(count: usize): u64 {
  return count >= STEP ? <u64>-1 : ((<u64>1) << <u64>count) - 1;
}

/** Number of bytes in [start, end) that equal `byte` after OR with `orMask`. */
export function countMaskedByte(start: usize, end: usize, byte: u8, orMask: u8): u32 {
  const target = i8x16.splat(byte);
  const mask = i8x16.splat(orMask);
  let count: u32 = 0;
  let ptr = start;
  while (end - ptr >= STEP) {
    const stop = ptr + min((end - ptr) / STEP, STEPS_MAX) * STEP;
    let sum0 = i8x16.splat(0);
    let sum1 = i8x16.splat(0);
    let sum2 = i8x16.splat(0);
    let sum3 = i8x16.splat(0);
    while (ptr < stop) {
      sum0 = i8x16.sub(sum0, i8x16.eq(v128.or(v128.load(ptr), mask), target));
      sum1 = i8x16.sub(sum1, i8x16.eq(v128.or(v128.load(ptr, 16), mask), target));
      sum2 = i8x16.sub(sum2, i8x16.eq(v128.or(v128.load(ptr, 32), mask), target));
      sum3 = i8x16.sub(sum3, i8x16.eq(v128.or(v128.load(ptr, 48), mask), target));
      ptr += STEP;
    }
    count += sumLanes(sum0) + sumLanes(sum1) + sumLanes(sum2) + sumLanes(sum3);
  }
  if (ptr == end) return count;
  return count + <u32>popcnt(stepMask(ptr, target, mask) & laneLimit(end - ptr));
}

/** First address in [start, end) whose byte equals `byte` after OR with `orMask`; `end` if none. */
export function findMaskedByte(start: usize, end: usize, byte: u8, orMask: u8): usize {
  const target = i8x16.splat(byte);
  const mask = i8x16.splat(orMask);
  for (let ptr = start; ptr < end; ptr += STEP) {
    const equal0 = i8x16.eq(v128.or(v128.load(ptr), mask), target);
    const equal1 = i8x16.eq(v128.or(v128.load(ptr, 16), mask), target);
    const equal2 = i8x16.eq(v128.or(v128.load(ptr, 32), mask), target);
    const equal3 = i8x16.eq(v128.or(v128.load(ptr, 48), mask), target);
    if (!v128.any_true(v128.or(v128.or(equal0, equal1), v128.or(equal2, equal3)))) continue;
    const found = ptr + <usize>ctz(stepMask(ptr, target, mask));
    return min(found, end);
  }
  return end;
}

/** Number of bytes in [start, end) that equal `byte`. */
export function countByte(start: usize, end: usize, byte: u8): u32 {
  return countMaskedByte(start, end, byte, 0);
}

/** First address in [start, end) with `byte`; `end` if there is none. */
export function findByte(start: usize, end: usize, byte: u8): usize {
  return findMaskedByte(start, end, byte, 0);
}

/** Last address in [start, end) with `byte`; `end` if there is none. */
export function findLastByte(start: usize, end: usize, byte: u8): usize {
  const target = i8x16.splat(byte);
  const none = i8x16.splat(0);
  let stop = end;
  while (stop > start) {
    const count = min(stop - start, STEP);
    const ptr = stop - count;
    const mask = stepMask(ptr, target, none) & laneLimit(count);
    if (mask != 0) return ptr + 63 - <usize>clz(mask);
    stop = ptr;
  }
  return end;
}

/** First address in [start, end) whose byte is above 0x7F; `end` if none. */
export function findNonAscii(start: usize, end: usize): usize {
  return findMaskedByte(start, end, 0xff, 0x7f);
}
