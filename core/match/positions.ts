// Lines and columns of byte offsets in one content (API.md 6.4): lines end with LF and count from 1,
// columns are code points from 1. Walks forward from the last position asked for, so that many ranges on
// one long line cost one pass; jumps by the line numbers that the shard keeps for each block.

import { countByte, findLastByte } from '../scan/newlines.ts';
import { countCodePoints } from '../text/utf8.ts';
import { blockAt } from '../shard/open.ts';
import { boundView } from './bound.ts';
import { currentEndBlock, currentFirstBlock, currentStart } from './evaluate.ts';

let at: usize = 0;
/** 0-based line of `at`. */
let line: u32 = 0;
/** Start of that line, and code points from there to `at`; start = 0: not known yet. */
let lineStart: usize = 0;
let points: u32 = 0;

/** Begins at the start of the current doc's content. */
export function beginPositions(): void {
  at = currentStart();
  line = 0;
  lineStart = at;
  points = 0;
}

/** Moves to `ptr`, an address in the current content or its end, at or behind the last one. */
export function moveTo(ptr: usize): void {
  assert(ptr >= at);
  const jump = blockBefore(ptr);
  if (jump > at) {
    at = jump;
    line = jumpLine;
    lineStart = jump;
    points = 0;
  }
  const newlines = countByte(at, ptr, 10);
  if (newlines > 0) {
    line += newlines;
    lineStart = findLastByte(at, ptr, 10) + 1;
    points = countCodePoints(lineStart, ptr);
  } else points += countCodePoints(at, ptr);
  at = ptr;
}

/** 1-based line of the position. */
export function currentLine(): u32 {
  return line + 1;
}
/** 1-based column of the position. */
export function currentColumn(): u32 {
  return points + 1;
}
/** Address of the first byte of the position's line. */
export function currentLineStart(): usize {
  return lineStart;
}

let jumpLine: u32 = 0;

/** Address of the start of the block that holds `ptr` (binary search); its line in jumpLine. */
function blockBefore(ptr: usize): usize {
  const offset = <u32>(ptr - boundView.content);
  let start = currentFirstBlock();
  let end = currentEndBlock();
  while (end - start > 1) {
    const middle = (start + end) >> 1;
    if (blockAt(boundView, middle).contentOffset <= offset) start = middle;
    else end = middle;
  }
  jumpLine = blockAt(boundView, start).line;
  return <usize>boundView.content + blockAt(boundView, start).contentOffset;
}
