// TEXT: the content contains a literal, or the path, if the plan has PLAN_FLAG_IN_PATH. Candidate
// blocks have all its grams.

import { Arena, arenaAlloc, arenaMark, arenaReset } from '../base/arena.ts';
import { NODE_PATH, PLAN_FLAG_IN_PATH } from '../shared/plan.ts';
import { STATUS_BAD_PLAN, STATUS_OK, STATUS_OUT_OF_MEMORY } from '../shared/status.ts';
import { countNeedle, findNeedle, foundEnd } from '../scan/literal.ts';
import { isMiddleNewline } from '../shard/extract.ts';
import { GRAM_ABSENT } from '../shard/lists.ts';
import { getBit } from '../base/bits.ts';
import {
  blocksOfDocs,
  docsOfBlocks,
  fillWithGrams,
  keepMarked,
  newBlockBitmap,
  setAllBlocks,
  uniteGram,
  uniteShort,
} from './block-sets.ts';
import {
  ALL_DOCS,
  blockBitmapSize,
  boundView,
  docBitmapSize,
  failStatus,
  indexBytes,
  intersectBitmaps,
  newDocBitmap,
  NO_DOCS,
  uniteBitmaps,
} from './bound.ts';
import { current } from './current.ts';
import { recordFound, reuseFound } from './first-part.ts';
import { Grams, keyAt, makeGrams } from './grams.ts';
import { probeGram } from './lookups.ts';
import {
  addLeaf,
  ContentLeaf,
  contentLeaves,
  failCompiling,
  makeNeedle,
  NODE_SIZE,
  RULED_OUT_FOLDED,
} from './node.ts';
import { bindPath, PathLeaf } from './path-leaf.ts';
import { loadRun, nextRun, NO_RUN } from './runs.ts';

@unmanaged
export class TextLeaf extends ContentLeaf {
  needle: u32; // address of the compiled needle
  grams: Grams;
  path: PathLeaf; // finds the literal in paths; null: only contents are searched
  // Of the bound shard:
  pathDocs: u32; // an exact bitmap of the docs whose path contains it; 0: there are none
}
if (offsetof<TextLeaf>() > NODE_SIZE) ERROR('TextLeaf: size');

/** Guess: cost of verifying a block. */
const VERIFY_LITERAL_NS: u32 = 700;

/** Errors: compileStatus is set for an empty literal, and if the arena is full. */
export function compileText(arena: Arena, node: TextLeaf): void {
  if (node.dataSize == 0) return failCompiling(STATUS_BAD_PLAN);
  node.needle = makeNeedle(arena, node);
  node.grams = makeGrams(arena, node);
  addLeaf(contentLeaves, node);
  if ((node.flags & PLAN_FLAG_IN_PATH) != 0) node.path = makePathLeaf(arena, node);
}

/** The leaf that finds the literal in paths; null, with compileStatus set, if the arena is full. */
function makePathLeaf(arena: Arena, node: TextLeaf): PathLeaf {
  const path = changetype<PathLeaf>(arenaAlloc(arena, NODE_SIZE, 8));
  if (changetype<usize>(path) == 0) {
    failCompiling(STATUS_OUT_OF_MEMORY);
    return path;
  }
  memory.fill(changetype<usize>(path), 0, NODE_SIZE);
  path.kind = NODE_PATH;
  path.flags = node.flags;
  path.data = node.data;
  path.dataSize = node.dataSize;
  path.needle = node.needle;
  path.grams = node.grams;
  return path;
}

/** Finds the docs that it may hold for (bound.ts), by their contents or paths. */
export function bindText(arena: Arena, node: TextLeaf): usize {
  const docs = bindContent(arena, node);
  node.pathDocs = 0;
  if (changetype<usize>(node.path) == 0) return docs;
  const pathDocs = bindPath(arena, node.path);
  if (pathDocs == NO_DOCS) {
    node.ruledOut = min(node.ruledOut, node.path.ruledOut);
    return docs;
  }
  node.pathDocs = <u32>pathDocs;
  if (docs == ALL_DOCS) return docs;
  // A copy: verdicts are combined in place.
  const either = docs == NO_DOCS ? newDocBitmap(arena) : docs;
  if (either == 0) return NO_DOCS;
  uniteBitmaps(either, pathDocs, docBitmapSize());
  return either;
}

/** Whether the path of the current doc contains it: a bit test. */
@inline
export function matchesInPath(node: TextLeaf): bool {
  return node.pathDocs != 0 && getBit(node.pathDocs, current.docId) != 0;
}

/**
 * Finds its candidate blocks and cost; returns the docs whose content may contain it.
 *
 *   letters   candidate blocks
 *   1, 2      those of all grams that contain them; all blocks, if these are most
 *   3 ...     those with all grams of the literal, as long as reading lists pays
 *   lines     all blocks of the docs with the grams of each line
 */
function bindContent(arena: Arena, node: TextLeaf): usize {
  const grams = node.grams;
  node.bitmap = 0;
  node.cost = 0x40000000;
  if (grams.spansLines != 0) return bindLines(arena, node);
  const bitmap = newBlockBitmap(arena);
  if (bitmap == 0) return NO_DOCS;
  node.bitmap = <u32>bitmap;
  if (grams.gramCharCount >= 3) {
    const bytesBefore = indexBytes;
    const segments = reuseFound(node, bitmap);
    if (!fillWithGrams(arena, grams, segments, bitmap, VERIFY_LITERAL_NS) && segments == 0)
      node.ruledOut = RULED_OUT_FOLDED;
    recordFound(node, bitmap, bytesBefore);
  } else {
    const isSelective = uniteShort(arena, grams, bitmap);
    if (!isSelective && grams.marks == 0) {
      node.bitmap = 0;
      return boundView.blobCount == 0 ? NO_DOCS : ALL_DOCS;
    }
    if (!isSelective) setAllBlocks(bitmap);
    if (grams.marks != 0) keepMarked(grams.marks, bitmap, 0, blockBitmapSize);
  }
  return failStatus != STATUS_OK ? NO_DOCS : docsOfBlocks(arena, node, bitmap);
}

/**
 * Binds a literal with a newline before its end: the grams within its lines exclude docs; other docs
 * are read whole.
 */
function bindLines(arena: Arena, node: TextLeaf): usize {
  const bitmap = newBlockBitmap(arena);
  if (bitmap == 0 || boundView.blobCount == 0) return NO_DOCS;
  let verdict: usize = ALL_DOCS;
  for (let i: u32 = 0; i < node.grams.keyCount; i++) {
    const key = keyAt(node.grams, i);
    if (isMiddleNewline(key)) continue;
    // The docs of the first gram are intersected with those of each other one, which are then released.
    const mark = arenaMark(arena);
    const docs = docsOfGram(arena, node, key, bitmap);
    if (docs == NO_DOCS) {
      memory.fill(bitmap, 0, blockBitmapSize);
      node.bitmap = <u32>bitmap;
      return NO_DOCS;
    }
    if (verdict == ALL_DOCS) verdict = docs;
    else {
      intersectBitmaps(verdict, docs, docBitmapSize());
      arenaReset(arena, mark);
    }
  }
  if (verdict != ALL_DOCS) {
    blocksOfDocs(verdict, bitmap);
    node.bitmap = <u32>bitmap;
  }
  return verdict;
}

/** The docs with a gram, in a new bitmap; `bitmap` is scratch memory for its blocks. */
function docsOfGram(arena: Arena, node: TextLeaf, key: u32, bitmap: usize): usize {
  const gram = probeGram(boundView, key);
  if (gram == GRAM_ABSENT) return NO_DOCS;
  memory.fill(bitmap, 0, blockBitmapSize);
  uniteGram(gram, bitmap);
  return failStatus == STATUS_OK ? docsOfBlocks(arena, node, bitmap) : NO_DOCS;
}

/** Moves the cursor to the next match; matchStart = 0 if there is none. Hot: called for every doc and match. */
export function advanceText(node: TextLeaf): void {
  do {
    if (node.cursor >= node.cursorEnd) continue;
    const found = findNeedle(node.needle, node.cursor, node.cursorEnd, current.flags);
    if (found >= node.cursorEnd) continue;
    node.matchStart = <u32>found;
    node.matchEnd = <u32>foundEnd();
    node.cursor = node.matchEnd;
    return;
  } while (nextTextRun(node));
  node.matchStart = 0;
}

export function countRestOfText(node: TextLeaf): u32 {
  let count: u32 = 0;
  do count += countNeedle(node.needle, node.cursor, node.cursorEnd, current.flags);
  while (nextTextRun(node));
  return count;
}

/** Moves the cursor to the next run; false if there is none. */
function nextTextRun(node: TextLeaf): bool {
  if (nextRun(node, node.bitmap) == NO_RUN) return false;
  loadRun(node);
  return true;
}
