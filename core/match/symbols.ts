// Symbols of the code in a search: binds SYMBOL and SYMBOL_REGEX nodes to the blocks that may hold
// their symbols, walks the symbols of a blob whose names match, and tells which symbol a range lies in.
// A literal that begins a name, or a word of one, is looked up in the order of names; else the grams of
// the content say where the name may stand. Without a symbols file no symbol matches.

import { Arena } from '../base/arena.ts';
import {
  NODE_SYMBOL_REGEX,
  PLAN_FLAG_AT_END,
  PLAN_FLAG_AT_START,
  PLAN_FLAG_CASE_SENSITIVE,
  PLAN_FLAG_LITERALS,
  PLAN_FLAG_WORD_END,
  PLAN_FLAG_WORD_START,
} from '../shared/plan.ts';
import { SYMBOL_OTHER } from '../shared/symbols.ts';
import { SYMBOL_KIND_NAMES } from '../shared/kinds.ts';
import { STATUS_PIECE } from '../shared/status.ts';
import { beginRegexText, findRegex, foundEnd as regexFoundEnd, foundStart as regexFoundStart } from '../regex/regex.ts';
import { findNeedle, foundEnd, HAYSTACK_FOLDS_INTO_ASCII } from '../scan/literal.ts';
import { blockAt } from '../shard/open.ts';
import { getBit } from '../shard/piece.ts';
import {
  blockHasSymbols,
  hasSymbols,
  needSymbolRows,
  lowerSymbolName,
  NO_PARENT,
  readSymbol,
  readSymbolList,
  symbolGap,
  symbolKind,
  symbolListBytes,
  symbolNext,
  symbolParent,
  symbolRowsEndOf,
  symbolRowsOf,
  symbolSize,
} from '../shard/symbols.ts';
import { isWordBorder, isWordByte } from '../text/words.ts';
import { decodedSize, decodeUtf8 } from '../text/utf8.ts';
import { docsOfBlocks, intersectGrams, keepMarked } from './block-sets.ts';
import { blockBitmapSize, boundView, countIndexBytes, failBinding, failStatus, NO_DOCS } from './bound.ts';
import { fillBlocks, newBlockBitmap } from './conditions.ts';
import { MatchNode } from './tree.ts';
import { symbolPoints } from './score.ts';

/** Guess: what looking at the names of a block costs. */
const VERIFY_SYMBOLS_NS: u32 = 1000;
/** Bytes of the longest literal that is looked up in the order of names, whose keys are cut. */
const LOOK_UP_SIZE_MAX: u32 = 200;

/** Binds a SYMBOL or SYMBOL_REGEX node; returns the docs that it may hold for. */
export function bindSymbol(arena: Arena, node: MatchNode): usize {
  node.bitmap = 0;
  node.starts = 0;
  node.borders = 0;
  if (!hasSymbols(boundView)) return NO_DOCS;
  const bitmap = newBlockBitmap(arena);
  if (bitmap == 0) return NO_DOCS;
  const isRegex = node.kind == NODE_SYMBOL_REGEX;
  if (!isRegex && node.spansLines != 0) return NO_DOCS;
  node.isUnlisted = 0;
  if (!isRegex && isLookedUp(node)) fillByNames(node, bitmap);
  else {
    if (isRegex && node.condition != 0) fillBlocks(arena, changetype<MatchNode>(<usize>node.condition), bitmap);
    else if (!isRegex && node.letterCount >= 3) {
      intersectGrams(arena, node.keys, node.keyCount, bitmap, VERIFY_SYMBOLS_NS);
      keepMarked(node, bitmap);
    } else {
      memory.fill(bitmap, 0xff, blockBitmapSize);
      node.isUnlisted = 1;
    }
    if (failStatus == 0) keepNamed(bitmap);
  }
  if (failStatus != 0) return NO_DOCS;
  node.bitmap = <u32>bitmap;
  const docs = docsOfBlocks(arena, node, bitmap);
  // Names are dearer than literals, and cheaper than expressions on whole blocks.
  node.cost = min(node.cost + 0x08000000, 0x4fffffff);
  return docs;
}

/** Whether all that the node's literal can begin, names or words within them, stands in the order of names. */
function isLookedUp(node: MatchNode): bool {
  if (node.dataSize > LOOK_UP_SIZE_MAX) return false;
  if ((node.flags & PLAN_FLAG_AT_START) != 0) return true;
  if ((node.flags & PLAN_FLAG_WORD_START) == 0) return false;
  const first = <u32>load<u8>(node.data);
  if (!isWordByte(first)) return false;
  if ((node.flags & PLAN_FLAG_CASE_SENSITIVE) != 0) return true;
  // U+212A and U+017F fold to these, and are no part of a word.
  const lower = first | 0x20;
  return lower != 0x6b && lower != 0x73;
}

/** Fills the empty `bitmap` with the blocks of the names that begin with the node's literal, or are it. */
function fillByNames(node: MatchNode, bitmap: usize): void {
  const isWhole = (node.flags & (PLAN_FLAG_AT_START | PLAN_FLAG_AT_END)) == (PLAN_FLAG_AT_START | PLAN_FLAG_AT_END);
  const first = lowerSymbolName(boundView, node.data, node.dataSize, !isWhole, false);
  const end = lowerSymbolName(boundView, node.data, node.dataSize, !isWhole, true);
  for (let name = first; name < end; name++) {
    if (!readSymbolList(boundView, name, bitmap)) {
      failBinding(STATUS_PIECE);
      return;
    }
    countIndexBytes(symbolListBytes);
  }
}

/** Takes the blocks without symbols out of `bitmap`. */
function keepNamed(bitmap: usize): void {
  for (let offset: usize = 0; offset < blockBitmapSize; offset += 8) {
    let word = load<u64>(bitmap + offset);
    for (let left = word; left != 0; left &= left - 1) {
      const blockId = (<u32>offset << 3) + <u32>ctz(left);
      if (blockId < boundView.blockCount && blockHasSymbols(boundView, blockId)) continue;
      word ^= left & (0 - left);
    }
    store<u64>(bitmap + offset, word);
  }
}

/** Block that nextSymbolMatch entered last, to be counted as read; it returns to the caller first. */
export let enteredBlock: u32 = 0;
/** Runs of expressions on names. */
export let symbolRegexRuns: f64 = 0;

/**
 * Moves the node on to its next symbol. SYMBOL_MATCH: the match stands in matchStart and matchEnd;
 * SYMBOL_BLOCK: `enteredBlock` is about to be read, call again; SYMBOL_NONE: there is none left.
 *
 * @param endBlock   behind the last block of the blob
 * @param textFlags  TEXT_* of the blob
 */
export function nextSymbolMatch(node: MatchNode, endBlock: u32, textFlags: u32): u32 {
  for (;;) {
    while (readSymbol(boundView, node.cursor, node.cursorEnd, node.symbolParent)) {
      const start = <usize>node.symbolEnd + symbolGap;
      const end = start + symbolSize;
      if (end > blockEnd(node.cursorBlock - 1)) break;
      node.cursor = <u32>symbolNext;
      node.symbolEnd = <u32>end;
      if (symbolParent != NO_PARENT) node.symbolParent = symbolParent;
      if (matchName(node, start, end, textFlags)) return SYMBOL_MATCH;
    }
    let block = node.cursorBlock;
    while (block < endBlock && getBit(node.bitmap, block) == 0) block++;
    if (block >= endBlock) {
      node.cursor = 0;
      node.cursorEnd = 0;
      node.cursorBlock = endBlock;
      return SYMBOL_NONE;
    }
    node.cursorBlock = block + 1;
    needSymbolRows(boundView, block);
    node.cursor = <u32>symbolRowsOf(boundView, block);
    node.cursorEnd = <u32>symbolRowsEndOf(boundView, block);
    node.symbolEnd = boundView.content + blockAt(boundView, block).contentOffset;
    node.symbolParent = NO_PARENT;
    enteredBlock = block;
    return SYMBOL_BLOCK;
  }
}
export const SYMBOL_NONE: u32 = 0;
export const SYMBOL_BLOCK: u32 = 1;
export const SYMBOL_MATCH: u32 = 2;

@inline
function blockEnd(blockId: u32): usize {
  return <usize>boundView.content + blockAt(boundView, blockId + 1).contentOffset;
}

/** Finds the leftmost match in a name; false if there is none. */
function matchName(node: MatchNode, start: usize, end: usize, textFlags: u32): bool {
  if (node.kind == NODE_SYMBOL_REGEX) {
    countRun(node);
    beginRegexText(node.regex, start, end, textFlags);
    if (!findRegex(node.regex, start, end)) return false;
    node.matchStart = <u32>regexFoundStart;
    node.matchEnd = <u32>regexFoundEnd;
    return true;
  }
  for (let from = start; from < end;) {
    const found = findNeedle(node.needle, from, end, textFlags & HAYSTACK_FOLDS_INTO_ASCII);
    if (found >= end) return false;
    const until = foundEnd();
    if (standsRight(node, found, until, start, end)) {
      node.matchStart = <u32>found;
      node.matchEnd = <u32>until;
      return true;
    }
    from = found + decodedSize(decodeUtf8(found, end));
  }
  return false;
}

/** Counts the run of the expression on a name, however often the name is walked; `cursor` is behind its row. */
function countRun(node: MatchNode): void {
  if (node.cursor <= node.countedBlock || (node.flags & PLAN_FLAG_LITERALS) != 0) return;
  node.countedBlock = node.cursor;
  symbolRegexRuns++;
}

/** Whether the literal at [found, until) stands in the name [start, end) as its flags say. */
function standsRight(node: MatchNode, found: usize, until: usize, start: usize, end: usize): bool {
  const flags = node.flags;
  return (
    ((flags & PLAN_FLAG_AT_START) == 0 || found == start) &&
    ((flags & PLAN_FLAG_AT_END) == 0 || until == end) &&
    ((flags & PLAN_FLAG_WORD_START) == 0 || isWordBorder(found, start, end)) &&
    ((flags & PLAN_FLAG_WORD_END) == 0 || isWordBorder(until, start, end))
  );
}

// The walk over the symbols of a blob beside its ranges.
let walkBlock: u32 = 0;
let walkEndBlock: u32 = 0;
let walkRow: usize = 0;
let walkRowEnd: usize = 0;
let walkBlockEnd: usize = 0;
let walkParent: u32 = NO_PARENT;
/** The symbol that the walk stands on; walkSymbolEnd is the start of its block before the first one. */
let walkSymbolStart: usize = 0;
let walkSymbolEnd: usize = 0;
let walkKind: u32 = 0;
let walkSymbolParent: u32 = NO_PARENT;
let isOnSymbol: bool = false;

/** Begins a walk over the blob with the blocks [firstBlock, endBlock). */
export function beginSymbolWalk(firstBlock: u32, endBlock: u32): void {
  walkEndBlock = endBlock;
  walkBlockEnd = 0;
  isOnSymbol = false;
  if (!hasSymbols(boundView) || firstBlock == endBlock) walkEndBlock = 0;
  else enterWalkBlock(firstBlock);
}

function enterWalkBlock(block: u32): void {
  walkBlock = block;
  needSymbolRows(boundView, block);
  walkRow = symbolRowsOf(boundView, block);
  walkRowEnd = symbolRowsEndOf(boundView, block);
  walkSymbolEnd = <usize>boundView.content + blockAt(boundView, block).contentOffset;
  walkBlockEnd = blockEnd(block);
  walkParent = NO_PARENT;
  isOnSymbol = false;
}

/** Moves to the next symbol of the block; false if there is none. */
function nextWalkSymbol(): bool {
  isOnSymbol = false;
  if (!readSymbol(boundView, walkRow, walkRowEnd, walkParent)) return false;
  walkSymbolStart = walkSymbolEnd + symbolGap;
  const end = walkSymbolStart + symbolSize;
  if (end > walkBlockEnd) return false;
  walkSymbolEnd = end;
  walkRow = symbolNext;
  walkKind = symbolKind;
  walkSymbolParent = symbolParent;
  if (symbolParent != NO_PARENT) walkParent = symbolParent;
  isOnSymbol = true;
  return true;
}

/**
 * Puts the walk on the first symbol that ends behind `start` and begins before `end`; false if there is none. `start` is
 * at or behind that of the call before.
 */
function findSymbol(start: usize, end: usize): bool {
  if (walkEndBlock == 0) return false;
  if (start >= walkBlockEnd) enterWalkBlock(blockWith(start));
  while (!isOnSymbol || walkSymbolEnd <= start) {
    if (nextWalkSymbol()) continue;
    // A range may span blocks.
    if (end <= walkBlockEnd || walkBlock + 1 >= walkEndBlock) return false;
    enterWalkBlock(walkBlock + 1);
  }
  return walkSymbolStart < end;
}

/** Block of the blob that holds the address. */
function blockWith(ptr: usize): u32 {
  const offset = <u32>(ptr - boundView.content);
  let start = walkBlock;
  let end = walkEndBlock;
  while (end - start > 1) {
    const middle = (start + end) >> 1;
    if (blockAt(boundView, middle).contentOffset <= offset) start = middle;
    else end = middle;
  }
  return start;
}

/** Points that the range [start, end) has for the first symbol that it overlaps; starts must not descend. */
export function walkPoints(start: usize, end: usize): u32 {
  if (!findSymbol(start, end)) return 0;
  return symbolPoints((start == walkSymbolStart ? 1 : 0) + (end == walkSymbolEnd ? 1 : 0), walkKind);
}

// The symbol that enterSymbol found.
export let foundSymbolStart: usize = 0;
export let foundSymbolEnd: usize = 0;
export let foundSymbolKind: u32 = 0;
export let foundSymbolParent: u32 = 0;

/** Finds the symbol that holds the range [start, end); false if none does. Starts must not descend within a walk. */
export function enterSymbol(start: usize, end: usize): bool {
  if (!findSymbol(start, end) || walkSymbolStart > start || walkSymbolEnd < end) return false;
  foundSymbolStart = walkSymbolStart;
  foundSymbolEnd = walkSymbolEnd;
  foundSymbolKind = walkKind;
  foundSymbolParent = walkSymbolParent;
  return true;
}

/** Name of a kind, as clients see it. Safety: there is a name for each kind up to SYMBOL_OTHER. */
export function symbolKindName(kind: u32): string {
  return unchecked(SYMBOL_KIND_NAMES[min(kind, SYMBOL_OTHER)]);
}
