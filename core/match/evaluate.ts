// Evaluates the bound tree on docs: does the doc match, and which ranges does it have? Children are asked
// cheapest first and stop at the first that decides; a literal or an expression is looked for only in
// its candidate blocks, and its answer is kept for all docs that share the blob. A leaf is active in a doc
// if it and every node above it hold and none above it is a negation: active atoms give the ranges. Their
// matches are walked together, in order of start (the longest first at equal start), and those that overlap a
// kept one are dropped. Nothing is allocated.

import {
  NODE_AND,
  NODE_CONST,
  NODE_DOCS,
  NODE_LANGUAGE,
  NODE_NOT,
  NODE_OR,
  NODE_PATH,
  NODE_PATH_REGEX,
  NODE_REGEX,
  NODE_REPOS,
  NODE_SYMBOL,
  NODE_SYMBOL_REGEX,
  NODE_TEXT,
  PLAN_FLAG_ALWAYS,
  PLAN_FLAG_AT_END,
  PLAN_FLAG_AT_START,
  PLAN_FLAG_LITERALS,
} from '../shared/plan.ts';
import { countWork, isStopped } from '../base/work.ts';
import { NONE_ID } from '../shared/format.ts';
import {
  beginRegexText,
  countRegex,
  findRegex,
  foundEnd as regexFoundEnd,
  foundStart as regexFoundStart,
  regexCountEnd,
  regexReach,
  testRegex,
} from '../regex/regex.ts';
import { TEXT_ANY } from '../regex/text.ts';
import { countNeedle, findNeedle, foundEnd, HAYSTACK_FOLDS_INTO_ASCII } from '../scan/literal.ts';
import { decodedSize, decodeUtf8, isAscii } from '../text/utf8.ts';
import { blobAt, blockAt, docAt } from '../shard/open.ts';
import { needBytes } from '../shard/pages.ts';
import { getBit } from '../shard/piece.ts';
import { boundView } from './bound.ts';
import { hasRepo, isInDocs, repoIdAt } from './doc-sets.ts';
import { enteredBlock, nextSymbolMatch, SYMBOL_BLOCK, SYMBOL_MATCH, symbolRegexRuns } from './symbols.ts';
import {
  MatchNode,
  matchRoot,
  nodeAt,
  pathNodeCount,
  pathNodes,
  STATE_NO,
  STATE_UNKNOWN,
  STATE_YES,
  textNodeCount,
  textNodes,
} from './tree.ts';

/** Guess: a needle passes over a block sooner than more bytes of a chain are followed one by one. */
const CHAIN_SIZE_MAX: usize = 256;

/** Guess: steps of work (base/work.ts) that moving an atom to its next match amounts to. */
const ADVANCE_STEPS: u32 = 4;
/** Guess: bytes that a needle passes over in the time of a step, as a power of 2. */
const SCAN_SHIFT: u32 = 6;

/** The current doc and its blob; NONE_ID: no content. */
let docId: u32 = NONE_ID;
let blobId: u32 = NONE_ID;
let blobStart: usize = 0;
let blobEnd: usize = 0;
let firstBlock: u32 = 0;
let endBlock: u32 = 0;
let blobFlags: u32 = 0;
let blobTextFlags: u32 = 0; // TEXT_*
let pathStart: usize = 0;
let pathEnd: usize = 0;
let pathFlags: u32 = 0;

/** Bits of the current blob's blocks that were read, and what reading amounts to. */
let readBits: usize = 0;
/** Whether the current doc would have been read if it were the only one with its blob. */
let isDocRead: bool = false;
export let contentBytesRead: f64 = 0;
/** Runs of the regular expression engine on blocks, since evaluateInit. */
export let regexpsRun: f64 = 0;

/** Active atoms of the current doc, u32 addresses. */
let activeTexts: usize = 0;
let activeTextCount: u32 = 0;
let activePaths: usize = 0;
let activePathCount: u32 = 0;
/** Those at the head of the lists that have another match, as heaps (isBefore), while several are walked together. */
let liveTextCount: u32 = 0;
let livePathCount: u32 = 0;
export let activeLeafCount: u32 = 0;

/** Gives the evaluator its scratch memory: bits for SHARD_BITMAP_SIZE bytes, and room for all atoms. */
export function evaluateInit(bits: usize, texts: usize, paths: usize): void {
  readBits = bits;
  activeTexts = texts;
  activePaths = paths;
  docId = NONE_ID;
  blobId = NONE_ID;
  contentBytesRead = 0;
}

/** Start of the current doc's content; its end. Both 0 if it has none. */
export function currentStart(): usize {
  return blobStart;
}
export function currentEnd(): usize {
  return blobEnd;
}
export function currentFirstBlock(): u32 {
  return firstBlock;
}
export function currentEndBlock(): u32 {
  return endBlock;
}
export function currentPathStart(): usize {
  return pathStart;
}
export function currentPathEnd(): usize {
  return pathEnd;
}
/** Whether evaluating the current doc took reading a block, be it for another doc with the same blob before. */
export function isCurrentRead(): bool {
  return isDocRead;
}
export function hasActiveTexts(): bool {
  return activeTextCount > 0;
}

/** Forgets what was read of the current blob, so that the next doc is read as if it were the first. */
export function forgetReads(): void {
  docId = NONE_ID;
  blobId = NONE_ID;
}

/** Makes `id` the current doc and answers whether the tree holds for it. */
export function evaluateDoc(id: u32): bool {
  enterDoc(id);
  if (!evaluateNode(matchRoot)) return false;
  activeTextCount = 0;
  activePathCount = 0;
  activeLeafCount = 0;
  collectActive(matchRoot);
  return true;
}

function enterDoc(id: u32): void {
  const row = docAt(boundView, id);
  docId = id;
  pathStart = <usize>boundView.paths + row.pathOffset;
  pathEnd = pathStart + row.pathSize;
  pathFlags = isAscii(pathStart, pathEnd) ? 0 : HAYSTACK_FOLDS_INTO_ASCII;
  for (let i: u32 = 0; i < pathNodeCount; i++) nodeAt(pathNodes, i).state = STATE_UNKNOWN;
  isDocRead = false;
  if (row.blobId == blobId && blobId != NONE_ID) return;
  blobId = row.blobId;
  for (let i: u32 = 0; i < textNodeCount; i++) {
    nodeAt(textNodes, i).state = STATE_UNKNOWN;
    nodeAt(textNodes, i).countedBlock = 0;
  }
  if (blobId == NONE_ID) {
    blobStart = 0;
    blobEnd = 0;
    firstBlock = 0;
    endBlock = 0;
    return;
  }
  const blob = blobAt(boundView, blobId);
  blobStart = <usize>boundView.content + blob.contentOffset;
  blobEnd = blobStart + blob.size;
  firstBlock = blob.firstBlock;
  endBlock = firstBlock + blob.blockCount;
  blobFlags = blob.flags & HAYSTACK_FOLDS_INTO_ASCII;
  blobTextFlags = blob.flags;
  memory.fill(readBits, 0, (blob.blockCount + 7) >> 3);
}

function evaluateNode(node: MatchNode): bool {
  if (node.isRuledOut) return false;
  switch (node.kind) {
    case NODE_CONST:
      return node.data != 0;
    case NODE_AND: {
      for (let i: u32 = 0; i < node.childCount; i++) {
        if (!evaluateNode(nodeAt(node.children, i))) return false;
      }
      return true;
    }
    case NODE_OR: {
      for (let i: u32 = 0; i < node.childCount; i++) {
        if (evaluateNode(nodeAt(node.children, i))) return true;
      }
      return false;
    }
    case NODE_NOT:
      return !evaluateNode(nodeAt(node.children, 0));
    case NODE_TEXT:
    case NODE_REGEX:
    case NODE_SYMBOL:
    case NODE_SYMBOL_REGEX:
      return holdsText(node);
    case NODE_PATH:
      return holdsPath(node);
    case NODE_PATH_REGEX:
      return holdsPathRegex(node);
    case NODE_LANGUAGE:
      return docAt(boundView, docId).languageIndex == node.localId;
    case NODE_DOCS:
      return isInDocs(node, docId);
    default:
      return hasRepo(node, repoIdAt(boundView, docAt(boundView, docId).repoIndex));
  }
}

/** Lists the active atoms below a node that holds. */
function collectActive(node: MatchNode): void {
  if (node.kind == NODE_NOT || node.kind == NODE_CONST || node.kind == NODE_DOCS) return;
  if (node.kind == NODE_AND || node.kind == NODE_OR) {
    for (let i: u32 = 0; i < node.childCount; i++) {
      const child = nodeAt(node.children, i);
      if (node.kind == NODE_AND || evaluateNode(child)) collectActive(child);
    }
    return;
  }
  activeLeafCount++;
  if (node.kind == NODE_TEXT || node.kind == NODE_REGEX || isSymbolKind(node)) {
    store<u32>(activeTexts + (<usize>activeTextCount << 2), changetype<usize>(node));
    activeTextCount++;
  } else if (node.kind == NODE_PATH || node.kind == NODE_PATH_REGEX) {
    store<u32>(activePaths + (<usize>activePathCount << 2), changetype<usize>(node));
    activePathCount++;
  }
}

@inline
function isSymbolKind(node: MatchNode): bool {
  return node.kind == NODE_SYMBOL || node.kind == NODE_SYMBOL_REGEX;
}

function holdsText(node: MatchNode): bool {
  if (node.state == STATE_UNKNOWN) {
    if (blobId == NONE_ID || isStopped) return false;
    const wasRead = isDocRead;
    isDocRead = false;
    startCursor(node);
    node.state = node.matchStart != 0 ? STATE_YES : STATE_NO;
    node.isRead = isDocRead ? 1 : 0;
    isDocRead = isDocRead || wasRead;
  } else if (node.isRead != 0) isDocRead = true;
  return node.state == STATE_YES;
}

/** Puts the cursor of a node on its first match in the current blob. */
function startCursor(node: MatchNode): void {
  node.cursorBlock = firstBlock;
  node.cursor = 0;
  node.cursorEnd = 0;
  if (node.kind == NODE_REGEX) {
    // It may read on to the end of the content.
    if (node.spansLines != 0) needCurrentContent();
    beginRegexText(node.regex, blobStart, blobEnd, blobTextFlags);
  }
  advanceCursor(node);
  node.isFresh = 1;
}

/** Moves the cursor to the node's next match; matchStart = 0 if there is none. */
function advanceCursor(node: MatchNode): void {
  node.isFresh = 0;
  if (isSymbolKind(node)) {
    if (!advanceSymbol(node)) node.matchStart = 0;
    return;
  }
  for (;;) {
    if (node.cursor < node.cursorEnd && findInRun(node)) {
      node.cursor = node.matchEnd;
      return;
    }
    if (!nextRun(node)) {
      node.matchStart = 0;
      return;
    }
  }
}

/** Moves a symbol node to its next match; false if there is none. */
function advanceSymbol(node: MatchNode): bool {
  const runsBefore = symbolRegexRuns;
  let step = nextSymbolMatch(node, endBlock, blobTextFlags);
  while (step == SYMBOL_BLOCK) {
    markRead(enteredBlock, enteredBlock + 1);
    step = nextSymbolMatch(node, endBlock, blobTextFlags);
  }
  regexpsRun += symbolRegexRuns - runsBefore;
  return step == SYMBOL_MATCH;
}

/** Puts the node's match on the first one in the rest of its run; false if there is none. */
function findInRun(node: MatchNode): bool {
  if (node.kind == NODE_REGEX) {
    const isFound = findRegex(node.regex, node.cursor, node.cursorEnd);
    if (node.spansLines != 0) markReach(node);
    if (!isFound) return false;
    node.matchStart = <u32>regexFoundStart;
    node.matchEnd = <u32>regexFoundEnd;
    return true;
  }
  const found = findNeedle(node.needle, node.cursor, node.cursorEnd, blobFlags);
  if (found >= node.cursorEnd) return false;
  node.matchStart = <u32>found;
  node.matchEnd = <u32>foundEnd();
  return true;
}

/** Matches in the rest of the node's run. */
function countInRun(node: MatchNode): u32 {
  if (node.kind == NODE_REGEX) {
    const count = countRegex(node.regex, node.cursor, node.cursorEnd);
    if (node.spansLines != 0) {
      markReach(node);
      // The next run goes on behind the last match.
      node.cursor = <u32>max(<usize>node.cursor, regexCountEnd);
    }
    return count;
  }
  return countNeedle(node.needle, node.cursor, node.cursorEnd, blobFlags);
}

/** Moves the cursor to the next run of neighbouring candidate blocks. */
function nextRun(node: MatchNode): bool {
  let block = node.cursorBlock;
  if (node.bitmap == 0) {
    if (block >= endBlock) return false;
    node.cursor = <u32>blobStart;
    node.cursorEnd = <u32>blobEnd;
    node.cursorBlock = endBlock;
    countScan(node);
    markRead(firstBlock, endBlock);
    if (node.kind == NODE_REGEX) countRegexBlocks(node, firstBlock, endBlock);
    return true;
  }
  const bitmap = <usize>(node.starts != 0 ? node.starts : node.bitmap);
  let runStart: u32;
  let start: usize;
  for (;;) {
    while (block < endBlock && getBit(bitmap, block) == 0) block++;
    if (block == endBlock) {
      node.cursorBlock = endBlock;
      return false;
    }
    runStart = block;
    block++;
    if (!isBorder(node, runStart)) {
      start = blockStart(runStart);
      while (block < endBlock && getBit(bitmap, block) != 0 && !isBorder(node, block)) block++;
      break;
    }
    start = chainStart(node, runStart);
    // Longer by the newline behind what a match begins with.
    if (blockStart(block) - start > <usize>node.startSize) break;
  }
  node.cursorBlock = block;
  // A match that spans lines may have ended behind the start of this run.
  node.cursor = max(node.cursor, <u32>start);
  node.cursorEnd = <u32>blockStart(block);
  countScan(node);
  markRead(runStart, block);
  if (node.kind == NODE_REGEX) countRegexBlocks(node, runStart, block);
  return true;
}

/** Counts the work of passing over the node's run. */
@inline
function countScan(node: MatchNode): void {
  countWork(ADVANCE_STEPS + ((node.cursorEnd - min(node.cursor, node.cursorEnd)) >> SCAN_SHIFT));
}

@inline
function blockStart(block: u32): usize {
  return <usize>boundView.content + blockAt(boundView, block).contentOffset;
}

@inline
function isBorder(node: MatchNode, block: u32): bool {
  return node.borders != 0 && getBit(node.borders, block) != 0;
}

/**
 * Start of the bytes of the node's chain, or beyond ASCII, that the block ends with, which is a code point border;
 * of the block if they are many.
 */
function chainStart(node: MatchNode, block: u32): usize {
  const start = blockStart(block);
  let ptr = blockStart(block + 1);
  needBytes(boundView, start, ptr);
  const least = ptr - start > CHAIN_SIZE_MAX ? ptr - CHAIN_SIZE_MAX : start;
  while (ptr > least) {
    const byte = <u32>load<u8>(ptr - 1);
    if (byte < 0x80 && ((<u32>load<u8>(<usize>node.chain + (byte >> 3)) >> (byte & 7)) & 1) == 0) return ptr;
    ptr--;
  }
  return start;
}

/** Notes the blocks that the expression read behind its run. */
function markReach(node: MatchNode): void {
  let end = node.cursorBlock;
  while (end < endBlock && boundView.content + blockAt(boundView, end).contentOffset < <u32>regexReach) end++;
  if (end > node.cursorBlock) markRead(node.cursorBlock, end);
}

/** Counts the runs of the expression on the blocks [start, end) that are new, however often they are walked. */
function countRegexBlocks(node: MatchNode, start: u32, end: u32): void {
  if (end <= node.countedBlock || (node.flags & PLAN_FLAG_LITERALS) != 0) return;
  regexpsRun += end - max(start, node.countedBlock);
  node.countedBlock = end;
}

/** Makes sure that the content of the current doc can be read and is sound. */
export function needCurrentContent(): void {
  if (blobEnd > blobStart) needBytes(boundView, blobStart, blobEnd);
}

/** Notes that the blocks [start, end) of the current blob are about to be read, and checks them; each counts once. */
export function markRead(start: u32, end: u32): void {
  isDocRead = true;
  // What stands around a range tells of words, and scans read on a little.
  needBytes(boundView, max(blobStart, blockStart(start) - 4), blockStart(end) + 64);
  for (let block = start; block < end; block++) {
    const index = block - firstBlock;
    const ptr = readBits + (index >> 3);
    const bit = <u32>1 << (index & 7);
    const byte = <u32>load<u8>(ptr);
    if ((byte & bit) != 0) continue;
    store<u8>(ptr, <u8>(byte | bit));
    const size = blockAt(boundView, block + 1).contentOffset - blockAt(boundView, block).contentOffset;
    contentBytesRead += size;
  }
}

function holdsPath(node: MatchNode): bool {
  if (node.state == STATE_UNKNOWN) {
    node.cursor = <u32>pathStart;
    node.cursorEnd = <u32>pathEnd;
    advancePath(node);
    node.state = node.matchStart != 0 || node.dataSize == 0 ? STATE_YES : STATE_NO;
  }
  return node.state == STATE_YES;
}

/** Filters hold on an empty match too, which gives no range. */
function holdsPathRegex(node: MatchNode): bool {
  if (node.state == STATE_UNKNOWN) {
    const isAlways = (node.flags & PLAN_FLAG_ALWAYS) != 0;
    node.state = isAlways || testRegex(node.regex, pathStart, pathEnd, TEXT_ANY) ? STATE_YES : STATE_NO;
  }
  return node.state == STATE_YES;
}

/** Moves the cursor of a path node to its next match; matchStart = 0 if there is none. */
function advancePath(node: MatchNode): void {
  node.matchStart = 0;
  countWork(ADVANCE_STEPS);
  if (node.kind == NODE_PATH_REGEX) {
    if (node.cursor == node.cursorEnd || !findRegex(node.regex, node.cursor, node.cursorEnd)) return;
    node.matchStart = <u32>regexFoundStart;
    node.matchEnd = <u32>regexFoundEnd;
    node.cursor = node.matchEnd;
    return;
  }
  if (node.dataSize == 0) return;
  while (node.cursor < node.cursorEnd) {
    const found = findNeedle(node.needle, node.cursor, node.cursorEnd, pathFlags);
    if (found >= node.cursorEnd) return;
    const end = foundEnd();
    const isAnchored =
      ((node.flags & PLAN_FLAG_AT_START) == 0 || found == pathStart) &&
      ((node.flags & PLAN_FLAG_AT_END) == 0 || end == pathEnd);
    // Why: a failed match may overlap the anchored one (`aa$` in `aaa`), so go on one character further.
    node.cursor = <u32>(isAnchored ? end : found + decodedSize(decodeUtf8(found, pathEnd)));
    if (!isAnchored) continue;
    node.matchStart = <u32>found;
    node.matchEnd = <u32>end;
    return;
  }
}

/** The range that nextRange or nextPathRange found, absolute addresses. */
export let rangeStart: usize = 0;
export let rangeEnd: usize = 0;
/** Whether the range is part of the name of a symbol that the query asks for. */
export let isSymbolRange: bool = false;

/** Begins the walk over the content ranges of the current doc, which matched. */
export function beginRanges(): void {
  rangeEnd = 0;
  for (let i: u32 = 0; i < activeTextCount; i++) {
    const node = nodeAt(activeTexts, i);
    if (!node.isFresh) startCursor(node);
  }
  if (activeTextCount > 1) liveTextCount = heapOf(activeTexts, activeTextCount);
}

/** Next content range; false at the end. */
export function nextRange(): bool {
  if (activeTextCount == 1) {
    // The usual case: one atom, whose own matches never overlap.
    const node = nodeAt(activeTexts, 0);
    if (node.matchStart == 0) return false;
    rangeStart = node.matchStart;
    rangeEnd = node.matchEnd;
    isSymbolRange = isSymbolKind(node);
    advanceCursor(node);
    return true;
  }
  while (liveTextCount > 0 && !isStopped) {
    const node = nodeAt(activeTexts, 0);
    const start = <usize>node.matchStart;
    const end = <usize>node.matchEnd;
    countWork(ADVANCE_STEPS);
    advanceCursor(node);
    liveTextCount = sinkFirst(activeTexts, liveTextCount);
    if (start < rangeEnd) continue;
    isSymbolRange = isSymbolKind(node);
    rangeStart = start;
    rangeEnd = end;
    return true;
  }
  return false;
}

/**
 * Whether ranges are worth keeping, and enough to render a doc by: those of the plan's only text, an expression that
 * reads nothing beyond its candidate blocks.
 */
export function canKeepRanges(): bool {
  if (textNodeCount != 1) return false;
  const node = nodeAt(textNodes, 0);
  return node.kind == NODE_REGEX && node.spansLines == 0;
}

/** Makes `id`, whose ranges were kept, the current doc, with all read that evaluating it reads. */
export function enterKeptDoc(id: u32): void {
  enterDoc(id);
  const node = nodeAt(textNodes, 0);
  node.cursorBlock = firstBlock;
  node.cursor = 0;
  node.isFresh = 0;
  while (nextRun(node)) {}
}

/** Whether the content ranges of the current doc are the matches of one atom. */
export function isSingleText(): bool {
  return activeTextCount == 1;
}

/** Number of ranges that nextRange has not given yet, if they are those of one atom. */
export function countRest(): u32 {
  const node = nodeAt(activeTexts, 0);
  if (node.matchStart == 0) return 0;
  let count: u32 = 1;
  if (isSymbolKind(node)) while (advanceSymbol(node)) count++;
  else {
    do {
      count += countInRun(node);
    } while (nextRun(node));
  }
  node.matchStart = 0;
  node.isFresh = 0;
  return count;
}

/** Whether the match of `a` comes first: it starts first, or ends last among those; of equal ones that of a symbol. */
function isBefore(a: MatchNode, b: MatchNode): bool {
  if (a.matchStart != b.matchStart) return a.matchStart < b.matchStart;
  if (a.matchEnd != b.matchEnd) return a.matchEnd > b.matchEnd;
  return isSymbolKind(a) && !isSymbolKind(b);
}

function setNode(list: usize, index: u32, node: MatchNode): void {
  store<u32>(list + (<usize>index << 2), changetype<usize>(node));
}

/** Moves the nodes of a list that have a match to its head, as a heap whose first one comes first; their number. */
function heapOf(list: usize, count: u32): u32 {
  let liveCount: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const node = nodeAt(list, i);
    if (node.matchStart == 0) continue;
    setNode(list, i, nodeAt(list, liveCount));
    setNode(list, liveCount, node);
    liveCount++;
  }
  for (let i = liveCount >> 1; i > 0; i--) sink(list, liveCount, i - 1);
  return liveCount;
}

/** Restores the heap once its first node has moved on, behind it if it has no match any more; the number in it. */
function sinkFirst(list: usize, count: u32): u32 {
  const first = nodeAt(list, 0);
  if (first.matchStart == 0) {
    count--;
    setNode(list, 0, nodeAt(list, count));
    setNode(list, count, first);
  }
  sink(list, count, 0);
  return count;
}

/** Moves a node down to where it belongs. */
function sink(list: usize, count: u32, index: u32): void {
  for (;;) {
    let child: u32 = 2 * index + 1;
    if (child >= count) return;
    if (child + 1 < count && isBefore(nodeAt(list, child + 1), nodeAt(list, child))) child++;
    const node = nodeAt(list, index);
    const below = nodeAt(list, child);
    if (!isBefore(below, node)) return;
    setNode(list, index, below);
    setNode(list, child, node);
    index = child;
  }
}

/** Begins the walk over the ranges of the path atoms of the current doc, which matched. */
export function beginPathRanges(): void {
  rangeEnd = 0;
  for (let i: u32 = 0; i < activePathCount; i++) {
    const node = nodeAt(activePaths, i);
    node.cursor = <u32>pathStart;
    node.cursorEnd = <u32>pathEnd;
    if (node.kind == NODE_PATH_REGEX) beginRegexText(node.regex, pathStart, pathEnd, TEXT_ANY);
    advancePath(node);
  }
  livePathCount = heapOf(activePaths, activePathCount);
}

/** Next path range; false at the end. */
export function nextPathRange(): bool {
  while (livePathCount > 0 && !isStopped) {
    const node = nodeAt(activePaths, 0);
    const start = <usize>node.matchStart;
    const end = <usize>node.matchEnd;
    advancePath(node);
    livePathCount = sinkFirst(activePaths, livePathCount);
    if (start < rangeEnd) continue;
    rangeStart = start;
    rangeEnd = end;
    return true;
  }
  return false;
}
