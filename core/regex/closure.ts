// The closure of a state: follows choices, and assertions that hold, in order of preference, down
// to leaves: BYTES states, and assertions that depend on a neighbour not yet read. Both engines use
// this walk, so they cannot differ. It visits a state once, so loops without a byte end. A search
// within a call (program.ts) is itself a leaf; in well-formed text each call holds at most two.

import {
  ASSERT_LINE_END,
  ASSERT_LINE_START,
  ASSERT_TEXT_END,
  ASSERT_TEXT_START,
  ASSERT_WORD_BORDER,
  STATE_ASSERT,
  STATE_BYTES,
  STATE_CALL,
  STATE_CHOICE,
  STATE_MATCH,
} from '../shared/program.ts';
import { Arena, arenaAlloc } from '../base/arena.ts';
import { countWork } from '../base/work.ts';
import { isWordByte } from '../text/words.ts';
import {
  alternativeTarget,
  Automaton,
  isInCall,
  leafInCall,
  stateCount,
  stateFirst,
  stateKind,
} from './program.ts';

// The neighbour of a position, as far as assertions distinguish it.
export const CONTEXT_EDGE: u32 = 0;
export const CONTEXT_NEWLINE: u32 = 1;
export const CONTEXT_WORD: u32 = 2;
export const CONTEXT_OTHER: u32 = 3;
/** Not read yet. */
export const CONTEXT_UNKNOWN: u32 = 4;
export const CONTEXT_COUNT: u32 = 4;

const OUTCOME_NO: u32 = 0;
const OUTCOME_YES: u32 = 1;
const OUTCOME_PENDING: u32 = 2;

/** Working memory of the engines of one expression; its content is lost between calls. */
@unmanaged
export class Work {
  marks: u32; // address of u32 a state: the last walk that visited it
  walk: u32; // number of the current walk
  stack: u32; // address of u32s: states still to visit
  list: u32; // address of the list of leaves being filled, u32s
  count: u32; // leaves in it
  calledCountMax: u32; // a list of this size takes no more leaves within calls
  // Addresses of three lists, with room for every state and one more, and leaves within calls:
  listA: u32;
  listB: u32;
  roots: u32;
  startsA: u32; // addresses of u32s beside them: start of the thread of a leaf
  startsB: u32;
  matchState: u32; // the MATCH state at which walkFrom stopped
}
const WORK_SIZE: usize = 48;
if (offsetof<Work>() != WORK_SIZE) ERROR('Work: size');

/** Allocates working memory for automata of up to these sizes, null if the arena is full. */
export function makeWork(
  arena: Arena,
  stateCount: u32,
  alternativeCount: u32,
  callCount: u32,
): Work | null {
  const stateCapacity = <usize>stateCount + 1;
  const stackSize = (<usize>alternativeCount + stateCapacity) * 4;
  // Why twice: an incorrect program may fill a list with leaves within calls before its states
  // come.
  const calledCountMax = callCount == 0 ? <usize>0 : stateCapacity + 2 * <usize>callCount;
  const listSize = (stateCapacity + calledCountMax) * 4;
  const size = WORK_SIZE + stateCapacity * 4 + stackSize + 5 * listSize;
  const ptr = arenaAlloc(arena, size, 8);
  if (ptr == 0) return null;
  const work = changetype<Work>(ptr);
  work.marks = <u32>(ptr + WORK_SIZE);
  work.stack = work.marks + <u32>(stateCapacity * 4);
  work.startsA = work.stack + <u32>stackSize;
  work.startsB = work.startsA + <u32>listSize;
  work.listA = work.startsB + <u32>listSize;
  work.listB = work.listA + <u32>listSize;
  work.roots = work.listB + <u32>listSize;
  work.calledCountMax = <u32>calledCountMax;
  work.walk = 0;
  memory.fill(work.marks, 0, stateCapacity * 4);
  return work;
}

@inline
export function contextOf(byte: u32): u32 {
  if (isWordByte(byte)) return CONTEXT_WORD;
  return byte == 10 ? CONTEXT_NEWLINE : CONTEXT_OTHER;
}

@inline
export function contextBefore(textStart: usize, ptr: usize): u32 {
  return ptr == textStart ? CONTEXT_EDGE : contextOf(<u32>load<u8>(ptr - 1));
}

@inline
export function contextAfter(textEnd: usize, ptr: usize): u32 {
  return ptr == textEnd ? CONTEXT_EDGE : contextOf(<u32>load<u8>(ptr));
}

/** Whether `assertion` (ASSERT_*) holds between two contexts, of which one may be unknown. */
function outcomeOf(assertion: u32, before: u32, after: u32): u32 {
  if (assertion == ASSERT_LINE_START || assertion == ASSERT_TEXT_START) {
    return edgeOutcome(before, assertion == ASSERT_LINE_START);
  }
  if (assertion == ASSERT_LINE_END || assertion == ASSERT_TEXT_END) {
    return edgeOutcome(after, assertion == ASSERT_LINE_END);
  }
  if (before == CONTEXT_UNKNOWN || after == CONTEXT_UNKNOWN) return OUTCOME_PENDING;
  const isBorder = (before == CONTEXT_WORD) != (after == CONTEXT_WORD);
  return isBorder == (assertion == ASSERT_WORD_BORDER) ? OUTCOME_YES : OUTCOME_NO;
}

@inline
function edgeOutcome(context: u32, isLine: bool): u32 {
  if (context == CONTEXT_UNKNOWN) return OUTCOME_PENDING;
  const isTrue = context == CONTEXT_EDGE || (isLine && context == CONTEXT_NEWLINE);
  return isTrue ? OUTCOME_YES : OUTCOME_NO;
}

/** Begins a walk that adds its leaves to the list at `list`. */
export function beginWalk(work: Work, list: usize): void {
  work.list = <u32>list;
  work.count = 0;
  work.walk++;
}

/** Begins a walk that cannot confuse its marks with those of earlier ones. Called once a scan. */
export function renewWalks(automaton: Automaton, work: Work): void {
  // Why: the number of a walk would wrap after 2^32 walks.
  if (work.walk < 0x80000000) return;
  memory.fill(work.marks, 0, <usize>automaton.stateCount * 4);
  work.walk = 0;
}

export const LEAF_SHIFT: u32 = 2;

@inline
export function leafAt(list: usize, index: u32): u32 {
  return load<u32>(list + (<usize>index << LEAF_SHIFT));
}

@inline
export function addLeaf(work: Work, leaf: u32): void {
  store<u32>(<usize>work.list + (<usize>work.count << LEAF_SHIFT), leaf);
  work.count++;
}

/** As addLeaf, for a leaf within a call; drops one that only an incorrect program can have. */
@inline
export function addLeafInCall(work: Work, leaf: u32): void {
  if (work.count < work.calledCountMax) addLeaf(work, leaf);
}

@inline
export function addTarget(work: Work, target: u32): void {
  if (isInCall(target)) addLeafInCall(work, target);
  else if (visit(work, target)) addLeaf(work, target);
}

/** Marks `state` as visited by the current walk; false if it was visited before. */
@inline
export function visit(work: Work, state: u32): bool {
  const mark = <usize>work.marks + (<usize>state << 2);
  if (load<u32>(mark) == work.walk) return false;
  store<u32>(mark, work.walk);
  return true;
}

/**
 * Adds the leaves below `root` that the current walk has not visited. Stops at a MATCH state and
 * returns true; `isLongest` (reverse automata) adds the MATCH and continues. Counts its steps.
 */
export function walkFrom(
  automaton: Automaton,
  work: Work,
  root: u32,
  before: u32,
  after: u32,
  isLongest: bool,
): bool {
  if (isInCall(root)) {
    addLeafInCall(work, root);
    return false;
  }
  const bottom = <usize>work.stack;
  let top = bottom;
  let stepCount: u32 = 0;
  let isMatch = false;
  store<u32>(top, root);
  top += 4;
  while (top > bottom) {
    top -= 4;
    stepCount++;
    const state = load<u32>(top);
    if (!visit(work, state)) continue;
    const kind = stateKind(automaton, state);
    if (kind == STATE_BYTES) {
      addLeaf(work, state);
    } else if (kind == STATE_CHOICE) {
      top = pushAlternatives(automaton, state, top);
    } else if (kind == STATE_ASSERT) {
      const outcome = outcomeOf(stateCount(automaton, state), before, after);
      if (outcome == OUTCOME_PENDING) addLeaf(work, state);
      if (outcome != OUTCOME_YES) continue;
      store<u32>(top, stateFirst(automaton, state));
      top += 4;
    } else if (kind == STATE_CALL) {
      addLeafInCall(work, leafInCall(stateCount(automaton, state), stateFirst(automaton, state)));
    } else if (kind == STATE_MATCH) {
      if (!isLongest) {
        work.matchState = state;
        isMatch = true;
        break;
      }
      addLeaf(work, state);
    }
  }
  countWork(stepCount);
  return isMatch;
}

/** Pushes the alternatives of a choice, the most preferred last; returns the stack's new top. */
function pushAlternatives(automaton: Automaton, state: u32, top: usize): usize {
  const first = stateFirst(automaton, state);
  let index = first + stateCount(automaton, state);
  while (index > first) {
    index--;
    store<u32>(top, alternativeTarget(automaton, index));
    top += 4;
  }
  return top;
}
