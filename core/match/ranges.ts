// The ranges of a doc that matched: the matches of its active atoms (evaluate.ts), merged in order
// of start, the longest first at equal start; a range that overlaps the one before is dropped.
// Content and path are walked separately. Allocates nothing per doc.

import { countWork, isStopped } from '../base/work.ts';
import { advanceAtom, countFromHere, startAtom } from './atoms.ts';
import { activeInContent, activeInPath, activeWords, Atom, atomAt, AtomList, setNode } from './node.ts';
import { ADVANCE_STEPS } from './runs.ts';
import { isSymbolAtom } from './symbol-atom.ts';

/** The range that nextRange found last; addresses. */
@unmanaged
export class Range {
  start: usize;
  end: usize;
  isSymbol: bool; // it is part of the name of a symbol that the query asks for
  atom: u32; // address of the Atom whose match it is
  slot: u32; // of that atom
}
export const range = changetype<Range>(memory.data(20, 4));
if (offsetof<Range>() > 20) ERROR('Range: size');

/**
 * The atoms that are walked; those that have another match stand first, as a heap (isBefore), if
 * there are several.
 */
let walked: AtomList = activeInContent;
let liveCount: u32 = 0;

/** Begins the walk over the ranges in the content of the current doc. */
export function beginRanges(): void {
  beginWalk(activeInContent);
}

/**
 * Begins the walk over the ranges in its path: those of words, and if there are none in its content
 * (`isAlone`), those of filters too.
 */
export function beginPathRanges(isAlone: bool): void {
  const list = isAlone ? activeInPath : activeWords;
  // Whether they hold was found out in other ways.
  for (let i: u32 = 0; i < list.count; i++) atomAt(list, i).isFresh = 0;
  beginWalk(list);
}

function beginWalk(list: AtomList): void {
  walked = list;
  range.end = 0;
  for (let i: u32 = 0; i < list.count; i++)
    if (atomAt(list, i).isFresh == 0) startAtom(atomAt(list, i));
  liveCount = list.count > 1 ? makeHeap(list) : 0;
}

/** Next range; false at the end. */
export function nextRange(): bool {
  if (walked.count == 1) {
    // The usual case: one atom, whose own matches never overlap.
    const atom = atomAt(walked, 0);
    if (atom.matchStart == 0) return false;
    range.start = atom.matchStart;
    range.end = atom.matchEnd;
    setAtomOfRange(atom);
    advanceAtom(atom);
    return true;
  }
  while (liveCount > 0 && !isStopped) {
    const atom = atomAt(walked, 0);
    const start = <usize>atom.matchStart;
    const end = <usize>atom.matchEnd;
    countWork(ADVANCE_STEPS);
    advanceAtom(atom);
    sinkFirst(walked);
    if (start < range.end) continue;
    range.start = start;
    range.end = end;
    setAtomOfRange(atom);
    return true;
  }
  return false;
}

@inline
function setAtomOfRange(atom: Atom): void {
  range.isSymbol = isSymbolAtom(atom);
  range.atom = <u32>changetype<usize>(atom);
  range.slot = atom.slot;
}

/** Number of ranges that nextRange has not given yet, if they are those of one atom in content. */
export function countRest(): u32 {
  return countFromHere(atomAt(activeInContent, 0));
}

/**
 * Whether the match of `a` comes first: it starts first, or ends last among those; of equal ones
 * that of a symbol, then that of the atom which the query has first.
 */
function isBefore(a: Atom, b: Atom): bool {
  if (a.matchStart != b.matchStart) return a.matchStart < b.matchStart;
  if (a.matchEnd != b.matchEnd) return a.matchEnd > b.matchEnd;
  if (isSymbolAtom(a) != isSymbolAtom(b)) return isSymbolAtom(a);
  return changetype<usize>(a) < changetype<usize>(b);
}

function setAtom(list: AtomList, index: u32, atom: Atom): void {
  setNode(list.atoms, index, atom);
}

/**
 * Moves the atoms that have a match to the head of the list, as a heap whose first one comes first;
 * their number.
 */
function makeHeap(list: AtomList): u32 {
  let live: u32 = 0;
  for (let i: u32 = 0; i < list.count; i++) {
    const atom = atomAt(list, i);
    if (atom.matchStart == 0) continue;
    setAtom(list, i, atomAt(list, live));
    setAtom(list, live, atom);
    live++;
  }
  for (let i = live >> 1; i > 0; i--) sink(list, live, i - 1);
  return live;
}

/**
 * Restores the heap once its first atom has moved on; one that has no match any more goes behind
 * it.
 */
function sinkFirst(list: AtomList): void {
  const first = atomAt(list, 0);
  if (first.matchStart == 0) {
    liveCount--;
    setAtom(list, 0, atomAt(list, liveCount));
    setAtom(list, liveCount, first);
  }
  sink(list, liveCount, 0);
}

/** Moves an atom of the heap of `count` down to where it belongs. */
function sink(list: AtomList, count: u32, index: u32): void {
  for (;;) {
    let child: u32 = 2 * index + 1;
    if (child >= count) return;
    if (child + 1 < count && isBefore(atomAt(list, child + 1), atomAt(list, child))) child++;
    const atom = atomAt(list, index);
    const below = atomAt(list, child);
    if (!isBefore(below, atom)) return;
    setAtom(list, index, below);
    setAtom(list, child, atom);
    index = child;
  }
}
