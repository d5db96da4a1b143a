// The scalar twins of the SIMD scanners: the same contracts, one byte at a time, short enough to be
// obviously correct. Tests run the same cases on both.

import { NEEDLE_ROW_SIZE } from '../../../core/shared/program.ts';
import { foldCodePoint } from '../../../core/text/fold.ts';
import { decodeUtf8, decodedPoint, decodedSize } from '../../../core/text/utf8.ts';

let setEnd: usize = 0;
let setIndex: u32 = 0;

export function countByteScalar(start: usize, end: usize, byte: u8): u32 {
  let count: u32 = 0;
  for (let ptr = start; ptr < end; ptr++) if (load<u8>(ptr) == byte) count++;
  return count;
}

export function findByteScalar(start: usize, end: usize, byte: u8): usize {
  for (let ptr = start; ptr < end; ptr++) if (load<u8>(ptr) == byte) return ptr;
  return end;
}

export function findLastByteScalar(start: usize, end: usize, byte: u8): usize {
  let ptr = end;
  while (ptr > start) {
    ptr--;
    if (load<u8>(ptr) == byte) return ptr;
  }
  return end;
}

export function countCodePointsScalar(start: usize, end: usize): u32 {
  let count: u32 = 0;
  for (let ptr = start; ptr < end; ptr += decodedSize(decodeUtf8(ptr, end))) count++;
  return count;
}

/** Of texts of at most SYMBOL_KEY_SIZE_MAX bytes. */
export function compareFoldedScalar(
  a: usize,
  aSize: u32,
  b: usize,
  bSize: u32,
  isPrefix: bool,
): i32 {
  const aEnd = a + aSize;
  const bEnd = b + bSize;
  while (a < aEnd && b < bEnd) {
    const aDecoded = decodeUtf8(a, aEnd);
    const bDecoded = decodeUtf8(b, bEnd);
    const aPoint = foldCodePoint(decodedPoint(aDecoded));
    const bPoint = foldCodePoint(decodedPoint(bDecoded));
    if (aPoint != bPoint) return aPoint < bPoint ? -1 : 1;
    a += decodedSize(aDecoded);
    b += decodedSize(bDecoded);
  }
  if (a < aEnd) return 1;
  return b < bEnd && !isPrefix ? -1 : 0;
}

/** End of the match that starts at `ptr`; 0: none. The needle is valid for both sides. */
function matchScalar(
  needle: usize,
  needleEnd: usize,
  ptr: usize,
  end: usize,
  isFolding: bool,
): usize {
  while (needle < needleEnd) {
    if (ptr >= end) return 0;
    const expected = decodeUtf8(needle, needleEnd);
    const found = decodeUtf8(ptr, end);
    let expectedPoint = decodedPoint(expected);
    let foundPoint = decodedPoint(found);
    if (isFolding) {
      expectedPoint = foldCodePoint(expectedPoint);
      foundPoint = foldCodePoint(foundPoint);
    }
    if (expectedPoint != foundPoint) return 0;
    needle += decodedSize(expected);
    ptr += decodedSize(found);
  }
  return ptr;
}

/** As countNeedle, with a non-empty needle as UTF-8. */
export function countNeedleScalar(
  needle: usize,
  needleEnd: usize,
  start: usize,
  end: usize,
  isFolding: bool,
): u32 {
  let count: u32 = 0;
  let ptr = start;
  while (ptr < end) {
    const matchEnd = matchScalar(needle, needleEnd, ptr, end, isFolding);
    if (matchEnd != 0) count++;
    ptr = matchEnd != 0 ? matchEnd : ptr + decodedSize(decodeUtf8(ptr, end));
  }
  return count;
}

/** As findInSet, with literals as rows and bytes. */
export function findInSetScalar(
  rows: usize,
  count: u32,
  bytes: usize,
  start: usize,
  end: usize,
  isFolding: bool,
): usize {
  for (let ptr = start; ptr < end; ptr += decodedSize(decodeUtf8(ptr, end))) {
    for (setIndex = 0; setIndex < count; setIndex++) {
      const row = rows + <usize>(setIndex * NEEDLE_ROW_SIZE);
      const needle = bytes + <usize>load<u32>(row);
      setEnd = matchScalar(needle, needle + <usize>load<u32>(row, 4), ptr, end, isFolding);
      if (setEnd != 0) return ptr;
    }
  }
  return end;
}

export function foundSetEndScalar(): usize {
  return setEnd;
}

export function foundSetIndexScalar(): u32 {
  return setIndex;
}

/** As findClassRun, with a class as a set and runs of `runSizeMin` bytes. */
export function findClassRunScalar(set: usize, runSizeMin: u32, start: usize, end: usize): usize {
  let size: u32 = 0;
  for (let ptr = start; ptr < end; ptr++) {
    const byte = <u32>load<u8>(ptr);
    const isMember = (((<u32>load<u8>(set + <usize>(byte >> 3))) >> (byte & 7)) & 1) != 0;
    size = isMember ? size + 1 : 0;
    if (size == runSizeMin) return ptr + 1 - <usize>size;
  }
  return end;
}
