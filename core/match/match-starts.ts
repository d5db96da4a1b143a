// The blocks of the bound shard in which a match that may span lines can begin, by three parts of the expression
// (daemon/engine/regex/match-start.ts; REGEX_*_OFFSET in shared/plan.ts):
//   start   grams of the block where a match begins
//   near    grams of that block and the next one together
//   chain   the bytes that may be between start and near
// There are two kinds of such blocks:
//   inside   the block has start and near: all of it is searched
//   border   it has start, but not near: a match that begins in it continues in bytes of the chain up to its end, so only
//            the bytes of the chain at its end are searched (regex-leaf.ts). Either it has near together with the next
//            block, or the next block may consist only of bytes of the chain.

import { Arena, arenaMark, arenaReset } from '../base/arena.ts';
import { getBit, setBit } from '../base/bits.ts';
import { BITMAP_SIZE, SEGMENT_BLOCKS } from '../shared/format.ts';
import { NODE_AND, NODE_GRAMS } from '../shared/plan.ts';
import { blockAt } from '../shard/open.ts';
import {
  addReadCosts,
  blocksOfDocs,
  countInnerBlocks,
  docsOfBlocks,
  intersectGrams,
  newBlockBitmap,
  SEGMENTS_MAX,
  setAllBlocks,
} from './block-sets.ts';
import {
  ALL_DOCS,
  areBlocksCounted,
  blockBitmapSize,
  boundSegments,
  boundView,
  failStatus,
  intersectBitmaps,
  narrowSegments,
  NO_DOCS,
  stopCounting,
  uniteBitmaps,
  widenSegments,
} from './bound.ts';
import { docsOfCondition, fillBlocks, gramsOf } from './conditions.ts';
import { Expression, isGiven } from './expression.ts';
import { dropForeign } from './foreign.ts';
import { ContentLeaf, MatchNode, nodeAt } from './node.ts';

const NEWLINE: u32 = 10;
/** Guess: cost of searching the starts in a block; a needle skips most of it. */
const VERIFY_START_NS: u32 = 1500;
/** Guess: every thread binds, but they share the blocks; and half of the blocks remain. */
const BIND_COST_TIMES: u32 = 4;

/**
 * Binds an expression that spans lines and has a condition: sets `starts`, `borders` and cost,
 * returns the docs that it may hold for, and sets `bitmap` to all their blocks: a match may extend
 * into each.
 */
export function bindSpanning(
  arena: Arena,
  node: ContentLeaf,
  expression: Expression,
  bitmap: usize,
): usize {
  let docs: usize = ALL_DOCS;
  if (isGiven(expression.condition)) {
    if (expression.condition.kind != NODE_GRAMS && areBlocksCounted()) {
      countBlocksWithAll(arena, expression.condition, bitmap);
      stopCounting();
    }
    docs = docsOfCondition(arena, node, expression.condition, bitmap);
    stopCounting();
    if (docs == NO_DOCS) return NO_DOCS;
    blocksOfDocs(docs, bitmap);
    if (!isGiven(expression.start) && !isGiven(expression.near)) return docs;
  } else setAllBlocks(bitmap);
  const starts = newBlockBitmap(arena);
  if (starts == 0) return NO_DOCS;
  if (!isGiven(expression.start)) memory.copy(starts, bitmap, blockBitmapSize);
  else {
    fillBlocks(arena, expression.start, starts);
    intersectBitmaps(starts, bitmap, blockBitmapSize);
  }
  if (isGiven(expression.near)) keepNear(arena, node, expression, starts);
  if (failStatus != 0) return NO_DOCS;
  node.starts = <u32>starts;
  docs = docsOfBlocks(arena, node, starts);
  if (docs != NO_DOCS) blocksOfDocs(docs, bitmap);
  return docs;
}

/**
 * Counts the blocks that have all that a match requires (first-part.ts). Why not the docs that have
 * it: in most of them the parts of a match are far apart. Only the first half may be a part.
 */
function countBlocksWithAll(arena: Arena, condition: MatchNode, scratch: usize): void {
  const half = boundView.blockCount / (2 * SEGMENT_BLOCKS);
  const bound = narrowSegments((<u32>1 << half) - 1);
  fillBlocks(arena, condition, scratch);
  widenSegments(bound);
}

/** Keeps in `starts` the inside blocks and the borders; sets the node's borders. */
function keepNear(arena: Arena, node: ContentLeaf, expression: Expression, starts: usize): void {
  const borders = newBlockBitmap(arena);
  const mark = arenaMark(arena);
  const inside = copyOf(arena, starts);
  const near = copyOf(arena, starts);
  if (failStatus != 0) return;
  intersectNear(arena, expression.near, inside, near);
  if (failStatus != 0) return;
  if (getBit(expression.chain, NEWLINE) != 0) {
    // Blocks that lack `near`, also together with the next block, remain if the next block may consist only of bytes of
    // the chain: the match may continue through it.
    memory.copy(borders, starts, blockBitmapSize);
    subtractBitmap(borders, near);
    dropForeign(arena, borders, expression.chain);
    subtractBitmap(near, inside);
    uniteBitmaps(borders, near, blockBitmapSize);
    dropLastBlocks(borders);
    node.borders = <u32>borders;
  }
  memory.copy(starts, inside, blockBitmapSize);
  uniteBitmaps(starts, borders, blockBitmapSize);
  arenaReset(arena, mark);
}

function copyOf(arena: Arena, bitmap: usize): usize {
  const copy = newBlockBitmap(arena);
  if (copy != 0) memory.copy(copy, bitmap, blockBitmapSize);
  return copy;
}

/**
 * Keeps in `inside` the blocks that satisfy the condition, and in `near` those that do together
 * with the next one, in the segments where reading lists pays. The next block may be of another
 * blob: a false candidate.
 */
function intersectNear(arena: Arena, condition: MatchNode, inside: usize, near: usize): void {
  if (condition.kind == NODE_AND) {
    for (let i: u32 = 0; i < condition.childCount && failStatus == 0; i++) {
      intersectNear(arena, nodeAt(condition.children, i), inside, near);
    }
    return;
  }
  const segments = payingSegments(condition, inside);
  if (segments == 0) return;
  const mark = arenaMark(arena);
  const addedInside = newBlockBitmap(arena);
  const addedNear = newBlockBitmap(arena);
  const bound = narrowSegments(segments);
  if (failStatus == 0) addNear(arena, condition, near, addedInside, addedNear);
  widenSegments(bound);
  for (let rest = segments; rest != 0; rest &= rest - 1) {
    const segment = <u32>ctz(rest);
    // The lists of the next block were not read.
    if (((segments >> 1) & (rest & (0 - rest))) == 0)
      setBit(addedNear, (segment + 1) * SEGMENT_BLOCKS - 1);
    const offset = <usize>segment * BITMAP_SIZE;
    intersectBitmaps(inside + offset, addedInside + offset, BITMAP_SIZE);
    intersectBitmaps(near + offset, addedNear + offset, BITMAP_SIZE);
  }
  arenaReset(arena, mark);
}

const costs = memory.data(256, 8);
if (SEGMENTS_MAX * 8 > 256) ERROR('costs: size');

/** Where reading the lists costs less than searching the blocks that it excludes; a bit each. */
function payingSegments(condition: MatchNode, inside: usize): u32 {
  memory.fill(costs, 0, SEGMENTS_MAX * 8);
  addCosts(condition);
  let segments: u32 = 0;
  for (let rest = boundSegments; rest != 0; rest &= rest - 1) {
    const segment = <u32>ctz(rest);
    const saved = (<u64>countInnerBlocks(inside, segment) * VERIFY_START_NS) / BIND_COST_TIMES;
    if (saved >= load<u64>(costs + (<usize>segment << 3))) segments |= 1 << segment;
  }
  return segments;
}

function addCosts(condition: MatchNode): void {
  if (condition.kind == NODE_GRAMS)
    return addReadCosts(gramsOf(condition).keys, gramsOf(condition).keyCount, costs);
  for (let i: u32 = 0; i < condition.childCount; i++) addCosts(nodeAt(condition.children, i));
}

/** Adds the blocks of `within` that satisfy the condition, as in intersectNear. */
function addNear(
  arena: Arena,
  condition: MatchNode,
  within: usize,
  inside: usize,
  near: usize,
): void {
  const mark = arenaMark(arena);
  const addedInside = newBlockBitmap(arena);
  const addedNear = newBlockBitmap(arena);
  if (failStatus != 0) return;
  if (condition.kind == NODE_AND) {
    memory.copy(addedInside, within, blockBitmapSize);
    memory.copy(addedNear, within, blockBitmapSize);
    intersectNear(arena, condition, addedInside, addedNear);
  } else {
    if (condition.kind == NODE_GRAMS) fillByKeys(arena, condition, addedInside);
    else addAnyNear(arena, condition, within, addedInside, addedNear);
    // Each literal is in one block.
    addBefore(addedNear, addedInside);
  }
  uniteBitmaps(inside, addedInside, blockBitmapSize);
  uniteBitmaps(near, addedNear, blockBitmapSize);
  arenaReset(arena, mark);
}

/** As addNear, for an OR; its literals only count in `inside`. */
function addAnyNear(
  arena: Arena,
  condition: MatchNode,
  within: usize,
  inside: usize,
  near: usize,
): void {
  const literal = newBlockBitmap(arena);
  for (let i: u32 = 0; i < condition.childCount && failStatus == 0; i++) {
    const child = nodeAt(condition.children, i);
    if (child.kind != NODE_GRAMS) addNear(arena, child, within, inside, near);
    else {
      memory.fill(literal, 0, blockBitmapSize);
      fillByKeys(arena, child, literal);
      uniteBitmaps(inside, literal, blockBitmapSize);
    }
  }
}

function fillByKeys(arena: Arena, condition: MatchNode, bitmap: usize): void {
  const mark = arenaMark(arena);
  intersectGrams(
    arena,
    gramsOf(condition).keys,
    gramsOf(condition).keyCount,
    0,
    0,
    bitmap,
    VERIFY_START_NS,
  );
  arenaReset(arena, mark);
}

/** Adds the blocks, and the block before each, to `near`. */
function addBefore(near: usize, blocks: usize): void {
  for (let offset: usize = 0; offset < blockBitmapSize; offset += 8) {
    const word = load<u64>(blocks + offset);
    const next = offset + 8 < blockBitmapSize ? load<u64>(blocks + offset + 8) : 0;
    store<u64>(near + offset, load<u64>(near + offset) | word | (word >> 1) | (next << 63));
  }
}

function subtractBitmap(target: usize, other: usize): void {
  for (let i: usize = 0; i < blockBitmapSize; i += 16) {
    v128.store(target + i, v128.andnot(v128.load(target + i), v128.load(other + i)));
  }
}

/** Removes the last blocks of blobs, which have no next block. */
function dropLastBlocks(bitmap: usize): void {
  for (let offset: usize = 0; offset < blockBitmapSize; offset += 8) {
    for (let word = load<u64>(bitmap + offset); word != 0; word &= word - 1) {
      const blockId = (<u32>offset << 3) + <u32>ctz(word);
      const hasNext =
        blockId < boundView.blockCount &&
        blockAt(boundView, blockId).blobId == blockAt(boundView, blockId + 1).blobId;
      if (!hasNext)
        store<u64>(bitmap + offset, load<u64>(bitmap + offset) & ~(<u64>1 << (blockId & 63)));
    }
  }
}
