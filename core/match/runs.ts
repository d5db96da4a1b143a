// Runs: sequences of neighbouring candidate blocks of the current blob, each scanned by a leaf in
// one pass.
//
//   candidate   . # # # . . # .
//   runs          [---)     [)

import { countWork } from '../base/work.ts';
import { getBit } from '../base/bits.ts';
import { blockStart, current, markRead } from './current.ts';
import { ContentLeaf } from './node.ts';

/** Guess: steps of work (base/work.ts) for moving a leaf to its next match. */
export const ADVANCE_STEPS: u32 = 4;
/** Guess: bytes that a needle scans per step, as a power of 2. */
const SCAN_SHIFT: u32 = 6;

export const NO_RUN: u32 = 0xffffffff;

/**
 * Moves the cursor to the next run of blocks in `bitmap` (0: one run) and marks it as read; returns
 * its first block, or NO_RUN.
 */
export function nextRun(node: ContentLeaf, bitmap: usize): u32 {
  const endBlock = current.endBlock;
  let block = node.cursorBlock;
  if (bitmap != 0) while (block < endBlock && getBit(bitmap, block) == 0) block++;
  if (block >= endBlock) {
    node.cursorBlock = endBlock;
    return NO_RUN;
  }
  const first = block;
  if (bitmap == 0) block = endBlock;
  else while (++block < endBlock && getBit(bitmap, block) != 0) {}
  enterRun(node, blockStart(first), first, block);
  return first;
}

/** Moves the cursor into the run [first, end), searched from `start` on, and marks it as read. */
export function enterRun(node: ContentLeaf, start: usize, first: u32, end: u32): void {
  node.cursorBlock = end;
  // A match that spans lines may end after the start of this run, and a byte order mark precedes
  // the text.
  node.cursor = max(node.cursor, <u32>start);
  node.cursorEnd = <u32>blockStart(end);
  countWork(ADVANCE_STEPS + ((node.cursorEnd - min(node.cursor, node.cursorEnd)) >> SCAN_SHIFT));
  markRead(first, end);
}

/** Most bytes of a run that is loaded before it is scanned; processors read ahead in longer ones. */
const SHORT_SIZE: u32 = 16384;
const LINE_SIZE: usize = 64;
/** What loadRun has read: without a use the loads would be removed. */
export let loadedBits: u32 = 0;

/**
 * Loads a byte of each cache line of the run that the cursor has entered. Many lines are on their way at once then; the scan,
 * with more work a line, waits for few. Figures: core/DECISIONS.md.
 */
export function loadRun(node: ContentLeaf): void {
  if (node.cursorEnd - node.cursor > SHORT_SIZE) return;
  let bits: u32 = 0;
  for (let ptr = <usize>node.cursor; ptr < <usize>node.cursorEnd; ptr += LINE_SIZE)
    bits |= load<u8>(ptr);
  loadedBits = bits;
}
