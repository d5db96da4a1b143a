// The blocks and docs of the bound shard that may hold a match of a regular expression, by the grams that
// every match must hold: an AND/OR tree that the daemon worked out (daemon/regex). Where a match lies in one line,
// and so in one block, the tree is evaluated on blocks; where it may span lines each literal of the
// tree still lies in one block, but the tree holds for docs only. Where such matches begin with a literal,
// only blocks that hold its grams are searched for beginnings; else the docs left are read whole.

import { Arena, arenaAlloc, arenaMark, arenaReset } from '../base/arena.ts';
import { SHARD_BITMAP_SIZE } from '../shared/format.ts';
import { NODE_AND, NODE_GRAMS, NODE_OR } from '../shared/plan.ts';
import { STATUS_BAD_PLAN, STATUS_OUT_OF_MEMORY } from '../shared/status.ts';
import { blocksOfDocs, docsOfBlocks, intersectGrams, keepMarked, VERIFY_REGEX_NS } from './block-sets.ts';
import {
  ALL_DOCS,
  boundView,
  docBitmapSize,
  failBinding,
  failStatus,
  intersectBitmaps,
  NO_DOCS,
  uniteBitmaps,
} from './bound.ts';
import { MatchNode, nodeAt } from './tree.ts';

/** Binds a REGEX node: sets its bitmap of candidate blocks and its cost; returns the docs that it may hold for. */
export function bindRegex(arena: Arena, node: MatchNode): usize {
  node.bitmap = 0;
  node.starts = 0;
  node.cost = 0x50000000;
  if (boundView.blobCount == 0) return NO_DOCS;
  if (node.condition == 0) return ALL_DOCS;
  const condition = changetype<MatchNode>(<usize>node.condition);
  const bitmap = newBlockBitmap(arena);
  if (bitmap == 0) return NO_DOCS;
  let docs: usize;
  if (node.spansLines != 0) docs = bindSpanning(arena, node, condition, bitmap);
  else {
    fillBlocks(arena, condition, bitmap);
    docs = failStatus != 0 ? NO_DOCS : docsOfBlocks(arena, node, bitmap);
  }
  if (failStatus != 0) return NO_DOCS;
  // The engine is dearer than literal search: literals of the query are asked first.
  node.cost = min(node.cost + 0x10000000, 0x4fffffff);
  node.bitmap = <u32>bitmap;
  return docs;
}

function bindSpanning(arena: Arena, node: MatchNode, condition: MatchNode, bitmap: usize): usize {
  const docs = docsOfCondition(arena, node, condition, bitmap);
  if (docs == NO_DOCS) return NO_DOCS;
  blocksOfDocs(docs, bitmap);
  if (node.startCondition == 0) return docs;
  const starts = newBlockBitmap(arena);
  if (starts == 0) return NO_DOCS;
  fillBlocks(arena, changetype<MatchNode>(<usize>node.startCondition), starts);
  intersectBitmaps(starts, bitmap, SHARD_BITMAP_SIZE);
  node.starts = <u32>starts;
  return failStatus != 0 ? NO_DOCS : docsOfBlocks(arena, node, starts);
}

/** An empty bitmap of blocks; 0, with failStatus set, if the arena is full. */
function newBlockBitmap(arena: Arena): usize {
  const bitmap = arenaAlloc(arena, SHARD_BITMAP_SIZE, 16);
  if (bitmap == 0) failBinding(STATUS_OUT_OF_MEMORY);
  else memory.fill(bitmap, 0, SHARD_BITMAP_SIZE);
  return bitmap;
}

/** Fills the empty `bitmap` with the blocks that satisfy the condition. */
function fillBlocks(arena: Arena, condition: MatchNode, bitmap: usize): void {
  const mark = arenaMark(arena);
  if (condition.kind == NODE_OR) {
    const other = newBlockBitmap(arena);
    for (let i: u32 = 0; i < condition.childCount && failStatus == 0; i++) {
      memory.fill(other, 0, SHARD_BITMAP_SIZE);
      fillBlocks(arena, nodeAt(condition.children, i), other);
      uniteBitmaps(bitmap, other, SHARD_BITMAP_SIZE);
    }
  } else if (condition.kind == NODE_AND) intersectAll(arena, condition, bitmap);
  else if (condition.kind == NODE_GRAMS) {
    intersectGrams(arena, condition.keys, condition.keyCount, bitmap, VERIFY_REGEX_NS);
    keepMarked(condition, bitmap);
  } else failBinding(STATUS_BAD_PLAN);
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
  if (!isFirst) intersectGrams(arena, keys, keyCount, bitmap, VERIFY_REGEX_NS);
  for (let i: u32 = 0; i < condition.childCount && failStatus == 0; i++) {
    const child = nodeAt(condition.children, i);
    if (child.kind == NODE_GRAMS) {
      keepMarked(child, bitmap);
      continue;
    }
    if (isFirst) fillBlocks(arena, child, bitmap);
    else {
      memory.fill(other, 0, SHARD_BITMAP_SIZE);
      fillBlocks(arena, child, other);
      intersectBitmaps(bitmap, other, SHARD_BITMAP_SIZE);
    }
    isFirst = false;
  }
}

function countKeys(condition: MatchNode): u32 {
  let count: u32 = 0;
  for (let i: u32 = 0; i < condition.childCount; i++) {
    const child = nodeAt(condition.children, i);
    if (child.kind == NODE_GRAMS) count += child.keyCount;
  }
  return count;
}

/** Writes the distinct keys of the literals right below `condition` to `out`; returns how many. */
function joinKeys(condition: MatchNode, out: usize): u32 {
  let count: u32 = 0;
  for (let i: u32 = 0; i < condition.childCount; i++) {
    const child = nodeAt(condition.children, i);
    if (child.kind != NODE_GRAMS) continue;
    for (let k: u32 = 0; k < child.keyCount; k++) {
      const key = load<u32>(<usize>child.keys + (<usize>k << 2));
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

/** Docs that satisfy the condition, in a new bitmap, or NO_DOCS; `scratch` is a bitmap of blocks. */
function docsOfCondition(arena: Arena, node: MatchNode, condition: MatchNode, scratch: usize): usize {
  if (failStatus != 0) return NO_DOCS;
  if (condition.kind == NODE_GRAMS) {
    memory.fill(scratch, 0, SHARD_BITMAP_SIZE);
    intersectGrams(arena, condition.keys, condition.keyCount, scratch, VERIFY_REGEX_NS);
    keepMarked(condition, scratch);
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
