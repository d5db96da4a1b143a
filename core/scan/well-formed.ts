// Finds bytes that are not well-formed UTF-8 (defined in text/utf8.ts). Vectors check whole steps
// of 64 bytes:
//   1. each byte and the one before it are looked up by three nibbles; a bit shared by all three
//      results stands for an error of the pair (BAD_...), or for two continuations in a row
//      (TWO_CONTINUATIONS);
//   2. two continuations are right exactly where the byte two or three before begins a longer
//      sequence;
//   3. steps of ASCII behind a step of ASCII pass at once.
// The step with a bad byte and the end are read again by code points, which finds the byte.
// Source: J. Keiser, D. Lemire, Validating UTF-8 in less than one instruction per byte, 2021.

// Safety: reads nothing outside the range, except up to 64 bytes past its end.

import { decodedSize, decodeUtf8 } from '../text/utf8.ts';
import { shiftOne, shiftThree, shiftTwo } from './lanes.ts';
import { findNonAscii } from './newlines.ts';

const STEP: usize = 64;
/** Bytes to read by code points where vectors stopped: the step, and the rest of a sequence. */
const SCALAR_STEP: usize = 128;

// Errors of a pair of bytes: a lead without its continuation, a continuation without its lead, ...
const BAD_SHORT: i8 = 0x01;
const BAD_LONG: i8 = 0x02;
const BAD_OVERLONG_3: i8 = 0x04; // E0 80..9F
const BAD_LARGE: i8 = 0x08; // F4 90..BF, F5.. 80..
const BAD_SURROGATE: i8 = 0x10; // ED A0..BF
const BAD_OVERLONG_2: i8 = 0x20; // C0, C1
const BAD_OVERLONG_4: i8 = 0x40; // F0 80..8F, and F5.. 80..8F
const TWO_CONTINUATIONS: i8 = -0x80;
/** For any low nibble of the first byte. */
const ANY_LOW: i8 = BAD_SHORT | BAD_LONG | TWO_CONTINUATIONS;

/** Errors possible with the high nibble of the first byte. */
@inline
function firstHigh(): v128 {
  const lead4 = BAD_SHORT | BAD_LARGE | BAD_OVERLONG_4;
  return i8x16(
    BAD_LONG, BAD_LONG, BAD_LONG, BAD_LONG, BAD_LONG, BAD_LONG, BAD_LONG, BAD_LONG,
    TWO_CONTINUATIONS, TWO_CONTINUATIONS, TWO_CONTINUATIONS, TWO_CONTINUATIONS,
    BAD_SHORT | BAD_OVERLONG_2, BAD_SHORT, BAD_SHORT | BAD_OVERLONG_3 | BAD_SURROGATE, lead4,
  );
}

@inline
function firstLow(): v128 {
  const large = ANY_LOW | BAD_LARGE | BAD_OVERLONG_4;
  return i8x16(
    ANY_LOW | BAD_OVERLONG_2 | BAD_OVERLONG_3 | BAD_OVERLONG_4, ANY_LOW | BAD_OVERLONG_2,
    ANY_LOW, ANY_LOW, ANY_LOW | BAD_LARGE, large, large, large,
    large, large, large, large, large, large | BAD_SURROGATE, large, large,
  );
}

@inline
function secondHigh(): v128 {
  const any = BAD_LONG | BAD_OVERLONG_2 | TWO_CONTINUATIONS;
  const high = any | BAD_SURROGATE | BAD_LARGE;
  return i8x16(
    BAD_SHORT, BAD_SHORT, BAD_SHORT, BAD_SHORT, BAD_SHORT, BAD_SHORT, BAD_SHORT, BAD_SHORT,
    any | BAD_OVERLONG_3 | BAD_OVERLONG_4, any | BAD_OVERLONG_3 | BAD_LARGE, high, high,
    BAD_SHORT, BAD_SHORT, BAD_SHORT, BAD_SHORT,
  );
}

/** Lanes that are non-zero where `bytes`, which follow `before`, break a rule. */
@inline
function wrongLanes(before: v128, bytes: v128): v128 {
  const back1 = shiftOne(before, bytes);
  const back2 = shiftTwo(before, bytes);
  const back3 = shiftThree(before, bytes);
  const pairs = v128.and(
    v128.and(
      i8x16.swizzle(firstHigh(), i8x16.shr_u(back1, 4)),
      i8x16.swizzle(firstLow(), v128.and(back1, i8x16.splat(0x0f))),
    ),
    i8x16.swizzle(secondHigh(), i8x16.shr_u(bytes, 4)),
  );
  // The top bit is set from leads E0 (two before) and F0 (three before) on.
  const thirds = i8x16.sub_sat_u(back2, i8x16.splat(0x60));
  const fourths = i8x16.sub_sat_u(back3, i8x16.splat(0x70));
  return v128.xor(v128.and(v128.or(thirds, fourths), i8x16.splat(-0x80)), pairs);
}

/**
 * An address up to which [ptr, end) is well-formed, except for a sequence that may be cut there:
 * the start of the step with the first bad byte, or of the rest. `ptr` is a code point border.
 */
function checkSteps(ptr: usize, end: usize): usize {
  let before = i8x16.splat(0);
  while (end - ptr >= STEP) {
    const bytes0 = v128.load(ptr);
    const bytes1 = v128.load(ptr, 16);
    const bytes2 = v128.load(ptr, 32);
    const bytes3 = v128.load(ptr, 48);
    const all = v128.or(v128.or(bytes0, bytes1), v128.or(bytes2, bytes3));
    if (i8x16.bitmask(v128.or(all, before)) != 0) {
      const wrong01 = v128.or(wrongLanes(before, bytes0), wrongLanes(bytes0, bytes1));
      const wrong23 = v128.or(wrongLanes(bytes1, bytes2), wrongLanes(bytes2, bytes3));
      if (v128.any_true(v128.or(wrong01, wrong23))) return ptr;
    }
    before = bytes3;
    ptr += STEP;
  }
  return ptr;
}

/**
 * The code point border at or before `ptr`, if [start, ptr) is well-formed except for a cut end.
 */
function borderBefore(start: usize, ptr: usize): usize {
  let border = ptr;
  while (border > start && ptr - border < 3) {
    border--;
    if (load<u8>(border) >= 0xc0) return border;
    if (load<u8>(border) < 0x80) return ptr;
  }
  return ptr;
}

/**
 * First byte in [ptr, end) that is not part of a well-formed sequence, else `end`. Both are code
 * point borders, unless the text ends there.
 */
export function findIllFormed(ptr: usize, end: usize): usize {
  while (ptr < end) {
    ptr = findNonAscii(ptr, end);
    ptr = borderBefore(ptr, checkSteps(ptr, end));
    const stop = ptr + min(end - ptr, SCALAR_STEP);
    while (ptr < stop) {
      const size = decodedSize(decodeUtf8(ptr, end));
      if (size == 1 && load<u8>(ptr) >= 0x80) return ptr;
      ptr += size;
    }
  }
  return end;
}
