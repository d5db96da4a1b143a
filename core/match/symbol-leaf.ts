// Runs `sym:`: a symbol's name contains a literal (SYMBOL) or a match (SYMBOL_REGEX). A literal
// that begins a name, or a word of one, is looked up in the order of names; else grams find the
// blocks. Their symbols' names are then tested in the content. Without a symbols file nothing
// matches.

import { Arena } from '../base/arena.ts';
import {
  NODE_SYMBOL,
  NODE_SYMBOL_REGEX,
  PLAN_FLAG_AT_END,
  PLAN_FLAG_AT_START,
  PLAN_FLAG_LITERALS,
  PLAN_FLAG_WORD_END,
  PLAN_FLAG_WORD_START,
} from '../shared/plan.ts';
import { STATUS_BAD_PLAN, STATUS_FRAME } from '../shared/status.ts';
import {
  beginRegexText,
  findRegex,
  foundEnd as regexFoundEnd,
  foundStart as regexFoundStart,
} from '../regex/regex.ts';
import { findNeedle, foundEnd } from '../scan/literal.ts';
import { getBit } from '../base/bits.ts';
import {
  hasSymbols,
  hasSymbolsIn,
  lowerSymbolName,
  needSymbolRows,
  NO_PARENT,
  readSymbol,
  readSymbolList,
  symbolListBytes,
  symbolRow,
  symbolRowsEndOf,
  symbolRowsOf,
} from '../shard/symbols.ts';
import { isWordBorder, isWordByte } from '../text/words.ts';
import { decodedSize, decodeUtf8 } from '../text/utf8.ts';
import { docsOfBlocks, fillWithGrams, newBlockBitmap } from './block-sets.ts';
import {
  blockBitmapSize,
  boundView,
  countIndexBytes,
  failBinding,
  failStatus,
  NO_DOCS,
} from './bound.ts';
import { fillBlocks } from './conditions.ts';
import { blockStart, countContentRuns, current, markRead } from './current.ts';
import { Expression, isGiven, makeExpression } from './expression.ts';
import { Grams, makeGrams } from './grams.ts';
import {
  addLeaf,
  ContentLeaf,
  contentLeaves,
  failCompiling,
  isCaseSensitive,
  makeNeedle,
  MatchNode,
  NODE_SIZE,
} from './node.ts';

/** Its cursor is the next row of symbols (shard/symbols.ts); its run is the rows of a block. */
@unmanaged
export class SymbolLeaf extends ContentLeaf {
  // SYMBOL:
  needle: u32; // address of the compiled needle
  grams: Grams;
  // SYMBOL_REGEX:
  expression: Expression;
  // Of the current blob:
  symbolEnd: u32; // address after the symbol of the row before the cursor
  lastParent: u32; // last parent of the block
}
if (offsetof<SymbolLeaf>() > NODE_SIZE) ERROR('SymbolLeaf: size');

/** Guess: cost of testing the names of a block. */
const VERIFY_SYMBOLS_NS: u32 = 1000;
/** Most bytes of a literal for the order of names, whose keys are cut. */
const LOOK_UP_SIZE_MAX: u32 = 200;

@inline
export function isSymbolLeaf(node: MatchNode): bool {
  return node.kind == NODE_SYMBOL || node.kind == NODE_SYMBOL_REGEX;
}

/**
 * Errors: compileStatus is set as by makeExpression, for an empty literal, if the arena is full.
 */
export function compileSymbol(arena: Arena, node: SymbolLeaf, index: u32): void {
  if (node.kind == NODE_SYMBOL_REGEX) node.expression = makeExpression(arena, node, index);
  else if (node.dataSize == 0) return failCompiling(STATUS_BAD_PLAN);
  else {
    node.needle = makeNeedle(arena, node);
    node.grams = makeGrams(arena, node);
  }
  addLeaf(contentLeaves, node);
}

/** Finds its candidate blocks and cost; returns the docs that it may hold for (bound.ts). */
export function bindSymbol(arena: Arena, node: SymbolLeaf): usize {
  node.bitmap = 0;
  if (!hasSymbols(boundView)) return NO_DOCS;
  const bitmap = newBlockBitmap(arena);
  // No name has a newline.
  if (bitmap == 0 || (node.kind == NODE_SYMBOL && node.grams.spansLines != 0)) return NO_DOCS;
  node.isUnlisted = 0;
  if (node.kind == NODE_SYMBOL && isLookedUp(node)) fillByNames(node, bitmap);
  else {
    if (!fillByContent(arena, node, bitmap)) node.isUnlisted = 1;
    dropWithoutSymbols(bitmap);
  }
  if (failStatus != 0) return NO_DOCS;
  node.bitmap = <u32>bitmap;
  const docs = docsOfBlocks(arena, node, bitmap);
  // Names are more expensive than literals, and cheaper than expressions on whole blocks.
  node.cost = min(node.cost + 0x08000000, 0x4fffffff);
  return docs;
}

/** Whether the order of names has everything that the literal can begin. */
function isLookedUp(node: SymbolLeaf): bool {
  if (node.dataSize > LOOK_UP_SIZE_MAX) return false;
  if ((node.flags & PLAN_FLAG_AT_START) != 0) return true;
  if ((node.flags & PLAN_FLAG_WORD_START) == 0) return false;
  const first = <u32>load<u8>(node.data);
  if (!isWordByte(first)) return false;
  if (isCaseSensitive(node)) return true;
  // U+212A and U+017F fold to these, and are not part of a word.
  const lower = first | 0x20;
  return lower != 0x6b && lower != 0x73;
}

/** Fills `bitmap` with the blocks of names that equal the literal or begin with it. */
function fillByNames(node: SymbolLeaf, bitmap: usize): void {
  const isWhole =
    (node.flags & (PLAN_FLAG_AT_START | PLAN_FLAG_AT_END)) ==
    (PLAN_FLAG_AT_START | PLAN_FLAG_AT_END);
  const first = lowerSymbolName(boundView, node.data, node.dataSize, !isWhole, false);
  const end = lowerSymbolName(boundView, node.data, node.dataSize, !isWhole, true);
  for (let name = first; name < end; name++) {
    if (!readSymbolList(boundView, name, bitmap)) return failBinding(STATUS_FRAME);
    countIndexBytes(symbolListBytes);
  }
}

/** Fills `bitmap` with the blocks that may have such a name by grams; false: unknown. */
function fillByContent(arena: Arena, node: SymbolLeaf, bitmap: usize): bool {
  if (node.kind == NODE_SYMBOL && node.grams.gramCharCount >= 3) {
    fillWithGrams(arena, node.grams, 0, bitmap, VERIFY_SYMBOLS_NS);
  } else if (node.kind == NODE_SYMBOL_REGEX && isGiven(node.expression.condition)) {
    fillBlocks(arena, node.expression.condition, bitmap);
  } else {
    memory.fill(bitmap, 0xff, blockBitmapSize);
    return false;
  }
  return true;
}

/** Removes the blocks without symbols from `bitmap`: compares two starts for each block in it. */
function dropWithoutSymbols(bitmap: usize): void {
  for (let offset: usize = 0; offset < blockBitmapSize; offset += 8) {
    let word = load<u64>(bitmap + offset);
    for (let remaining = word; remaining != 0; remaining &= remaining - 1) {
      const blockId = (<u32>offset << 3) + <u32>ctz(remaining);
      if (blockId < boundView.blockCount && hasSymbolsIn(boundView, blockId, blockId + 1)) continue;
      word ^= remaining & (0 - remaining);
    }
    store<u64>(bitmap + offset, word);
  }
}

/**
 * Moves to the next symbol whose name matches, at most once each, leftmost; matchStart = 0: none.
 * Damaged rows end their block.
 */
export function advanceSymbol(node: SymbolLeaf): void {
  do {
    while (readSymbol(boundView, node.cursor, node.cursorEnd, node.lastParent)) {
      const start = <usize>node.symbolEnd + symbolRow.gap;
      const end = start + symbolRow.size;
      if (end > blockStart(node.cursorBlock)) break;
      node.cursor = <u32>symbolRow.next;
      node.symbolEnd = <u32>end;
      if (symbolRow.parent != NO_PARENT) node.lastParent = symbolRow.parent;
      if (matchName(node, max(start, current.start), end)) return;
    }
  } while (nextBlock(node));
  node.matchStart = 0;
}

/** Moves the cursor before the symbols of the next candidate block. */
function nextBlock(node: SymbolLeaf): bool {
  let block = node.cursorBlock;
  while (block < current.endBlock && getBit(node.bitmap, block) == 0) block++;
  if (block >= current.endBlock) {
    node.cursor = 0;
    node.cursorEnd = 0;
    node.cursorBlock = current.endBlock;
    return false;
  }
  needSymbolRows(boundView, block);
  node.cursorBlock = block + 1;
  node.cursor = <u32>symbolRowsOf(boundView, block);
  node.cursorEnd = <u32>symbolRowsEndOf(boundView, block);
  node.symbolEnd = <u32>blockStart(block);
  node.lastParent = NO_PARENT;
  markRead(block, block + 1);
  return true;
}

function matchName(node: SymbolLeaf, start: usize, end: usize): bool {
  if (node.kind == NODE_SYMBOL_REGEX) {
    countRun(node);
    const regex = <usize>node.expression.regex;
    beginRegexText(regex, start, end, current.flags);
    if (!findRegex(regex, start, end)) return false;
    node.matchStart = <u32>regexFoundStart;
    node.matchEnd = <u32>regexFoundEnd;
    return true;
  }
  for (let from = start; from < end;) {
    const found = findNeedle(node.needle, from, end, current.flags);
    if (found >= end) return false;
    const until = foundEnd();
    if (fitsFlags(node.flags, found, until, start, end)) {
      node.matchStart = <u32>found;
      node.matchEnd = <u32>until;
      return true;
    }
    from = found + decodedSize(decodeUtf8(found, end));
  }
  return false;
}

function countRun(node: SymbolLeaf): void {
  if (node.cursor <= node.countedEnd || (node.flags & PLAN_FLAG_LITERALS) != 0) return;
  node.countedEnd = node.cursor;
  countContentRuns(1);
}

/** Whether the literal at [found, until) satisfies the flags in the name [start, end). */
function fitsFlags(flags: u32, found: usize, until: usize, start: usize, end: usize): bool {
  return (
    ((flags & PLAN_FLAG_AT_START) == 0 || found == start) &&
    ((flags & PLAN_FLAG_AT_END) == 0 || until == end) &&
    ((flags & PLAN_FLAG_WORD_START) == 0 || isWordBorder(found, start, end)) &&
    ((flags & PLAN_FLAG_WORD_END) == 0 || isWordBorder(until, start, end))
  );
}
