// REGEX: the content has a match of an expression. If matches lie within a line, a candidate block
// has all grams of a match; else match-starts.ts finds the blocks.

import { Arena } from '../base/arena.ts';
import { isStopped } from '../base/work.ts';
import { PLAN_FLAG_LITERALS } from '../shared/plan.ts';
import { STATUS_OK } from '../shared/status.ts';
import {
  beginRegexText,
  countRegex,
  findRegex,
  foundEnd as regexFoundEnd,
  foundStart as regexFoundStart,
  regexCountEnd,
  regexReach,
} from '../regex/regex.ts';
import { needBytes } from '../shard/pages.ts';
import { getBit } from '../base/bits.ts';
import { bindSpanning } from './match-starts.ts';
import { docsOfBlocks, newBlockBitmap } from './block-sets.ts';
import { ALL_DOCS, boundView, failStatus, NO_DOCS } from './bound.ts';
import { fillBlocks } from './conditions.ts';
import { blockStart, countContentRuns, current, markRead, needCurrentContent } from './current.ts';
import { Expression, isGiven, makeExpression } from './expression.ts';
import { addLeaf, compileStatus, ContentLeaf, contentLeaves, NODE_SIZE } from './node.ts';
import { enterRun, loadRun, nextRun, NO_RUN } from './runs.ts';

/** regex and spansLines are copies from the expression: each search for a match reads them. */
@unmanaged
export class RegexLeaf extends ContentLeaf {
  regex: u32; // address of the compiled expression
  spansLines: u32; // 1: a match may contain a newline
  expression: Expression;
}
if (offsetof<RegexLeaf>() > NODE_SIZE) ERROR('RegexLeaf: size');

/** Guess: above this size a needle passes a block faster than following the chain byte by byte. */
const CHAIN_SIZE_MAX: usize = 256;

/** Errors: compileStatus is set as by makeExpression. */
export function compileRegexLeaf(arena: Arena, node: RegexLeaf, index: u32): void {
  node.expression = makeExpression(arena, node, index);
  if (compileStatus != STATUS_OK) return;
  node.regex = node.expression.regex;
  node.spansLines = node.expression.spansLines;
  addLeaf(contentLeaves, node);
}

/** Finds its candidate blocks and cost; returns the docs that it may hold for (bound.ts). */
export function bindRegex(arena: Arena, node: RegexLeaf): usize {
  const expression = node.expression;
  node.bitmap = 0;
  node.starts = 0;
  node.borders = 0;
  node.cost = 0x50000000;
  if (boundView.blobCount == 0) return NO_DOCS;
  const hasMatchStart =
    node.spansLines != 0 && (isGiven(expression.start) || isGiven(expression.near));
  if (!isGiven(expression.condition) && !hasMatchStart) return ALL_DOCS;
  const bitmap = newBlockBitmap(arena);
  if (bitmap == 0) return NO_DOCS;
  const docs =
    node.spansLines != 0
      ? bindSpanning(arena, node, expression, bitmap)
      : bindInLine(arena, node, bitmap);
  if (failStatus != 0) return NO_DOCS;
  // The engine is more expensive than literal search: literals of the query are evaluated first.
  node.cost = min(node.cost + 0x10000000, 0x4fffffff);
  node.bitmap = <u32>bitmap;
  return docs;
}

function bindInLine(arena: Arena, node: RegexLeaf, bitmap: usize): usize {
  fillBlocks(arena, node.expression.condition, bitmap);
  return failStatus != 0 ? NO_DOCS : docsOfBlocks(arena, node, bitmap);
}

/** Makes the current content the expression's text; the cursor is before the first run. */
export function enterRegexText(node: RegexLeaf): void {
  // It may read on to the end of the content.
  if (node.spansLines != 0) needCurrentContent();
  beginRegexText(node.regex, current.start, current.end, current.flags);
}

/** Moves the cursor to the next match; matchStart = 0 if there is none, and after isStopped. */
export function advanceRegex(node: RegexLeaf): void {
  do {
    if (node.cursor >= node.cursorEnd) continue;
    const isFound = findRegex(node.regex, node.cursor, node.cursorEnd);
    if (node.spansLines != 0) markReach(node);
    if (!isFound) continue;
    node.matchStart = <u32>regexFoundStart;
    node.matchEnd = <u32>regexFoundEnd;
    node.cursor = node.matchEnd;
    return;
  } while (nextScannedRun(node));
  node.matchStart = 0;
}

export function countRestOfRegex(node: RegexLeaf): u32 {
  let count: u32 = 0;
  do {
    count += countRegex(node.regex, node.cursor, node.cursorEnd);
    if (node.spansLines == 0) continue;
    markReach(node);
    // The next run continues after the last match.
    node.cursor = <u32>max(<usize>node.cursor, regexCountEnd);
  } while (!isStopped && nextScannedRun(node));
  return count;
}

function nextScannedRun(node: RegexLeaf): bool {
  if (!nextRegexRun(node)) return false;
  loadRun(node);
  return true;
}

/** Moves the cursor to the next run, false if there is none; counts the runs of the engine. */
export function nextRegexRun(node: RegexLeaf): bool {
  const first =
    node.borders != 0
      ? nextRunAtBorders(node)
      : nextRun(node, node.starts != 0 ? node.starts : node.bitmap);
  if (first == NO_RUN) return false;
  countRuns(node, first, node.cursorBlock);
  return true;
}

/**
 * As nextRun; border blocks (match-starts.ts) are separate runs.
 *
 *   starts     . # # # . # .
 *   borders    . . . # . . .
 *   runs         [---)   [-)    searched whole
 *                    [-)        searched: the bytes of the chain at its end
 */
function nextRunAtBorders(node: RegexLeaf): u32 {
  let block = node.cursorBlock;
  for (;;) {
    while (block < current.endBlock && getBit(node.starts, block) == 0) block++;
    if (block == current.endBlock) {
      node.cursorBlock = block;
      return NO_RUN;
    }
    const first = block++;
    if (getBit(node.borders, first) == 0) {
      while (block < current.endBlock && isInside(node, block)) block++;
      enterRun(node, blockStart(first), first, block);
      return first;
    }
    const start = chainStart(node, first);
    // A match that continues in the next block has its start and a newline here.
    if (blockStart(block) - start <= <usize>node.expression.startSize) continue;
    enterRun(node, start, first, block);
    return first;
  }
}

@inline
function isInside(node: RegexLeaf, block: u32): bool {
  return getBit(node.starts, block) != 0 && getBit(node.borders, block) == 0;
}

/**
 * Start of the chain and non-ASCII bytes at the block's end, a code point border; the block's start
 * if they are many.
 */
function chainStart(node: RegexLeaf, block: u32): usize {
  const start = blockStart(block);
  let ptr = blockStart(block + 1);
  needBytes(boundView, start, ptr);
  const least = ptr - start > CHAIN_SIZE_MAX ? ptr - CHAIN_SIZE_MAX : start;
  while (ptr > least) {
    const byte = <u32>load<u8>(ptr - 1);
    if (byte < 0x80 && getBit(node.expression.chain, byte) == 0) return ptr;
    ptr--;
  }
  return start;
}

/** Records the blocks that the expression read after its run. */
function markReach(node: RegexLeaf): void {
  let end = node.cursorBlock;
  while (end < current.endBlock && blockStart(end) < regexReach) end++;
  if (end > node.cursorBlock) markRead(node.cursorBlock, end);
}

/** Counts the runs of the expression on the blocks [start, end), each block once. */
function countRuns(node: RegexLeaf, start: u32, end: u32): void {
  if (end <= node.countedEnd || (node.flags & PLAN_FLAG_LITERALS) != 0) return;
  countContentRuns(end - max(start, node.countedEnd));
  node.countedEnd = end;
}
