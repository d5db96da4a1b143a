// The ranges of a doc that matched: the matches of its active atoms (evaluate.ts), merged in order
// of start, the longest first at equal start; a range that overlaps the one before is dropped.
// Content and path are walked separately. Allocates nothing per doc.

import { countWork, isStopped } from '../base/work.ts';
import { advanceAtom, countFromHere, startAtom } from './atoms.ts';
import { activeInContent, activeInPath, activeWords, Atom, atomAt, AtomList, setNode } from './node.ts';
import { ADVANCE_STEPS } from './runs.ts';
import { isSymbolAtom } from './symbol-atom.ts';

/** The last range of nextRange; addresses. */
@unmanaged
export class Range {
  start: usize;
  end: usize;
  isSymbol: bool; // it is part of the name of a symbol that the query searches
  atom: u32;
  slot: u32; // of that atom
}
export const range = changetype<Range>(memory.data(20, 4));
if (offsetof<Range>() > 20) ERROR('Range: size');

/**
 * The atoms being walked; if there are several, those with another match come first, as a heap
 * (isBefore).
 */
let walked: AtomList = activeInContent;
let liveCount: u32 = 0;

/** Begins the walk over the ranges in the content of the current doc. */
export function beginRanges(): void {
  beginWalk(activeInContent);
}

/**
 * Begins the walk over the ranges in its path: those of words, and without ranges in its content
 * (`isAlone`) those of filters too.
 */
export function beginPathRanges(isAlone: bool): void {
  const list = isAlone ? activeInPath : activeWords;
  // Their result was not computed by the cursor.
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

/** Moves to the next range; false at the end. */
export function nextRange(): bool {
  if (walked.count == 1) {
    // The usual case: one atom, whose matches never overlap.
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

/** Number of remaining ranges, if only one content atom is walked. */
export function countRest(): u32 {
  return countFromHere(atomAt(activeInContent, 0));
}

/**
 * Whether the match of `a` comes first: by smaller start, then larger end; of equal ones that of a
 * symbol, then that of the atom which is first in the query.
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

/** Moves the atoms with a match to the head of the list, as a heap; returns their number. */
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
 * Restores the heap after its first atom has advanced; an atom without further matches moves behind
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
