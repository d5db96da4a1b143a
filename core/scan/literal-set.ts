// Searches for a set of literals at once, by the rules of literal.ts. Exact: the set's fingerprint
// finds possible starts, needles verify them (set-scan.ts). A second fingerprint serves haystacks
// with U+212A and U+017F if that makes a difference. Safety, for haystacks: up to 64 bytes past
// `end` may be read; they never change a result. Nothing before `start`, a code point border, is
// read.

import { NEEDLE_ROW_SIZE } from '../shared/program.ts';
import { REPLACEMENT, decodeUtf8, decodedPoint } from '../text/utf8.ts';
import {
  FINGERPRINT_LITERALS_MAX,
  BUCKETS_PER_HALF,
  Fingerprint,
  fingerprintAdd,
  fingerprintBegin,
  fingerprintEnd,
  fingerprintSize,
} from './fingerprint.ts';
import {
  HAYSTACK_FOLDS_INTO_ASCII,
  NEEDLE_EMPTY,
  NEEDLE_OUT_TOO_SMALL,
  NEEDLE_TOO_LARGE,
  NEEDLE_SIZE_MAX,
  compileNeedle,
} from './literal.ts';
import { LITERAL_SET_HEAD_SIZE, LiteralSet, scanBoth, scanHalf } from './set-scan.ts';

export { foundSetEnd, foundSetIndex } from './set-scan';

/** Status of compileLiteralSet: no literal, or more than LITERAL_SET_COUNT_MAX. */
export const LITERAL_SET_COUNT: i32 = -4;

export const LITERAL_SET_COUNT_MAX: u32 = FINGERPRINT_LITERALS_MAX;

/** Most bytes of a compiled needle: a number for each of its bytes, plus a constant. */
const SIZE_PER_BYTE: usize = 8;
const SIZE_PER_NEEDLE: usize = 192;

@inline
function narrowOffsetOf(count: u32): usize {
  return LITERAL_SET_HEAD_SIZE + ((<usize>count * 4 + 15) & ~15);
}

/** Room for compileLiteralSet with `count` literals of total size `size`. */
export function literalSetSizeMax(count: u32, size: usize): usize {
  const needlesSize = <usize>count * SIZE_PER_NEEDLE + size * SIZE_PER_BYTE;
  return narrowOffsetOf(count) + 2 * fingerprintSize(count) + needlesSize;
}

/**
 * Compiles `count` literals to `outPtr`; returns the bytes used, a multiple of 16, or
 * LITERAL_SET_COUNT, NEEDLE_EMPTY, NEEDLE_OUT_TOO_SMALL, NEEDLE_TOO_LARGE.
 * @param rows         count rows of NEEDLE_ROW_SIZE: offset and size of a literal (u32) in `bytes`
 * @param outPtr       16-aligned; the result holds no addresses and may be copied
 * @param outCapacity  bytes at outPtr, at least literalSetSizeMax of count and the sum of sizes
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
  const printSize = fingerprintSize(count);
  set.count = count;
  set.narrowOffset = <u32>narrowOffset;
  set.wideOffset = <u32>narrowOffset;
  set.startsBad = startsBad(rows, count, bytes) ? 1 : 0;
  writeFingerprint(outPtr + narrowOffset, rows, count, bytes, !isCaseSensitive, false);
  let used = narrowOffset + printSize;
  if (!isCaseSensitive) {
    writeFingerprint(outPtr + used, rows, count, bytes, true, true);
    if (memory.compare(outPtr + used, outPtr + narrowOffset, printSize) != 0) {
      set.wideOffset = <u32>used;
      used += printSize;
    }
  }
  for (let index: u32 = 0; index < count; index++) {
    store<u32>(outPtr + (<usize>index << 2), <u32>used, LITERAL_SET_HEAD_SIZE);
    const source = bytes + rowOffset(rows, index);
    const out = outPtr + used;
    const size = compileNeedle(
      source,
      rowSize(rows, index),
      isCaseSensitive,
      out,
      outCapacity - used,
    );
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

/** 0 if the literals fit into `capacity` bytes, else a status. */
function checkRows(rows: usize, count: u32, capacity: usize): i32 {
  let total: usize = 0;
  for (let index: u32 = 0; index < count; index++) {
    const size = rowSize(rows, index);
    if (size == 0) return NEEDLE_EMPTY;
    if (size > NEEDLE_SIZE_MAX) return NEEDLE_TOO_LARGE;
    total += size;
  }
  return capacity < literalSetSizeMax(count, total) ? NEEDLE_OUT_TOO_SMALL : 0;
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
 * Start of the leftmost match of any literal within [start, end), or `end`. Of the literals that
 * match there, foundSetIndex gives the first of the set, and foundSetEnd its end.
 * @param flags  HAYSTACK_FOLDS_INTO_ASCII unless it certainly contains no U+212A and U+017F
 */
export function findInSet(set: usize, start: usize, end: usize, flags: u32): usize {
  const record = changetype<LiteralSet>(set);
  const isWide = (flags & HAYSTACK_FOLDS_INTO_ASCII) != 0;
  const print = changetype<Fingerprint>(
    set + <usize>(isWide ? record.wideOffset : record.narrowOffset),
  );
  if (end - start < <usize>print.sizeMin) return end;
  if (print.bucketCount == BUCKETS_PER_HALF) return scanHalf(set, print, start, end, flags);
  return scanBoth(set, print, start, end, flags);
}
