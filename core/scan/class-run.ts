// Searches for the next run of at least n bytes of a class, any set of the 256 bytes. Each step
// tests four vectors of 16 bytes at once; the answer is nearly always no:
//   n = 1      is a byte in the class?
//   n = 2..6   are two neighbours?
//   n = 7..14  are the four bytes of an aligned group? Seven bytes in a row contain such a group;
//   n >= 15    are the eight bytes of one? From n = 31 every second vector is enough, from 63 every
//              fourth.
// Around a group in the class the run is measured byte by byte.
//
// If the class is a range, a byte is outside if saturating subtraction leaves it above zero. For other classes, two
// 16-entry tables, by low and by high nibble, are looked up and ANDed; a byte is in the class if a bit remains. Each bit
// stands for the high nibbles that have the same set of low nibbles (a row). If there are more than 8 rows, the most
// similar are merged; bytes that this adds to the class are rejected when the run is measured.
//
// Safety, for all functions that take a haystack: up to 64 bytes past `end` may be read; they never change a result. Nothing
// before `start` is read.

import { shiftOne } from './lanes.ts';

export const CLASS_RUN_SIZE: usize = 80;
const SET_SIZE: usize = 32;

const QUESTION_ONE: u32 = 1;
const QUESTION_TWO: u32 = 2;
const QUESTION_FOUR: u32 = 3;
const QUESTION_EIGHT: u32 = 4;

const VECTOR: usize = 16;
const ROWS_MAX: u32 = 8;

/** A class and the size of its runs; holds no addresses. */
@unmanaged
class ClassRun {
  runSizeMin: u32; // n, at least 1
  question: u8; // QUESTION_...
  isRange: u8; // 1: the class is [first, first + last]
  first: u8;
  last: u8; // from first on
  stride: u32; // bytes between the vectors to test
  reserved: u32; // zero
  lowTable: u64; // 16 bytes: by low nibble, the rows that have it
  lowTableEnd: u64;
  highTable: u64; // 16 bytes: by high nibble, its row
  highTableEnd: u64;
  set0: u64; // 32 bytes: a bit for each byte of the class
  set1: u64;
  set2: u64;
  set3: u64;
}

const LOW_OFFSET: usize = offsetof<ClassRun>('lowTable');
const HIGH_OFFSET: usize = offsetof<ClassRun>('highTable');
const SET_OFFSET: usize = offsetof<ClassRun>('set0');

if (offsetof<ClassRun>() != CLASS_RUN_SIZE) ERROR('ClassRun: size');

const rows = memory.data(32, 16); // u16 by row: its low nibbles
const highsOf = memory.data(32, 16); // u16 by row: the high nibbles that share it

/** Start and end of the last measured run. */
let runStart: usize = 0;
let runEnd: usize = 0;

/**
 * Compiles a class to CLASS_RUN_SIZE bytes at `outPtr`, 16-aligned; they may be copied.
 * @param set  32 bytes, bit `b & 7` of byte `b >> 3` for byte b; not empty, not used after the call
 */
export function compileClassRun(set: usize, runSizeMin: u32, outPtr: usize): void {
  assert(runSizeMin > 0, 'class run size');
  const plan = changetype<ClassRun>(outPtr);
  memory.fill(outPtr, 0, CLASS_RUN_SIZE);
  memory.copy(outPtr + SET_OFFSET, set, SET_SIZE);
  plan.runSizeMin = runSizeMin;
  plan.stride = runSizeMin >= 63 ? 64 : runSizeMin >= 31 ? 32 : 16;
  if (runSizeMin == 1) plan.question = <u8>QUESTION_ONE;
  else if (runSizeMin < 7) plan.question = <u8>QUESTION_TWO;
  else plan.question = <u8>(runSizeMin < 15 ? QUESTION_FOUR : QUESTION_EIGHT);
  setRange(plan);
  writeTables(outPtr, mergeRows(collectRows(set)));
}

@inline
function isMember(plan: ClassRun, byte: u32): bool {
  const bits = <u32>load<u8>(changetype<usize>(plan) + <usize>(byte >> 3), SET_OFFSET);
  return ((bits >> (byte & 7)) & 1) != 0;
}

/** Sets isRange, first and last. */
function setRange(plan: ClassRun): void {
  let first: u32 = 0;
  while (first < 0xff && !isMember(plan, first)) first++;
  let last: u32 = 0xff;
  while (last > first && !isMember(plan, last)) last--;
  let byte = first;
  while (byte <= last && isMember(plan, byte)) byte++;
  plan.isRange = byte > last ? 1 : 0;
  plan.first = <u8>first;
  plan.last = <u8>(last - first);
}

/** Writes the distinct non-empty rows to `rows` and `highsOf`; returns how many. */
function collectRows(set: usize): u32 {
  let count: u32 = 0;
  for (let high: u32 = 0; high < 16; high++) {
    const lows = load<u16>(set + <usize>(high << 1));
    if (lows == 0) continue;
    let row: usize = 0;
    while (row < <usize>count && load<u16>(rows + (row << 1)) != lows) row++;
    if (row == <usize>count) {
      store<u16>(rows + (row << 1), lows);
      store<u16>(highsOf + (row << 1), 0);
      count++;
    }
    store<u16>(highsOf + (row << 1), <u32>load<u16>(highsOf + (row << 1)) | (1 << high));
  }
  return count;
}

/** Merges rows until at most ROWS_MAX remain; returns how many. */
function mergeRows(count: u32): u32 {
  while (count > ROWS_MAX) {
    let best: i32 = i32.MAX_VALUE;
    let bestInto: usize = 0;
    let bestFrom: usize = 0;
    for (let from: usize = 1; from < <usize>count; from++) {
      for (let into: usize = 0; into < from; into++) {
        const added = popcnt(
          (<u32>load<u16>(rows + (from << 1))) ^ (<u32>load<u16>(rows + (into << 1))),
        );
        if (<i32>added >= best) continue;
        best = <i32>added;
        bestInto = into << 1;
        bestFrom = from << 1;
      }
    }
    count--;
    const last = <usize>count << 1;
    store<u16>(rows + bestInto, load<u16>(rows + bestInto) | load<u16>(rows + bestFrom));
    store<u16>(highsOf + bestInto, load<u16>(highsOf + bestInto) | load<u16>(highsOf + bestFrom));
    store<u16>(rows + bestFrom, load<u16>(rows + last));
    store<u16>(highsOf + bestFrom, load<u16>(highsOf + last));
  }
  return count;
}

function writeTables(plan: usize, count: u32): void {
  for (let row: u32 = 0; row < count; row++) {
    const bit: u32 = 1 << row;
    const lows = <u32>load<u16>(rows + (<usize>row << 1));
    const highs = <u32>load<u16>(highsOf + (<usize>row << 1));
    for (let nibble: usize = 0; nibble < 16; nibble++) {
      const ptr = plan + nibble;
      if (((lows >> <u32>nibble) & 1) != 0) {
        store<u8>(ptr, <u32>load<u8>(ptr, LOW_OFFSET) | bit, LOW_OFFSET);
      }
      if (((highs >> <u32>nibble) & 1) != 0) {
        store<u8>(ptr, <u32>load<u8>(ptr, HIGH_OFFSET) | bit, HIGH_OFFSET);
      }
    }
  }
}

/** The run around `at` in [from, end), up to n bytes; true if it has n. */
function measureRun(plan: ClassRun, at: usize, from: usize, end: usize): bool {
  const sizeMin = <usize>plan.runSizeMin;
  let first = at;
  while (first > from && isMember(plan, <u32>load<u8>(first - 1))) first--;
  let next = at;
  while (next < end && next - first < sizeMin && isMember(plan, <u32>load<u8>(next))) next++;
  runStart = first;
  runEnd = next;
  return next - first >= sizeMin;
}

/** Lanes that are non-zero outside the class. `isRange` is a constant at each call. */
@inline
function outsideOf(bytes: v128, table: v128, other: v128, isRange: bool): v128 {
  if (isRange) return i8x16.sub_sat_u(i8x16.sub(bytes, table), other);
  const low = i8x16.swizzle(table, v128.and(bytes, i8x16.splat(15)));
  const high = i8x16.swizzle(other, v128.and(i16x8.shr_u(bytes, 4), i8x16.splat(15)));
  return i8x16.eq(v128.and(low, high), i8x16.splat(0));
}

/** `lanes`, or the lane before each. */
@inline
function orBefore(before: v128, lanes: v128): v128 {
  return v128.or(lanes, shiftOne(before, lanes));
}

/** True if the answer is no for all four vectors. `question` is a constant at each call. */
@inline
function isNo(outside0: v128, outside1: v128, outside2: v128, outside3: v128, question: u32): bool {
  if (question == QUESTION_EIGHT) {
    const zero = i64x2.splat(0);
    const hits01 = v128.or(i64x2.eq(outside0, zero), i64x2.eq(outside1, zero));
    const hits23 = v128.or(i64x2.eq(outside2, zero), i64x2.eq(outside3, zero));
    return !v128.any_true(v128.or(hits01, hits23));
  }
  if (question == QUESTION_FOUR) {
    const least01 = i32x4.min_u(outside0, outside1);
    const least23 = i32x4.min_u(outside2, outside3);
    return i32x4.all_true(i32x4.min_u(least01, least23));
  }
  const least01 = i8x16.min_u(outside0, outside1);
  const least23 = i8x16.min_u(outside2, outside3);
  return i8x16.all_true(i8x16.min_u(least01, least23));
}

/** Mask of the bytes of the groups with the answer yes. */
@inline
function yesMask(outside: v128, question: u32): u64 {
  if (question == QUESTION_EIGHT) return <u64>i8x16.bitmask(i64x2.eq(outside, i64x2.splat(0)));
  if (question == QUESTION_FOUR) return <u64>i8x16.bitmask(i32x4.eq(outside, i32x4.splat(0)));
  return <u64>i8x16.bitmask(i8x16.eq(outside, i8x16.splat(0)));
}

/**
 * True if a run of n bytes contains one of the bytes in `mask`: four times 16 bits, from `ptr` on
 * with `stride` between vectors. No run begins before `from`.
 */
function measureMask(
  plan: ClassRun,
  mask: u64,
  ptr: usize,
  stride: usize,
  from: usize,
  end: usize,
): bool {
  let next = from;
  while (mask != 0) {
    const lane = <usize>ctz(mask);
    const at = ptr + (lane >> 4) * stride + (lane & 15);
    mask &= mask - 1;
    if (at < next) continue;
    if (at >= end) return false;
    if (measureRun(plan, at, next, end)) return true;
    next = max(runEnd, at + 1);
  }
  return false;
}

/** Steps through the text as described in the head of this file. `question` and `isRange` are constants at each call. */
@inline
function scanRuns(plan: ClassRun, start: usize, end: usize, question: u32, isRange: bool): usize {
  const ptrOfPlan = changetype<usize>(plan);
  const table = isRange ? i8x16.splat(plan.first) : v128.load(ptrOfPlan, LOW_OFFSET);
  const other = isRange ? i8x16.splat(plan.last) : v128.load(ptrOfPlan, HIGH_OFFSET);
  let stride = <usize>plan.stride;
  let before = i8x16.splat(-1);
  let from = start; // no run begins before it
  runEnd = start;
  for (let ptr = start; ptr < end; ptr += 4 * stride) {
    if (end - ptr < 4 * stride) stride = VECTOR; // the tail
    let outside0 = outsideOf(v128.load(ptr), table, other, isRange);
    let outside1 = outsideOf(v128.load(ptr + stride), table, other, isRange);
    let outside2 = outsideOf(v128.load(ptr + 2 * stride), table, other, isRange);
    let outside3 = outsideOf(v128.load(ptr + 3 * stride), table, other, isRange);
    if (question == QUESTION_TWO) {
      const last = outside3;
      outside3 = orBefore(outside2, outside3);
      outside2 = orBefore(outside1, outside2);
      outside1 = orBefore(outside0, outside1);
      outside0 = orBefore(before, outside0);
      before = last;
    }
    if (isNo(outside0, outside1, outside2, outside3, question)) continue;
    const low = yesMask(outside0, question) | (yesMask(outside1, question) << 16);
    const high = yesMask(outside2, question) | (yesMask(outside3, question) << 16);
    if (measureMask(plan, low | (high << 32), ptr, stride, from, end)) return runStart;
    from = max(from, runEnd);
  }
  return end;
}

function scanRangeOne(plan: ClassRun, start: usize, end: usize): usize {
  return scanRuns(plan, start, end, QUESTION_ONE, true);
}

function scanRangeTwo(plan: ClassRun, start: usize, end: usize): usize {
  return scanRuns(plan, start, end, QUESTION_TWO, true);
}

function scanRangeFour(plan: ClassRun, start: usize, end: usize): usize {
  return scanRuns(plan, start, end, QUESTION_FOUR, true);
}

function scanRangeEight(plan: ClassRun, start: usize, end: usize): usize {
  return scanRuns(plan, start, end, QUESTION_EIGHT, true);
}

function scanTableOne(plan: ClassRun, start: usize, end: usize): usize {
  return scanRuns(plan, start, end, QUESTION_ONE, false);
}

function scanTableTwo(plan: ClassRun, start: usize, end: usize): usize {
  return scanRuns(plan, start, end, QUESTION_TWO, false);
}

function scanTableFour(plan: ClassRun, start: usize, end: usize): usize {
  return scanRuns(plan, start, end, QUESTION_FOUR, false);
}

function scanTableEight(plan: ClassRun, start: usize, end: usize): usize {
  return scanRuns(plan, start, end, QUESTION_EIGHT, false);
}

/** First address in [start, end) with at least n bytes of the class before `end`; else `end`. */
export function findClassRun(classRun: usize, start: usize, end: usize): usize {
  const plan = changetype<ClassRun>(classRun);
  if (start >= end || end - start < <usize>plan.runSizeMin) return end;
  const question = <u32>plan.question;
  if (plan.isRange != 0) {
    if (question == QUESTION_ONE) return scanRangeOne(plan, start, end);
    if (question == QUESTION_TWO) return scanRangeTwo(plan, start, end);
    if (question == QUESTION_FOUR) return scanRangeFour(plan, start, end);
    return scanRangeEight(plan, start, end);
  }
  if (question == QUESTION_ONE) return scanTableOne(plan, start, end);
  if (question == QUESTION_TWO) return scanTableTwo(plan, start, end);
  if (question == QUESTION_FOUR) return scanTableFour(plan, start, end);
  return scanTableEight(plan, start, end);
}
