// Conditions of regular expressions on the bound shard: AND/OR trees over grams, computed by the
// daemon (daemon/engine/regex). For matches within a line they are evaluated on blocks; for others
// on docs, or on two neighbouring blocks together (match-starts.ts).

import { Arena, arenaAlloc, arenaMark, arenaReset } from '../base/arena.ts';
import { NODE_AND, NODE_GRAMS, NODE_OR } from '../shared/plan.ts';
import { STATUS_BAD_PLAN, STATUS_OUT_OF_MEMORY } from '../shared/status.ts';
import {
  docsOfBlocks,
  fillWithGrams,
  intersectGrams,
  keepMarked,
  newBlockBitmap,
  VERIFY_REGEX_NS,
} from './block-sets.ts';
import {
  blockBitmapSize,
  docBitmapSize,
  failBinding,
  failStatus,
  intersectBitmaps,
  NO_DOCS,
  uniteBitmaps,
} from './bound.ts';
import { Grams, keyAt, makeGrams } from './grams.ts';
import { MatchNode, nodeAt, NODE_SIZE } from './node.ts';

/** GRAMS: a match has the grams of a literal. Never evaluated, and only below an expression. */
@unmanaged
export class GramsNode extends MatchNode {
  grams: Grams;
}
if (offsetof<GramsNode>() > NODE_SIZE) ERROR('GramsNode: size');

export function compileGrams(arena: Arena, node: GramsNode): void {
  node.grams = makeGrams(arena, node);
}

@inline
export function gramsOf(condition: MatchNode): Grams {
  return changetype<GramsNode>(condition).grams;
}

/**
 * Fills the empty `bitmap` with the blocks that satisfy the condition, plus some where reading all
 * lists does not pay. Uses a temporary bitmap for each level.
 * Errors: failStatus is set to STATUS_BAD_PLAN, STATUS_FRAME, STATUS_OUT_OF_MEMORY; then the bitmap
 * is meaningless.
 */
export function fillBlocks(arena: Arena, condition: MatchNode, bitmap: usize): void {
  const mark = arenaMark(arena);
  if (condition.kind == NODE_OR) {
    const other = newBlockBitmap(arena);
    for (let i: u32 = 0; i < condition.childCount && failStatus == 0; i++) {
      memory.fill(other, 0, blockBitmapSize);
      fillBlocks(arena, nodeAt(condition.children, i), other);
      uniteBitmaps(bitmap, other, blockBitmapSize);
    }
  } else if (condition.kind == NODE_AND) intersectAll(arena, condition, bitmap);
  else if (condition.kind == NODE_GRAMS)
    fillWithGrams(arena, gramsOf(condition), 0, bitmap, VERIFY_REGEX_NS);
  else failBinding(STATUS_BAD_PLAN);
  arenaReset(arena, mark);
}

/** AND: the grams of all its literals at once, the rarest first; then the other children. */
function intersectAll(arena: Arena, condition: MatchNode, bitmap: usize): void {
  const keys = arenaAlloc(arena, countKeys(condition) * 4, 8);
  const other = newBlockBitmap(arena);
  if (keys == 0) failBinding(STATUS_OUT_OF_MEMORY);
  if (failStatus != 0) return;
  const keyCount = joinKeys(condition, keys);
  let isFirst = keyCount == 0;
  if (!isFirst) intersectGrams(arena, keys, keyCount, 0, 0, bitmap, VERIFY_REGEX_NS);
  for (let i: u32 = 0; i < condition.childCount && failStatus == 0; i++) {
    const child = nodeAt(condition.children, i);
    if (child.kind == NODE_GRAMS) {
      const marks = gramsOf(child).marks;
      if (marks != 0) keepMarked(marks, bitmap, 0, blockBitmapSize);
      continue;
    }
    if (isFirst) fillBlocks(arena, child, bitmap);
    else {
      memory.fill(other, 0, blockBitmapSize);
      fillBlocks(arena, child, other);
      intersectBitmaps(bitmap, other, blockBitmapSize);
    }
    isFirst = false;
  }
}

function countKeys(condition: MatchNode): u32 {
  let count: u32 = 0;
  for (let i: u32 = 0; i < condition.childCount; i++) {
    const child = nodeAt(condition.children, i);
    if (child.kind == NODE_GRAMS) count += gramsOf(child).keyCount;
  }
  return count;
}

/** Writes the distinct keys of the literals directly below to `out`; returns how many. */
function joinKeys(condition: MatchNode, out: usize): u32 {
  let count: u32 = 0;
  for (let i: u32 = 0; i < condition.childCount; i++) {
    const child = nodeAt(condition.children, i);
    if (child.kind != NODE_GRAMS) continue;
    const grams = gramsOf(child);
    for (let k: u32 = 0; k < grams.keyCount; k++) {
      const key = keyAt(grams, k);
      if (isAmong(out, count, key)) continue;
      store<u32>(out + (<usize>count << 2), key);
      count++;
    }
  }
  return count;
}

function isAmong(keys: usize, count: u32, key: u32): bool {
  for (let i: u32 = 0; i < count; i++) if (load<u32>(keys + (<usize>i << 2)) == key) return true;
  return false;
}

/**
 * Docs that satisfy the condition, in a new bitmap, or NO_DOCS: for an AND those with a block for
 * each child.
 * @param node     its cost is set to that of the blocks of the last literal
 * @param scratch  a bitmap of blocks
 */
export function docsOfCondition(
  arena: Arena,
  node: MatchNode,
  condition: MatchNode,
  scratch: usize,
): usize {
  if (failStatus != 0) return NO_DOCS;
  if (condition.kind == NODE_GRAMS) {
    memory.fill(scratch, 0, blockBitmapSize);
    fillWithGrams(arena, gramsOf(condition), 0, scratch, VERIFY_REGEX_NS);
    return failStatus != 0 ? NO_DOCS : docsOfBlocks(arena, node, scratch);
  }
  if (condition.kind != NODE_AND && condition.kind != NODE_OR) {
    failBinding(STATUS_BAD_PLAN);
    return NO_DOCS;
  }
  const isAnd = condition.kind == NODE_AND;
  let verdict: usize = NO_DOCS;
  for (let i: u32 = 0; i < condition.childCount; i++) {
    const docs = docsOfCondition(arena, node, nodeAt(condition.children, i), scratch);
    if (docs == NO_DOCS) {
      if (isAnd) return NO_DOCS;
    } else if (verdict == NO_DOCS) verdict = docs;
    else if (isAnd) intersectBitmaps(verdict, docs, docBitmapSize());
    else uniteBitmaps(verdict, docs, docBitmapSize());
  }
  return verdict;
}
