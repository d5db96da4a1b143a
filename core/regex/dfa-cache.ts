// The states of a lazy DFA: made on first use, in a cache that grows to a fixed size and is emptied
// when full.
// A state is an ordered list and the other data that the search depends on:
//   leaves      what can be read next (closure.ts), if no assertion on the way depends on the byte
//               ahead;
//   roots       else (isPending): the states that the last byte led to, walked again once that byte
//               is read;
//   freshIndex  entries from here on belong to a start at this position: a match among them is
//               empty. The start itself is implied in a list of roots;
//   isClosed    no further starts (a match was seen, or the search is anchored);
//   context     the neighbour on the side already read; only for roots.
//
//   | header | row: an entry for each class of bytes, one for the end of the text | leaves |
//
// Leaves take 2 bytes each where the automaton has no calls, or less (leaf-list.ts). The address of
// the row names the state. An entry is the row that the byte leads to, with flags in the low bits
// (entry.ts). A match is noted on the entry *behind* its end, since assertions at its end look at
// that byte: ENTRY_MATCH means that a match ends before the byte just read (reverse: begins after
// it). Matches delayed by one byte are an idea of RE2 and regex-automata.

import { STATE_ASSERT, STATE_MATCH } from '../shared/program.ts';
import { Arena, arenaAlloc } from '../base/arena.ts';
import { countWork, isStopped } from '../base/work.ts';
import { classifyBytes } from './byte-classes.ts';
import {
  addLeaf,
  addTarget,
  beginWalk,
  CONTEXT_COUNT,
  CONTEXT_EDGE,
  CONTEXT_NEWLINE,
  CONTEXT_OTHER,
  CONTEXT_UNKNOWN,
  contextOf,
  LEAF_SHIFT,
  leafAt,
  renewWalks,
  walkFrom,
  Work,
} from './closure.ts';
import {
  countRuns,
  equalLeaves,
  leavesSize,
  loadLeaves,
  PLAIN_LEAF_SHIFT,
  storeLeaves,
} from './leaf-list.ts';
import { Automaton, leafKind, NO_STATE, stepLeaf } from './program.ts';
import { ENTRY_DEAD, ENTRY_MATCH, ENTRY_UNKNOWN } from './entry.ts';

/**
 * The cache is useful if it serves at least this many bytes for each state before it is full ...
 */
const BYTES_PER_STATE_MIN: u32 = 10;
/** ... and after this many useless fillings in a row the DFA gives up. */
const POOR_CLEARS_MAX: u32 = 3;
const STATE_RESERVE: usize = 64; // Guess: bytes of cache for each slot of the hash table
/**
 * A cache begins with this part of its size, and is doubled while states do not fit.
 * Why not all of it at once: the table is cleared for each expression.
 */
const GROWTH_SHIFT: u32 = 2;
const CLASS_MAP_SIZE: usize = 512;

/** A lazy DFA: one automaton and its cache. */
@unmanaged
export class Dfa {
  automaton: Automaton;
  work: Work;
  classMap: u32; // address of 256 u16: byte -> offset of its entry in a row
  samples: u32; // address of a byte of each class
  endOffset: u32; // offset of the entry for the end of the text
  rowSize: u32; // bytes of a row, a multiple of 8
  cacheStart: u32;
  cacheEnd: u32; // of the part in use so far
  cacheLimit: u32; // of all of it
  cacheNext: u32;
  table: u32; // address of the hash table: u32 rows, 0: free
  tableMask: u32; // its number of slots minus one
  stateCount: u32;
  startRows: u32; // address of a u32 for each context: the row of a start there; 0: not made
  poorClearCount: u32; // consecutive
  clearCount: u32; // since the cache was made
  scannedSize: u32; // bytes read since the last clearing
  hasLateStarts: u32; // 1: a match may start elsewhere than at the start of the text
  startFlag: u32; // ENTRY_START if scans should stop at states without threads, else 0
  leafShift: u32; // a leaf takes 1 << leafShift bytes of the cache
}
export const DFA_SIZE: usize = 80;
if (offsetof<Dfa>() != DFA_SIZE) ERROR('Dfa: size');

@unmanaged
class StateHead {
  hash: u32;
  count: u32; // entries of the list
  freshIndex: u32;
  kind: u16; // KIND_*, and the context from KIND_CONTEXT_SHIFT on
  runCount: u16; // runs that the list is kept as; 0: it is kept as it is
}
const KIND_PENDING: u32 = 1;
const KIND_CLOSED: u32 = 2;
const KIND_CONTEXT_SHIFT: u32 = 2;
const HEAD_SIZE: usize = 16;
if (offsetof<StateHead>() != HEAD_SIZE) ERROR('StateHead: size');

@inline
function headOf(row: usize): StateHead {
  return changetype<StateHead>(row - HEAD_SIZE);
}

@inline
function listOf(dfa: Dfa, row: usize): usize {
  return row + dfa.rowSize;
}

/** Copies the first `count` leaves of `row` to the list at `list`. */
function copyLeaves(dfa: Dfa, row: usize, count: u32, list: usize): void {
  loadLeaves(listOf(dfa, row), dfa.leafShift, headOf(row).runCount, list, count);
}

/** As copyLeaves; the list becomes the current one. */
function takeLeaves(dfa: Dfa, row: usize, count: u32, list: usize): void {
  dfa.work.list = <u32>list;
  dfa.work.count = count;
  copyLeaves(dfa, row, count, list);
}

/**
 * Null if the arena is full. `startFlag`: ENTRY_START if scans should stop at states without
 * threads, else 0.
 */
export function makeDfa(
  arena: Arena,
  automaton: Automaton,
  work: Work,
  cacheSize: usize,
  startFlag: u32,
): Dfa | null {
  const ptr = arenaAlloc(arena, DFA_SIZE + CONTEXT_COUNT * 4 + CLASS_MAP_SIZE + 256, 8);
  if (ptr == 0) return null;
  const dfa = changetype<Dfa>(ptr);
  dfa.automaton = automaton;
  dfa.work = work;
  dfa.startRows = <u32>(ptr + DFA_SIZE);
  dfa.classMap = dfa.startRows + CONTEXT_COUNT * 4;
  dfa.samples = dfa.classMap + <u32>CLASS_MAP_SIZE;
  mapClasses(dfa);
  const beginSize = (cacheSize >> GROWTH_SHIFT) & ~(<usize>7);
  cacheSize = beginSize << GROWTH_SHIFT;
  let slots: u32 = 16;
  while (<usize>slots * STATE_RESERVE < beginSize) slots <<= 1;
  const table = arenaAlloc(arena, (<usize>slots << GROWTH_SHIFT) * 4, 8);
  const cache = arenaAlloc(arena, cacheSize, 8);
  if (table == 0 || cache == 0) return null;
  dfa.table = <u32>table;
  dfa.tableMask = slots - 1;
  dfa.cacheStart = <u32>cache;
  dfa.cacheEnd = <u32>(cache + beginSize);
  dfa.cacheLimit = <u32>(cache + cacheSize);
  dfa.startFlag = startFlag;
  dfa.leafShift = automaton.callCount == 0 ? PLAIN_LEAF_SHIFT : LEAF_SHIFT;
  dfa.poorClearCount = 0;
  dfa.clearCount = 0;
  emptyCache(dfa);
  dfa.hasLateStarts = hasLateStarts(dfa) ? 1 : 0;
  return dfa;
}

function mapClasses(dfa: Dfa): void {
  const classes = <usize>dfa.classMap + 256; // read below before it is overwritten
  const count = classifyBytes(dfa.automaton, classes, dfa.samples);
  for (let byte: u32 = 0; byte < 256; byte++) {
    store<u16>(<usize>dfa.classMap + (<usize>byte << 1), <u16>(<u32>load<u8>(classes + byte) << 2));
  }
  dfa.endOffset = count << 2;
  dfa.rowSize = (dfa.endOffset + 4 + 7) & ~7;
}

/** Whether a start other than at the start of the text can have a thread. */
function hasLateStarts(dfa: Dfa): bool {
  const work = dfa.work;
  for (let context = CONTEXT_NEWLINE; context < CONTEXT_COUNT; context++) {
    beginWalk(work, work.listA);
    walkFrom(dfa.automaton, work, dfa.automaton.start, context, CONTEXT_UNKNOWN, false);
    if (work.count > 0) return true;
  }
  return false;
}

function emptyCache(dfa: Dfa): void {
  memory.fill(dfa.table, 0, (<usize>dfa.tableMask + 1) << 2);
  memory.fill(dfa.startRows, 0, CONTEXT_COUNT * 4);
  dfa.cacheNext = dfa.cacheStart;
  dfa.stateCount = 0;
  dfa.scannedSize = 0;
}

/** Whether the DFA gives up on this text: a state could not be made, or the host stopped the work. */
export let hasGivenUp: bool = false;

/** Lets scans continue at states without threads, without ENTRY_START. Drops all states. */
export function dropStartFlags(dfa: Dfa): void {
  if (dfa.startFlag == 0) return;
  dfa.startFlag = 0;
  emptyCache(dfa);
}

/** Begins a scan: resets hasGivenUp. */
export function beginScan(dfa: Dfa): void {
  hasGivenUp = false;
  renewWalks(dfa.automaton, dfa.work);
}

@inline
export function noteScanned(dfa: Dfa, size: usize): void {
  const sum = dfa.scannedSize + <u32>min<usize>(size, 0x3fffffff);
  dfa.scannedSize = min(sum, 0x3fffffff);
}

/** Clears the cache; false if recent clearings did not pay. */
function clearCache(dfa: Dfa): bool {
  const isPoor = dfa.scannedSize < dfa.stateCount * BYTES_PER_STATE_MIN;
  dfa.poorClearCount = isPoor ? dfa.poorClearCount + 1 : 0;
  dfa.clearCount++;
  emptyCache(dfa);
  return dfa.poorClearCount < POOR_CLEARS_MAX;
}

/** The row of the state with the current list. 0: hasGivenUp. The cache may have been cleared. */
function internState(
  dfa: Dfa,
  freshIndex: u32,
  isClosed: bool,
  isPending: bool,
  contextBehind: u32,
): usize {
  const work = dfa.work;
  const context = isPending ? contextBehind : CONTEXT_OTHER;
  const kind = (context << 2) | (<u32>isClosed << 1) | <u32>isPending;
  const hash = hashList(work, freshIndex | (kind << 16));
  let slot = hash & dfa.tableMask;
  for (;;) {
    const row = <usize>load<u32>(<usize>dfa.table + (<usize>slot << 2));
    if (row == 0) break;
    if (isState(dfa, row, hash, freshIndex, kind)) return row;
    slot = (slot + 1) & dfa.tableMask;
  }
  const runCount = countRuns(work.list, work.count);
  const size = stateSize(dfa, work.count, runCount);
  if (!makeRoom(dfa, size) && (!clearCache(dfa) || !makeRoom(dfa, size))) {
    hasGivenUp = true;
    return 0;
  }
  const row = <usize>dfa.cacheNext + HEAD_SIZE;
  dfa.cacheNext += <u32>size;
  dfa.stateCount++;
  addToTable(dfa, row, hash);
  const head = headOf(row);
  head.hash = hash;
  head.count = work.count;
  head.freshIndex = freshIndex;
  head.kind = <u16>kind;
  head.runCount = <u16>runCount;
  for (let i: usize = 0; i < dfa.rowSize; i += 4) store<u32>(row + i, ENTRY_UNKNOWN);
  storeLeaves(listOf(dfa, row), dfa.leafShift, runCount, work.list, work.count);
  return row;
}

@inline
function stateSize(dfa: Dfa, count: u32, runCount: u32): usize {
  return HEAD_SIZE + dfa.rowSize + leavesSize(dfa.leafShift, count, runCount);
}

/** Adds a state that the table does not have. */
function addToTable(dfa: Dfa, row: usize, hash: u32): void {
  let slot = hash & dfa.tableMask;
  while (load<u32>(<usize>dfa.table + (<usize>slot << 2)) != 0) slot = (slot + 1) & dfa.tableMask;
  store<u32>(<usize>dfa.table + (<usize>slot << 2), <u32>row);
}

/** Whether one more state fits into the cache, and into the table at three quarters of load. */
function canFit(dfa: Dfa, size: usize): bool {
  const slots = dfa.tableMask + 1;
  return size <= <usize>(dfa.cacheEnd - dfa.cacheNext) && dfa.stateCount < slots - (slots >> 2);
}

/** Makes room for one more state without dropping any; false if there is none. */
function makeRoom(dfa: Dfa, size: usize): bool {
  while (!canFit(dfa, size)) {
    if (dfa.cacheEnd == dfa.cacheLimit) return false;
    growCache(dfa);
  }
  return true;
}

/** Doubles the part of the cache in use, and the table. States stay where they are. */
function growCache(dfa: Dfa): void {
  dfa.cacheEnd += dfa.cacheEnd - dfa.cacheStart;
  dfa.tableMask = (dfa.tableMask << 1) | 1;
  memory.fill(dfa.table, 0, (<usize>dfa.tableMask + 1) << 2);
  for (let ptr = <usize>dfa.cacheStart; ptr < <usize>dfa.cacheNext; ) {
    const row = ptr + HEAD_SIZE;
    const head = headOf(row);
    addToTable(dfa, row, head.hash);
    ptr += stateSize(dfa, head.count, head.runCount);
  }
}

function hasAssertion(automaton: Automaton, work: Work): bool {
  if (automaton.hasAsserts == 0) return false;
  for (let i: u32 = 0; i < work.count; i++) {
    if (leafKind(automaton, leafAt(work.list, i)) == STATE_ASSERT) return true;
  }
  return false;
}

function hashList(work: Work, seed: u32): u32 {
  let hash: u32 = seed * 0x9e3779b1;
  for (let i: u32 = 0; i < work.count; i++) {
    hash = rotl<u32>(hash ^ leafAt(work.list, i), 13) * 0x85ebca6b;
  }
  return hash ^ (hash >> 15);
}

function isState(dfa: Dfa, row: usize, hash: u32, freshIndex: u32, kind: u32): bool {
  const head = headOf(row);
  const work = dfa.work;
  if (head.hash != hash || head.count != work.count) return false;
  if (head.freshIndex != freshIndex || <u32>head.kind != kind) return false;
  return equalLeaves(listOf(dfa, row), dfa.leafShift, head.runCount, work.list, work.count);
}

/** The row of a search that starts with `context` on the side already read; 0: hasGivenUp. */
export function startRow(dfa: Dfa, context: u32): usize {
  const automaton = dfa.automaton;
  if (automaton.hasAsserts == 0) context = CONTEXT_OTHER;
  const slot = <usize>dfa.startRows + (<usize>context << 2);
  const cached = <usize>load<u32>(slot);
  if (cached != 0) return cached;
  const work = dfa.work;
  work.list = work.roots;
  work.count = 0;
  const isReverse = automaton.isReverse != 0;
  if (isReverse) addLeaf(work, automaton.start);
  const row = closeRoots(dfa, context, isReverse);
  if (row != 0) store<u32>(slot, <u32>row);
  return row;
}

/**
 * The state of `row` without the threads that start here, and without further starts; ENTRY_DEAD if
 * none remains.
 */
export function closedRow(dfa: Dfa, row: usize): usize {
  const head = headOf(row);
  if ((head.kind & KIND_CLOSED) != 0) return row;
  const count = head.freshIndex;
  if (count == 0) return ENTRY_DEAD;
  takeLeaves(dfa, row, count, dfa.work.listB);
  return internState(
    dfa,
    count,
    true,
    (head.kind & KIND_PENDING) != 0,
    <u32>head.kind >> KIND_CONTEXT_SHIFT,
  );
}

/**
 * The entry of `row` at `offset`, created and stored. ENTRY_DEAD if the cache could not hold the
 * state, or isStopped: hasGivenUp. Other rows are invalid after this if clearCount has changed.
 */
export function makeEntry(dfa: Dfa, row: usize, offset: u32): u32 {
  if (isStopped) {
    hasGivenUp = true;
    return ENTRY_DEAD;
  }
  const isEnd = offset == dfa.endOffset;
  const byte = isEnd ? 0 : <u32>load<u8>(dfa.samples + (offset >> 2));
  const clears = dfa.clearCount;
  const isMatch = resolveLeaves(dfa, row, isEnd ? CONTEXT_EDGE : contextOf(byte));
  const matchFlag = isMatch ? ENTRY_MATCH : 0;
  const wasClosed = (headOf(row).kind & KIND_CLOSED) != 0;
  const isClosed = wasClosed || (isMatch && dfa.automaton.isReverse == 0);
  const entry = isEnd ? ENTRY_DEAD : stepLeaves(dfa, byte, isClosed);
  if (hasGivenUp) return ENTRY_DEAD;
  if (dfa.clearCount == clears) store<u32>(row + offset, entry | matchFlag);
  return entry | matchFlag;
}

/**
 * Lists in listA the leaves of `row` that read bytes, with the context ahead known; true if a match
 * ends here. A match among threads that have read something cuts all behind it, one among those
 * that start here only the rest of those.
 */
function resolveLeaves(dfa: Dfa, row: usize, ahead: u32): bool {
  const work = dfa.work;
  const head = headOf(row);
  beginWalk(work, work.listA);
  if ((head.kind & KIND_PENDING) != 0) return resolveRoots(dfa, row, ahead);
  takeLeaves(dfa, row, head.count, work.listA);
  return dropMatches(dfa.automaton, work);
}

function resolveRoots(dfa: Dfa, row: usize, ahead: u32): bool {
  const automaton = dfa.automaton;
  const work = dfa.work;
  const head = headOf(row);
  const behind = <u32>head.kind >> KIND_CONTEXT_SHIFT;
  const isReverse = automaton.isReverse != 0;
  const before = isReverse ? ahead : behind;
  const after = isReverse ? behind : ahead;
  const roots = <usize>work.roots;
  copyLeaves(dfa, row, head.count, roots);
  for (let i: u32 = 0; i < head.count; i++) {
    if (walkFrom(automaton, work, leafAt(roots, i), before, after, isReverse)) return true;
  }
  if (isReverse) return dropMatches(automaton, work);
  if ((head.kind & KIND_CLOSED) == 0)
    walkFrom(automaton, work, automaton.start, before, after, false);
  return false;
}

function dropMatches(automaton: Automaton, work: Work): bool {
  const count = work.count;
  work.count = 0;
  for (let i: u32 = 0; i < count; i++) {
    const leaf = leafAt(work.list, i);
    if (leafKind(automaton, leaf) != STATE_MATCH) addLeaf(work, leaf);
  }
  return work.count < count;
}

/** The entry for the state that the leaves in listA reach by reading `byte`. */
function stepLeaves(dfa: Dfa, byte: u32, isClosed: bool): u32 {
  const automaton = dfa.automaton;
  const work = dfa.work;
  const leafCount = work.count;
  const leaves = <usize>work.listA;
  countWork(leafCount);
  beginWalk(work, work.roots);
  for (let i: u32 = 0; i < leafCount; i++) {
    const target = stepLeaf(automaton, leafAt(leaves, i), byte);
    if (target != NO_STATE) addTarget(work, target);
  }
  const hasNoStarts = isClosed || dfa.hasLateStarts == 0;
  if (work.count == 0 && hasNoStarts) return ENTRY_DEAD;
  const isStart = work.count == 0;
  const context = automaton.hasAsserts != 0 ? contextOf(byte) : CONTEXT_OTHER;
  return <u32>closeRoots(dfa, context, hasNoStarts) | (isStart ? dfa.startFlag : 0);
}

/** The row of the state whose roots are the current list; 0: hasGivenUp. */
function closeRoots(dfa: Dfa, behind: u32, isClosed: bool): usize {
  const automaton = dfa.automaton;
  const work = dfa.work;
  const isReverse = automaton.isReverse != 0;
  const before = isReverse ? CONTEXT_UNKNOWN : behind;
  const after = isReverse ? behind : CONTEXT_UNKNOWN;
  const roots = <usize>work.roots;
  let rootCount = work.count;
  let isCut = false;
  beginWalk(work, work.listB);
  for (let i: u32 = 0; i < rootCount; i++) {
    isCut = walkFrom(automaton, work, leafAt(roots, i), before, after, isReverse);
    if (isCut) rootCount = i + 1;
  }
  if (isCut) addLeaf(work, work.matchState);
  const freshIndex = work.count;
  if (!isClosed && !isCut) walkFrom(automaton, work, automaton.start, before, after, false);
  if (!hasAssertion(automaton, work))
    return internState(dfa, freshIndex, isClosed, false, behind);
  work.list = <u32>roots;
  work.count = rootCount;
  return internState(dfa, rootCount, isClosed, true, behind);
}
