// Scans text with a lazy DFA (dfa-cache.ts): forward for the end of the leftmost match that the
// expression prefers, backward from that end for its start. The inner loop costs two loads a byte;
// every other case is a flag of the entry. While no thread is alive, the forward scan jumps to the
// next needle.

import {
  beginScan,
  closedRow,
  Dfa,
  hasGivenUp,
  makeEntry,
  noteScanned,
  startRow,
} from './dfa-cache.ts';
import {
  ENTRY_DEAD,
  ENTRY_HALT,
  ENTRY_MATCH,
  ENTRY_START,
  ENTRY_UNKNOWN,
  entryAt,
  hasFlag,
  isFlagged,
  isMatchOnly,
  NO_ROW,
  offsetAt,
  rowOf,
} from './entry.ts';
import { contextAfter, contextBefore } from './closure.ts';
import { findNeedles, Needles, noteSkipped } from './needles.ts';

/** Returned by scanForward and scanReverse if the DFA gave up; the scan has no result. */
export const SCAN_GAVE_UP: usize = 0xffffffff;

/** End of what the last completed forward scan read, or less within its window. */
export let scanReach: usize = 0;
export function setScanReach(reach: usize): void {
  scanReach = reach;
}

/**
 * End of the next non-empty match that starts in [from, until) and ends by `limit`; 0: none;
 * SCAN_GAVE_UP if the cache was useless.
 * @param limit       in [until, textEnd]; one byte after it is read
 * @param needles     every match begins with one of them; null: not used
 * @param isEarliest  any match will do: the scan ends at the first one
 */
export function scanForward(
  dfa: Dfa,
  textStart: usize,
  textEnd: usize,
  from: usize,
  until: usize,
  limit: usize,
  needles: Needles | null,
  isEarliest: bool,
): usize {
  beginScan(dfa);
  scanReach = from;
  seenEnd = 0;
  if (needles !== null) {
    from = nextStart(needles, from, until, limit);
    if (from >= until) return 0;
  }
  let row = <u32>startRow(dfa, contextBefore(textStart, from));
  if (row == 0) return SCAN_GAVE_UP;
  for (let stop = until; ; stop = limit) {
    row = readTo(dfa, row, textStart, from, stop, limit, needles, isEarliest);
    if (row == 0) return SCAN_GAVE_UP;
    if (row != NO_ROW && stop != limit) {
      row = <u32>closedRow(dfa, row);
      if (row == ENTRY_DEAD) return seenEnd;
      if (row == 0) return SCAN_GAVE_UP;
      from = stop;
      continue;
    }
    scanReach = readEnd;
    if (row == NO_ROW || !endsMatch(dfa, row, limit, textEnd))
      return hasGivenUp ? SCAN_GAVE_UP : seenEnd;
    return limit;
  }
}

/** End of the last match of the current forward scan; 0: none. */
let seenEnd: usize = 0;
/** End of what it has read. */
let readEnd: usize = 0;

/**
 * Reads [from, stop) from the state `row` on. Returns the row at `stop`, NO_ROW, or 0: hasGivenUp.
 * Sets readEnd and, on a match, seenEnd.
 */
@inline
function readTo(
  dfa: Dfa,
  row: u32,
  textStart: usize,
  from: usize,
  stop: usize,
  limit: usize,
  needles: Needles | null,
  isEarliest: bool,
): u32 {
  const classMap = <usize>dfa.classMap;
  let ptr = from;
  let noted = from; // bytes before it are counted as scanned
  let matchEnd = seenEnd;
  for (;;) {
    let entry: u32 = 0;
    while (stop - ptr >= 4) {
      entry = entryAt(row, classMap, ptr++);
      if (isFlagged(entry)) break;
      row = entry;
      entry = entryAt(row, classMap, ptr++);
      if (isFlagged(entry)) break;
      row = entry;
      entry = entryAt(row, classMap, ptr++);
      if (isFlagged(entry)) break;
      row = entry;
      entry = entryAt(row, classMap, ptr++);
      if (isFlagged(entry)) break;
      row = entry;
    }
    if (!isFlagged(entry)) {
      if (ptr == stop) break;
      entry = entryAt(row, classMap, ptr++);
    }
    // Why: in a run like \w+ every byte extends the match; the loop above would stop at each.
    while (isMatchOnly(entry) && ptr < stop && !isEarliest) {
      matchEnd = ptr - 1;
      row = rowOf(entry);
      entry = entryAt(row, classMap, ptr++);
    }
    if (entry == ENTRY_UNKNOWN) {
      noteScanned(dfa, ptr - noted);
      noted = ptr;
      entry = makeEntry(dfa, row, offsetAt(classMap, ptr - 1));
      if (hasGivenUp) return 0;
    }
    row = rowOf(entry);
    if (hasFlag(entry, ENTRY_MATCH)) {
      matchEnd = ptr - 1;
      if (isEarliest) row = NO_ROW;
    }
    if (row == NO_ROW) break;
    if (!hasFlag(entry, ENTRY_START) || needles === null) continue;
    const start = skipTo(needles, ptr, stop, limit);
    if (start == ptr) continue;
    row = start < stop ? <u32>startRow(dfa, contextBefore(textStart, start)) : NO_ROW;
    if (row <= NO_ROW) break;
    ptr = start;
  }
  noteScanned(dfa, ptr - noted);
  readEnd = ptr;
  seenEnd = matchEnd;
  return row;
}

/** As nextStart, while no thread is alive: counts the skipped bytes. */
function skipTo(needles: Needles, ptr: usize, until: usize, limit: usize): usize {
  const start = nextStart(needles, ptr, until, limit);
  noteSkipped(needles, start - ptr);
  return start;
}

/** The first address in [ptr, until) where a match may start; `until` or more if there is none. */
function nextStart(needles: Needles, ptr: usize, until: usize, limit: usize): usize {
  // Why: a needle that starts before `until` ends after it by up to its size, or three times that
  // if folded.
  const reach = <usize>needles.sizeMax << 2;
  const end = limit - until > reach ? until + reach : limit;
  const found = findNeedles(needles, ptr, end);
  return found == end ? until : found;
}

/** Whether a match ends at `ptr`, with the forward scan in state `row`; may set hasGivenUp. */
export function endsMatch(dfa: Dfa, row: u32, ptr: usize, textEnd: usize): bool {
  const offset = ptr == textEnd ? dfa.endOffset : offsetAt(dfa.classMap, ptr);
  let entry = load<u32>(<usize>row + offset);
  if (entry == ENTRY_UNKNOWN) entry = makeEntry(dfa, row, offset);
  return hasFlag(entry, ENTRY_MATCH);
}

/**
 * Start of the longest match that ends at `end` and starts from `from` on; 0: none; SCAN_GAVE_UP if
 * the cache was useless.
 */
export function scanReverse(
  dfa: Dfa,
  textStart: usize,
  textEnd: usize,
  end: usize,
  from: usize,
): usize {
  beginScan(dfa);
  const classMap = <usize>dfa.classMap;
  let row = <u32>startRow(dfa, contextAfter(textEnd, end));
  if (row == 0) return SCAN_GAVE_UP;
  let matchStart: usize = 0;
  let ptr = end;
  let noted = end;
  for (;;) {
    const offset = ptr == textStart ? dfa.endOffset : offsetAt(classMap, ptr - 1);
    let entry = load<u32>(<usize>row + offset);
    if (entry == ENTRY_UNKNOWN) {
      noteScanned(dfa, noted - ptr);
      noted = ptr;
      entry = makeEntry(dfa, row, offset);
      if (hasGivenUp) return SCAN_GAVE_UP;
    }
    if (hasFlag(entry, ENTRY_MATCH)) matchStart = ptr;
    if (hasFlag(entry, ENTRY_HALT) || ptr == from) break;
    row = rowOf(entry);
    ptr--;
  }
  noteScanned(dfa, noted - ptr);
  return matchStart;
}
