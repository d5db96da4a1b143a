// Case marks: the pairs of neighbouring bytes with an ASCII capital that a block may contain, as
// 256 bits. Grams are folded, so that one index serves both cases; the marks distinguish PM_RESUME
// from pm_resume before the block is read. FORMAT.md, "Case marks". Only ASCII pairs are tested: in
// a search other bytes may equal each other (bad UTF-8 reads as U+FFFD).

import { setBit } from '../base/bits.ts';
import { CASE_MARKS_SIZE } from '../shared/format.ts';

const NEWLINE: u32 = 10;

@inline
function isCapital(byte: u32): bool {
  return byte - 0x41 < 26;
}

/** Pairs with a newline have no mark: which lines share a block is chance. */
@inline
function isMarked(first: u32, second: u32): bool {
  return (isCapital(first) || isCapital(second)) && first != NEWLINE && second != NEWLINE;
}

@inline
function setMark(marks: usize, first: u32, second: u32): void {
  setBit(marks, (((first << 8) | second) * 2654435761) >> 24);
}

@inline
function capitals(bytes: v128): v128 {
  return i8x16.lt_u(i8x16.sub(bytes, i8x16.splat(0x41)), i8x16.splat(26));
}

/** Writes the case marks of the block [start, end) to the CASE_MARKS_SIZE bytes at `marks`. */
export function markBlock(start: usize, end: usize, marks: usize): void {
  memory.fill(marks, 0, CASE_MARKS_SIZE);
  let ptr = start;
  for (; ptr + 17 <= end; ptr += 16) {
    const either = v128.or(capitals(v128.load(ptr)), capitals(v128.load(ptr, 1)));
    for (let hits = i8x16.bitmask(either); hits != 0; hits &= hits - 1) {
      const at = ptr + <usize>ctz(hits);
      if (isMarked(load<u8>(at), load<u8>(at, 1))) setMark(marks, load<u8>(at), load<u8>(at, 1));
    }
  }
  for (; ptr + 1 < end; ptr++) {
    const first = <u32>load<u8>(ptr);
    const second = <u32>load<u8>(ptr, 1);
    if (isMarked(first, second)) setMark(marks, first, second);
  }
}

/** Writes the marks that every block with this text, in this case, has; false if there are none. */
export function marksOfText(start: usize, end: usize, marks: usize): bool {
  memory.fill(marks, 0, CASE_MARKS_SIZE);
  let isAny = false;
  for (let ptr = start; ptr + 1 < end; ptr++) {
    const first = <u32>load<u8>(ptr);
    const second = <u32>load<u8>(ptr, 1);
    if ((first | second) >= 0x80 || !isMarked(first, second)) continue;
    setMark(marks, first, second);
    isAny = true;
  }
  return isAny;
}

@inline
export function hasMarks(marks: usize, required: usize): bool {
  const low = v128.andnot(v128.load(required), v128.load(marks));
  const high = v128.andnot(v128.load(required, 16), v128.load(marks, 16));
  return !v128.any_true(v128.or(low, high));
}
