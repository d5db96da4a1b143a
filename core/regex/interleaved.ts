// Two interleaved forward scans of one text, for expressions without needles that match rarely and
// within a line: each waits for its own loads, so two take little longer than one. Reports only
// that a stretch has no match; otherwise dfa.ts finds it.
// Measured: 2026-11-21, X4 (DECISIONS.md): 1.9 times one scan; a third costs more than it gains.

import { contextBefore } from './closure.ts';
import { beginScan, Dfa, hasGivenUp, makeEntry, noteScanned, startRow } from './dfa-cache.ts';
import { endsMatch } from './dfa.ts';
import {
  ENTRY_HALT,
  ENTRY_MATCH,
  ENTRY_UNKNOWN,
  hasFlag,
  isFlagged,
  offsetAt,
  rowOf,
} from './entry.ts';
import { findByte } from '../scan/newlines.ts';

/** Bytes of a half: enough to pay for its start, few enough to read again where it has a match. */
const HALF_MIN: usize = 512;
const HALF_MAX: usize = 8192;
/** How far a line start is searched. Bound: a line of megabytes with many matches. */
const LINE_MAX: usize = 4 * HALF_MAX;
const NEWLINE: u8 = 10;

/** Outcomes of the scan of a half: no match ends in it; one does, or that is unknown. */
const NO_MATCH: u32 = 0;
const UNSURE: u32 = 1;

/** Whether a window of `size` bytes is worth skipWithoutMatch. */
@inline
export function isWorthInterleaving(size: usize): bool {
  return size >= HALF_MIN * 2;
}

/** A line start in [from, until] before which no match starts, as far as that is known fast. */
export function skipWithoutMatch(
  dfa: Dfa,
  textStart: usize,
  textEnd: usize,
  from: usize,
  until: usize,
): usize {
  beginScan(dfa);
  while (isWorthInterleaving(until - from)) {
    const half = min((until - from) >> 1, HALF_MAX);
    const middle = lineStart(from + half, until);
    if (middle == 0 || middle == until) return from;
    let end = lineStart(min(middle + half, until), until);
    if (end == 0) end = middle;
    scanHalves(dfa, textStart, textEnd, from, middle, end);
    if (firstOutcome == UNSURE) return from;
    if (secondOutcome == UNSURE) return middle;
    from = end;
  }
  return from;
}

/** The first line start from `ptr` on; `until` if there is none before it, 0 if none is near. */
function lineStart(ptr: usize, until: usize): usize {
  if (ptr >= until) return until;
  const reach = min(until, ptr + LINE_MAX);
  const start = findByte(ptr - 1, reach, NEWLINE) + 1;
  if (start <= reach) return start;
  return reach == until ? until : 0;
}

let firstOutcome: u32 = UNSURE;
let secondOutcome: u32 = UNSURE;

/** Reads [from, middle) and [middle, end) interleaved; sets firstOutcome and secondOutcome. */
function scanHalves(
  dfa: Dfa,
  textStart: usize,
  textEnd: usize,
  from: usize,
  middle: usize,
  end: usize,
): void {
  firstOutcome = UNSURE;
  secondOutcome = UNSURE;
  const clears = dfa.clearCount;
  let row = <u32>startRow(dfa, contextBefore(textStart, from));
  let row2 = <u32>startRow(dfa, contextBefore(textStart, middle));
  if (row == 0 || row2 == 0 || dfa.clearCount != clears) return;
  const classMap = <usize>dfa.classMap;
  const count = min(middle - from, end - middle);
  noteScanned(dfa, count << 1);
  for (let i: usize = 0; i < count; i++) {
    const offset = offsetAt(classMap, from + i);
    const offset2 = offsetAt(classMap, middle + i);
    let entry = load<u32>(<usize>row + offset);
    let entry2 = load<u32>(<usize>row2 + offset2);
    if (isFlagged(entry | entry2)) {
      if (entry == ENTRY_UNKNOWN) entry = makeEntry(dfa, row, offset);
      if (entry2 == ENTRY_UNKNOWN && dfa.clearCount == clears)
        entry2 = makeEntry(dfa, row2, offset2);
      // The rows no longer exist.
      if (dfa.clearCount != clears || hasGivenUp) return;
      if (isFlagged(entry | entry2)) {
        // One of them has a flag: each continues separately.
        finishHalves(dfa, textEnd, row, from + i, middle, row2, middle + i, end);
        return;
      }
    }
    row = entry;
    row2 = entry2;
  }
  finishHalves(dfa, textEnd, row, from + count, middle, row2, middle + count, end);
}

function finishHalves(
  dfa: Dfa,
  textEnd: usize,
  row: u32,
  ptr: usize,
  middle: usize,
  row2: u32,
  ptr2: usize,
  end: usize,
): void {
  const clears = dfa.clearCount;
  firstOutcome = finishHalf(dfa, textEnd, row, ptr, middle);
  if (firstOutcome != UNSURE && dfa.clearCount == clears)
    secondOutcome = finishHalf(dfa, textEnd, row2, ptr2, end);
}

/** Reads [ptr, end) from `row` on; returns whether a match ends at `end`. */
function finishHalf(dfa: Dfa, textEnd: usize, row: u32, ptr: usize, end: usize): u32 {
  const classMap = <usize>dfa.classMap;
  noteScanned(dfa, end - ptr);
  for (; ptr < end; ptr++) {
    const offset = offsetAt(classMap, ptr);
    let entry = load<u32>(<usize>row + offset);
    if (isFlagged(entry)) {
      if (entry == ENTRY_UNKNOWN) entry = makeEntry(dfa, row, offset);
      if (hasGivenUp || hasFlag(entry, ENTRY_MATCH)) return UNSURE;
      if (hasFlag(entry, ENTRY_HALT)) return NO_MATCH;
    }
    row = rowOf(entry);
  }
  const isMatch = endsMatch(dfa, row, end, textEnd);
  return isMatch || hasGivenUp ? UNSURE : NO_MATCH;
}
