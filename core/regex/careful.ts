// A slower forward scan that remembers where a look-ahead failed, so that all matches of a text
// together take linear time: `z(?:.*q)?` on a line of many z and no q reads the rest of the line
// behind each match. regex.ts switches to it when scanForward reads the same bytes again and again.
// One memory of positions serves all expressions, one text at a time.

import { Arena, arenaAlloc } from '../base/arena.ts';
import { beginScan, closedRow, Dfa, hasGivenUp, makeEntry, startRow } from './dfa-cache.ts';
import { contextBefore } from './closure.ts';
import { endsMatch, SCAN_GAVE_UP, setScanReach } from './dfa.ts';
import {
  ENTRY_DEAD,
  ENTRY_HALT,
  ENTRY_MATCH,
  ENTRY_UNKNOWN,
  hasFlag,
  offsetAt,
  rowOf,
} from './entry.ts';

/** Number of remembered positions: every 64th byte; in texts over 2 MiB every 128th and so on. */
const MEMO_SLOTS: usize = 1 << 15;
const STRIDE_SHIFT_MIN: u32 = 6;
const NONE: usize = 0xffffffff;

/** A u32 for each position: the state from which no further match comes; 0: unknown. */
let memo: usize = 0;
// The expression and text of the memory.
let memoDfa: usize = 0;
let memoText: usize = 0;
let memoClearCount: u32 = 0;
let strideShift: u32 = 0;

/** First position passed since the last match; the outcome ahead of it is still open. */
let firstPassed: usize = NONE;

/** Allocates the memory from the arena; false if it is full. */
export function carefulInit(arena: Arena): bool {
  memo = arenaAlloc(arena, MEMO_SLOTS * 4, 8);
  memoDfa = 0;
  return memo != 0;
}

export function clearMemo(): void {
  memoDfa = 0;
}

function beginText(dfa: Dfa, textStart: usize, textEnd: usize): void {
  const isSame =
    memoDfa == changetype<usize>(dfa) && memoText == textStart && memoClearCount == dfa.clearCount;
  if (isSame) return;
  memoDfa = changetype<usize>(dfa);
  memoText = textStart;
  strideShift = STRIDE_SHIFT_MIN;
  while ((textEnd - textStart) >> strideShift >= MEMO_SLOTS) strideShift++;
  forgetRows(dfa);
}

/** Forgets all positions: the cache has dropped the rows that they name. */
function forgetRows(dfa: Dfa): void {
  memoClearCount = dfa.clearCount;
  memory.fill(memo, 0, MEMO_SLOTS * 4);
  firstPassed = NONE;
}

/** Forgets the passed positions up to `slot`: a match was found ahead of them. */
function forgetPassed(slot: usize): void {
  if (firstPassed == NONE) return;
  memory.fill(memo + (firstPassed << 2), 0, (slot + 1 - firstPassed) << 2);
  firstPassed = NONE;
}

/** As scanForward (dfa.ts), without needles and always to the preferred end. */
export function scanCarefully(
  dfa: Dfa,
  textStart: usize,
  textEnd: usize,
  from: usize,
  until: usize,
  limit: usize,
): usize {
  beginScan(dfa);
  beginText(dfa, textStart, textEnd);
  firstPassed = NONE;
  const classMap = <usize>dfa.classMap;
  const strideMask = (<usize>1 << strideShift) - 1;
  let row = <u32>startRow(dfa, contextBefore(textStart, from));
  if (row == 0) return SCAN_GAVE_UP;
  let ptr = from;
  let stop = until;
  let matchEnd: usize = 0;
  for (;;) {
    if (ptr == stop) {
      if (stop == limit) {
        setScanReach(ptr);
        if (!endsMatch(dfa, row, limit, textEnd)) return hasGivenUp ? SCAN_GAVE_UP : matchEnd;
        forgetPassed((limit - textStart) >> strideShift);
        return limit;
      }
      row = <u32>closedRow(dfa, row);
      if (row == ENTRY_DEAD) return matchEnd;
      if (row == 0) return SCAN_GAVE_UP;
      stop = limit;
      continue;
    }
    const offset = offsetAt(classMap, ptr);
    let entry = load<u32>(<usize>row + offset);
    if (entry == ENTRY_UNKNOWN) {
      entry = makeEntry(dfa, row, offset);
      if (hasGivenUp) return SCAN_GAVE_UP;
      if (dfa.clearCount != memoClearCount) forgetRows(dfa);
    }
    ptr++;
    if (hasFlag(entry, ENTRY_MATCH)) {
      forgetPassed((ptr - textStart) >> strideShift);
      matchEnd = ptr - 1;
    }
    if (hasFlag(entry, ENTRY_HALT)) break;
    row = rowOf(entry);
    if (matchEnd == 0 || ((ptr - textStart) & strideMask) != 0) continue;
    const slot = (ptr - textStart) >> strideShift;
    if (load<u32>(memo + (slot << 2)) == row) break;
    store<u32>(memo + (slot << 2), row);
    if (firstPassed == NONE) firstPassed = slot;
  }
  setScanReach(ptr);
  return matchEnd;
}
