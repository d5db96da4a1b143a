// Lines and columns of byte offsets in one content (API.md 6.4), in code points, from 1. Walks
// forward from the last position; jumps by the line numbers that the shard keeps for each block.

import { countByte, findLastByte } from '../scan/newlines.ts';
import { countCodePoints } from '../text/utf8.ts';
import { blockAt } from '../shard/open.ts';
import { needBytes } from '../shard/pages.ts';
import { boundView } from './bound.ts';
import { blockOf, blockStart, current } from './current.ts';

/** The last position, an address. */
let at: usize = 0;
/** Block of the current content that contains `at`. */
let block: u32 = 0;
/** 0-based line of `at`. */
let line: u32 = 0;
/** Start of that line, and code points from there to `at`. */
let lineStart: usize = 0;
let points: u32 = 0;

export function beginPositions(): void {
  at = current.start;
  block = current.firstBlock;
  line = 0;
  lineStart = at;
  points = 0;
}

/** Begins at the start of a line, an address; `lineNumber` from 1. */
export function beginPositionsAt(start: usize, lineNumber: u32): void {
  at = start;
  block = blockOf(start, current.firstBlock);
  line = lineNumber - 1;
  lineStart = start;
  points = 0;
}

/** Moves to `ptr`, an address in the current content or its end, not before the last one. */
export function moveTo(ptr: usize): void {
  assert(ptr >= at);
  block = blockOf(ptr, block);
  if (blockStart(block) > at) {
    at = blockStart(block);
    line = blockAt(boundView, block).line;
    lineStart = at;
    points = 0;
  }
  // The score of a range reads the characters around it too.
  needBytes(boundView, max(current.fileStart, at - 4), ptr + 64);
  const newlines = countByte(at, ptr, 10);
  if (newlines > 0) {
    line += newlines;
    lineStart = findLastByte(at, ptr, 10) + 1;
    points = countCodePoints(lineStart, ptr);
  } else points += countCodePoints(at, ptr);
  at = ptr;
}

export function currentLine(): u32 {
  return line + 1;
}
export function currentColumn(): u32 {
  return points + 1;
}
export function currentLineStart(): usize {
  return lineStart;
}
