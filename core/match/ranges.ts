// The ranges of a doc: the matches of its active leaves, merged in order of start, the longest
// first; a range that overlaps the one before is dropped. Content and path are walked separately.

import { countWork, isStopped } from '../base/work.ts';
import { advanceLeaf, countFromHere, startLeaf } from './leaves.ts';
import {
  activeInContent,
  activeInPath,
  activeWords,
  leafAt,
  LeafList,
  RangeLeaf,
  setNode,
} from './node.ts';
import { ADVANCE_STEPS } from './runs.ts';
import { isSymbolLeaf } from './symbol-leaf.ts';

/** The last range of nextRange; addresses. */
@unmanaged
export class Range {
  start: usize;
  end: usize;
  isSymbol: bool; // it is part of the name of a symbol that the query searches
  leaf: u32;
  slot: u32; // of that leaf
}
export const range = changetype<Range>(memory.data(20, 4));
if (offsetof<Range>() > 20) ERROR('Range: size');

/** The walked leaves. Of several, those with another match come first, as a heap (isBefore). */
let walked: LeafList = activeInContent;
let liveCount: u32 = 0;

/** Begins the ranges of the content. */
export function beginRanges(): void {
  beginWalk(activeInContent);
}

/**
 * Begins the ranges of the path: those of words; if the content has none (`isAlone`) those of
 * filters too.
 */
export function beginPathRanges(isAlone: bool): void {
  const list = isAlone ? activeInPath : activeWords;
  // Their result was not computed by the cursor.
  for (let i: u32 = 0; i < list.count; i++) leafAt(list, i).isFresh = 0;
  beginWalk(list);
}

function beginWalk(list: LeafList): void {
  walked = list;
  range.end = 0;
  for (let i: u32 = 0; i < list.count; i++)
    if (leafAt(list, i).isFresh == 0) startLeaf(leafAt(list, i));
  liveCount = list.count > 1 ? makeHeap(list) : 0;
}

/** Moves to the next range; false at the end. */
export function nextRange(): bool {
  if (walked.count == 1) {
    // The usual case: one leaf, whose matches never overlap.
    const leaf = leafAt(walked, 0);
    if (leaf.matchStart == 0) return false;
    range.start = leaf.matchStart;
    range.end = leaf.matchEnd;
    setLeafOfRange(leaf);
    advanceLeaf(leaf);
    return true;
  }
  while (liveCount > 0 && !isStopped) {
    const leaf = leafAt(walked, 0);
    const start = <usize>leaf.matchStart;
    const end = <usize>leaf.matchEnd;
    countWork(ADVANCE_STEPS);
    advanceLeaf(leaf);
    sinkFirst(walked);
    if (start < range.end) continue;
    range.start = start;
    range.end = end;
    setLeafOfRange(leaf);
    return true;
  }
  return false;
}

@inline
function setLeafOfRange(leaf: RangeLeaf): void {
  range.isSymbol = isSymbolLeaf(leaf);
  range.leaf = <u32>changetype<usize>(leaf);
  range.slot = leaf.slot;
}

/** Number of remaining ranges, if only one content leaf is walked. */
export function countRest(): u32 {
  return countFromHere(leafAt(activeInContent, 0));
}

/**
 * Smaller start, then larger end; of equal ones that of a symbol, then the leaf first in the query.
 */
function isBefore(a: RangeLeaf, b: RangeLeaf): bool {
  if (a.matchStart != b.matchStart) return a.matchStart < b.matchStart;
  if (a.matchEnd != b.matchEnd) return a.matchEnd > b.matchEnd;
  if (isSymbolLeaf(a) != isSymbolLeaf(b)) return isSymbolLeaf(a);
  return changetype<usize>(a) < changetype<usize>(b);
}

function setLeaf(list: LeafList, index: u32, leaf: RangeLeaf): void {
  setNode(list.leaves, index, leaf);
}

/** Moves the leaves with a match to the head of the list, as a heap; returns their number. */
function makeHeap(list: LeafList): u32 {
  let live: u32 = 0;
  for (let i: u32 = 0; i < list.count; i++) {
    const leaf = leafAt(list, i);
    if (leaf.matchStart == 0) continue;
    setLeaf(list, i, leafAt(list, live));
    setLeaf(list, live, leaf);
    live++;
  }
  for (let i = live >> 1; i > 0; i--) sink(list, live, i - 1);
  return live;
}

/** Restores the heap after its first leaf has advanced; a finished leaf moves behind it. */
function sinkFirst(list: LeafList): void {
  const first = leafAt(list, 0);
  if (first.matchStart == 0) {
    liveCount--;
    setLeaf(list, 0, leafAt(list, liveCount));
    setLeaf(list, liveCount, first);
  }
  sink(list, liveCount, 0);
}

function sink(list: LeafList, count: u32, index: u32): void {
  for (;;) {
    let child: u32 = 2 * index + 1;
    if (child >= count) return;
    if (child + 1 < count && isBefore(leafAt(list, child + 1), leafAt(list, child))) child++;
    const leaf = leafAt(list, index);
    const below = leafAt(list, child);
    if (!isBefore(below, leaf)) return;
    setLeaf(list, index, below);
    setLeaf(list, child, leaf);
    index = child;
  }
}
