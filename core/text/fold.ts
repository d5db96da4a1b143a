// Unicode simple case folding: two code points are equal without regard to case exactly if they
// fold to the same one. The data are generated (shared/fold-table.ts). Three facts shape the
// scanners above: only ASCII letters fold within ASCII; U+212A (Kelvin) and U+017F (long s) are the
// only code points outside ASCII that fold into it, to k and s; at most FOLD_CLASS_MAX code points
// share a fold.

import {
  FOLD_CLASS_MAX,
  FOLD_DELTA_BIAS,
  FOLD_RANGE_COUNT,
  FOLD_TABLE,
} from '../shared/fold-table.ts';

export { FOLD_CLASS_MAX };

const ROW_SIZE: usize = 12;

@unmanaged
class FoldRange {
  first: u32;
  last: u32;
  packed: u32; // (delta + FOLD_DELTA_BIAS) << 2 | step
}

if (offsetof<FoldRange>() != ROW_SIZE) ERROR('FoldRange: size');

@inline
function foldRange(index: u32): FoldRange {
  return changetype<FoldRange>(changetype<usize>(FOLD_TABLE) + <usize>index * ROW_SIZE);
}

/** The code point that `point`, which lies within `range`, folds to. */
@inline
function foldWithin(range: FoldRange, point: u32): u32 {
  const isMember = (range.packed & 3) == 1 || ((point - range.first) & 1) == 0;
  return isMember ? point + (range.packed >> 2) - FOLD_DELTA_BIAS : point;
}

/** The code point that `point` folds to; `point` itself if it has no case. Cost: a binary search outside ASCII. */
@inline
export function foldCodePoint(point: u32): u32 {
  if (point < 0x80) return foldAscii(point);
  return foldFromTable(point);
}

/** As foldCodePoint, for `point` < 0x80. */
@inline
export function foldAscii(point: u32): u32 {
  return point - 0x41 < 26 ? point | 0x20 : point;
}

/** Folds 8 ASCII bytes. */
@inline
export function foldAsciiBytes(bytes: u64): u64 {
  // The top bit of a byte: it is not below A; it is behind Z. No sum exceeds its byte.
  const fromA = bytes + 0x3f3f3f3f3f3f3f3f;
  const behindZ = bytes + 0x2525252525252525;
  return bytes | ((fromA & ~behindZ & 0x8080808080808080) >> 2);
}

function foldFromTable(point: u32): u32 {
  let low: u32 = 0;
  let high = FOLD_RANGE_COUNT;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (foldRange(middle).last < point) low = middle + 1;
    else high = middle;
  }
  if (low == FOLD_RANGE_COUNT) return point;
  const range = foldRange(low);
  return range.first <= point ? foldWithin(range, point) : point;
}

/**
 * Writes every code point with the same fold, itself included, as u32 in no particular order;
 * returns how many, 1 to FOLD_CLASS_MAX. Safety: room for FOLD_CLASS_MAX u32. Cost: reads the whole
 * table, so for patterns, not for haystacks.
 */
export function foldVariants(point: u32, outPtr: usize): u32 {
  const folded = foldCodePoint(point);
  store<u32>(outPtr, folded);
  let count: u32 = 1;
  for (let index: u32 = 0; index < FOLD_RANGE_COUNT; index++) {
    const range = foldRange(index);
    const source = folded + FOLD_DELTA_BIAS - (range.packed >> 2);
    if (source < range.first || source > range.last || foldWithin(range, source) != folded)
      continue;
    assert(count < FOLD_CLASS_MAX, 'fold class size');
    store<u32>(outPtr + (<usize>count << 2), source);
    count++;
  }
  return count;
}

/** True if some other code point folds to the same one as `point`. Cost: as foldVariants. */
export function isFoldable(point: u32): bool {
  if (point < 0x80) return foldAscii(point) - 0x61 < 26;
  const folded = foldFromTable(point);
  if (folded != point) return true;
  for (let index: u32 = 0; index < FOLD_RANGE_COUNT; index++) {
    const range = foldRange(index);
    const source = point + FOLD_DELTA_BIAS - (range.packed >> 2);
    if (source < range.first || source > range.last) continue;
    if (foldWithin(range, source) == point) return true;
  }
  return false;
}
