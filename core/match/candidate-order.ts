// Orders candidates so that those that may score best come first, since a search stops at its
// limit: docs with one block that may contain all leaves, then docs whose base name contains a
// leaf.

import { Arena, arenaAlloc, arenaMark, arenaReset } from '../base/arena.ts';
import { NONE_ID } from '../shared/format.ts';
import { NODE_TEXT } from '../shared/plan.ts';
import { STATUS_OK, STATUS_OUT_OF_MEMORY } from '../shared/status.ts';
import { blobAt, docAt } from '../shard/open.ts';
import { getBit } from '../base/bits.ts';
import { blockBitmapSize, boundView, intersectBitmaps } from './bound.ts';
import { isFoldedAlike } from './name-cover.ts';
import { leafAt, ContentLeaf, slotLeaves } from './node.ts';

/** Bound: 0.2 us each; further ones keep their order. */
const ORDERED_MAX: u32 = 2048;

// The class of a doc is a sum; 0 is the best.
const CLASS_COUNT: u32 = 4;
/** No block may contain all leaves. */
const APART: u32 = 2;
/** The base name contains no leaf. */
const UNNAMED: u32 = 1;

/** A u32 for each class: the number of its docs, later the next position. */
const counters = memory.data(16, 4);
if (CLASS_COUNT * 4 > 16) ERROR('counters: size');

/**
 * Sorts the first docs by class, stable; docs of one blob stay together. Errors:
 * STATUS_OUT_OF_MEMORY. Out of memory is an error rather than "keep the old order": otherwise
 * threads would divide the docs into different units.
 */
export function orderCandidates(arena: Arena, docs: usize, count: u32): i32 {
  if (slotLeaves.count < 2) return STATUS_OK;
  const first = countFirst(docs, count);
  const mark = arenaMark(arena);
  const ordered = arenaAlloc(arena, <usize>first * 4, 8);
  const classes = arenaAlloc(arena, first, 8);
  if (ordered == 0 || classes == 0 || !findCommon(arena)) return STATUS_OUT_OF_MEMORY;
  memory.fill(counters, 0, CLASS_COUNT * 4);
  classify(docs, first, classes);
  sortByClass(docs, first, classes, ordered);
  memory.copy(docs, ordered, <usize>first << 2);
  arenaReset(arena, mark);
  return STATUS_OK;
}

/** Number of docs to sort; docs of one blob are not separated. */
function countFirst(docs: usize, count: u32): u32 {
  let first = min(count, ORDERED_MAX);
  while (first > 0 && first < count && blobOf(docs, first) == blobOf(docs, first - 1)) first++;
  return first;
}

@inline
function docOf(docs: usize, index: u32): u32 {
  return load<u32>(docs + (<usize>index << 2));
}
@inline
function blobOf(docs: usize, index: u32): u32 {
  return docAt(boundView, docOf(docs, index)).blobId;
}

function classify(docs: usize, count: u32, classes: usize): void {
  let lastBlob: u32 = NONE_ID;
  let docClass: u32 = APART | UNNAMED;
  for (let i: u32 = 0; i < count; i++) {
    const blobId = blobOf(docs, i);
    if (blobId == NONE_ID) docClass = APART | UNNAMED;
    else if (blobId != lastBlob) docClass = classOf(docOf(docs, i), blobId);
    lastBlob = blobId;
    store<u8>(classes + i, <u8>docClass);
    const counter = counters + (<usize>docClass << 2);
    store<u32>(counter, load<u32>(counter) + 1);
  }
}

function sortByClass(docs: usize, count: u32, classes: usize, ordered: usize): void {
  let next: u32 = 0;
  for (let counter = counters; counter < counters + CLASS_COUNT * 4; counter += 4) {
    const size = load<u32>(counter);
    store<u32>(counter, next);
    next += size;
  }
  for (let i: u32 = 0; i < count; i++) {
    const counter = counters + (<usize>load<u8>(classes + i) << 2);
    const to = load<u32>(counter);
    store<u32>(ordered + (<usize>to << 2), docOf(docs, i));
    store<u32>(counter, to + 1);
  }
}

function classOf(docId: u32, blobId: u32): u32 {
  return (haveCommonBlock(blobId) ? 0 : APART) | (isInBaseName(docId) ? 0 : UNNAMED);
}

/** Blocks that may contain all leaves; 0: every block. */
let common: usize = 0;

/** False: the arena is full. */
function findCommon(arena: Arena): bool {
  common = 0;
  for (let i: u32 = 0; i < slotLeaves.count; i++) {
    const leaf = changetype<ContentLeaf>(leafAt(slotLeaves, i));
    if (leaf.ruledOut || leaf.bitmap == 0) continue;
    if (common != 0) intersectBitmaps(common, leaf.bitmap, blockBitmapSize);
    else {
      common = arenaAlloc(arena, blockBitmapSize, 16);
      if (common == 0) return false;
      memory.copy(common, leaf.bitmap, blockBitmapSize);
    }
  }
  return true;
}

function haveCommonBlock(blobId: u32): bool {
  if (common == 0) return true;
  const blob = blobAt(boundView, blobId);
  for (let block = blob.firstBlock; block < blob.firstBlock + blob.blockCount; block++)
    if (getBit(common, block) != 0) return true;
  return false;
}

/** Whether the base name contains the literal of a leaf; only ASCII folds. */
function isInBaseName(docId: u32): bool {
  const doc = docAt(boundView, docId);
  const path = <usize>boundView.paths + doc.pathOffset;
  const end = path + doc.pathSize;
  let start = end;
  while (start > path && load<u8>(start - 1) != 47) start--;
  for (let i: u32 = 0; i < slotLeaves.count; i++) {
    const leaf = leafAt(slotLeaves, i);
    if (leaf.kind == NODE_TEXT && contains(start, end, leaf.data, leaf.dataSize)) return true;
  }
  return false;
}

function contains(start: usize, end: usize, text: usize, size: usize): bool {
  const first = load<u8>(text);
  for (let ptr = start; ptr + size <= end; ptr++) {
    // Letters differ from their other case only in this bit.
    if (((load<u8>(ptr) ^ first) & 0xdf) == 0 && isFoldedAlike(ptr, text, size)) return true;
  }
  return false;
}
