// A slower forward scan that remembers where a look-ahead failed (memo.ts). regex.ts switches to it
// when scanForward reads the same bytes again and again.

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
import { beginMemo, isBarren, isRemembered, noteMatchAhead, renewMemo } from './memo.ts';

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
  beginMemo(changetype<usize>(dfa), dfa.clearCount, textStart, textEnd);
  const classMap = <usize>dfa.classMap;
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
        noteMatchAhead(limit);
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
      renewMemo(dfa.clearCount);
    }
    ptr++;
    if (hasFlag(entry, ENTRY_MATCH)) {
      noteMatchAhead(ptr);
      matchEnd = ptr - 1;
    }
    if (hasFlag(entry, ENTRY_HALT)) break;
    row = rowOf(entry);
    if (matchEnd != 0 && isRemembered(ptr) && isBarren(ptr, row)) break;
  }
  setScanReach(ptr);
  return matchEnd;
}
