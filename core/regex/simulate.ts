// Simulates the forward automaton: the reference semantics, and the fallback of the lazy DFA.
// A list of threads, each with the start of its match, is ordered by preference. A thread that
// matches ends all threads after it in the list; the last match recorded is the result
// (leftmost-first). An empty match is not recorded, but it ends the threads with the same start.
// Cost: bytes read times states, at worst. Bytes after a match that led to no longer match are not
// read again for the next one (memo.ts). With `isIllFormed` each bad byte is read as U+FFFD.

import { countWork, isStopped } from '../base/work.ts';
import { decodedSize, decodeUtf8 } from '../text/utf8.ts';
import {
  addLeaf,
  beginWalk,
  contextAfter,
  contextBefore,
  leafAt,
  renewWalks,
  walkFrom,
  Work,
} from './closure.ts';
import { beginMemo, isBarren, isRemembered, noteMatchAhead } from './memo.ts';
import { Automaton, NO_STATE, stepLeaf } from './program.ts';

/** U+FFFD in UTF-8, first byte lowest. */
const REPLACEMENT_BYTES: u32 = 0xbdbfef;

export let simulatedStart: usize = 0;
export let simulatedEnd: usize = 0;
export let simulatedReach: usize = 0;

let threadCount: u32 = 0; // threads between two bytes: states in listB, starts in startsB
let hasMatched: bool = false;

/**
 * Finds the next non-empty match that starts in [from, until) and ends by `limit`; false after
 * isStopped (base/work.ts).
 * @param limit        in [until, textEnd]; one byte after it is read
 * @param isIllFormed  the text may contain bad bytes
 */
export function simulate(
  automaton: Automaton,
  work: Work,
  textStart: usize,
  textEnd: usize,
  from: usize,
  until: usize,
  limit: usize,
  isIllFormed: bool,
): bool {
  renewWalks(automaton, work);
  beginMemo(changetype<usize>(automaton), 0, textStart, textEnd);
  threadCount = 0;
  hasMatched = false;
  let ptr = from;
  let unitEnd = from; // end of the current well-formed sequence
  let replacing: u32 = 0; // remaining bytes of U+FFFD to read instead of a bad byte
  for (;;) {
    const before = contextBefore(textStart, ptr);
    const after = contextAfter(textEnd, ptr);
    closeThreads(automaton, work, ptr, before, after);
    if (!hasMatched && ptr < until && replacing == 0)
      startThread(automaton, work, ptr, before, after);
    if (ptr >= limit || (work.count == 0 && (hasMatched || ptr >= until)) || isStopped) break;
    let byte = <u32>load<u8>(ptr);
    if (isIllFormed && byte >= 0x80 && replacing == 0 && ptr >= unitEnd) {
      unitEnd = ptr + decodedSize(decodeUtf8(ptr, textEnd));
      if (unitEnd == ptr + 1) replacing = REPLACEMENT_BYTES;
    }
    if (replacing != 0) {
      byte = replacing & 0xff;
      replacing >>= 8;
    }
    stepThreads(automaton, work, byte);
    if (replacing != 0) continue;
    ptr++;
    if (hasMatched && isRemembered(ptr) && isBarren(ptr, threadsHash(work))) break;
  }
  simulatedReach = ptr;
  return hasMatched && !isStopped;
}

/** Turns the threads into leaves at `ptr`, and records the most preferred match that ends here. */
function closeThreads(automaton: Automaton, work: Work, ptr: usize, before: u32, after: u32): void {
  beginWalk(work, work.listA);
  for (let i: u32 = 0; i < threadCount; i++) {
    const first = work.count;
    const start = startAt(work.startsB, i);
    const isMatch = walkFrom(automaton, work, leafAt(work.listB, i), before, after, false);
    setStarts(work.startsA, first, work.count, start);
    if (!isMatch) continue;
    hasMatched = true;
    simulatedStart = start;
    simulatedEnd = ptr;
    noteMatchAhead(ptr);
    return;
  }
}

function startThread(automaton: Automaton, work: Work, ptr: usize, before: u32, after: u32): void {
  const first = work.count;
  walkFrom(automaton, work, automaton.start, before, after, false);
  setStarts(work.startsA, first, work.count, ptr);
}

function stepThreads(automaton: Automaton, work: Work, byte: u32): void {
  const count = work.count;
  const leaves = <usize>work.listA;
  countWork(count);
  work.list = work.listB;
  work.count = 0;
  for (let i: u32 = 0; i < count; i++) {
    const target = stepLeaf(automaton, leafAt(leaves, i), byte);
    if (target == NO_STATE) continue;
    store<u32>(<usize>work.startsB + (<usize>work.count << 2), <u32>startAt(work.startsA, i));
    addLeaf(work, target);
  }
  threadCount = work.count;
}

/** Hash of the ordered list of threads, never 0: of 63 bits, so that a collision is negligible. */
function threadsHash(work: Work): u64 {
  let hash: u64 = threadCount;
  for (let i: u32 = 0; i < threadCount; i++)
    hash = rotl<u64>(hash ^ leafAt(work.listB, i), 27) * 0x9e3779b97f4a7c15;
  return hash | 1;
}

@inline
function startAt(starts: usize, index: u32): usize {
  return load<u32>(starts + (<usize>index << 2));
}

function setStarts(starts: usize, first: u32, end: u32, start: usize): void {
  for (let i = first; i < end; i++) store<u32>(starts + (<usize>i << 2), <u32>start);
}
