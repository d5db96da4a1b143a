// The program of a regular expression, checked once, then read (layout: shared/program.ts). After
// checkProgram every index and range is valid, so the engines read without checks. The claims of
// flags and needles cannot be checked: a false one finds wrong matches, but never reads outside the
// text.

import {
  ALTERNATIVE_SIZE,
  ASSERT_LINE_START,
  ASSERT_NOT_WORD_BORDER,
  NEEDLE_ROW_SIZE,
  NEEDLE_RUN_COUNT_MAX,
  NEEDLE_RUN_COUNT_OFFSET,
  NEEDLE_RUN_SIZE,
  NEEDLES_INNER,
  NEEDLES_NONE,
  NEEDLES_RUN,
  PROGRAM_ALTERNATIVE_COUNT_OFFSET,
  PROGRAM_CAN_BE_EMPTY,
  PROGRAM_FLAGS_OFFSET,
  PROGRAM_FORWARD_COUNT_OFFSET,
  PROGRAM_FORWARD_START_OFFSET,
  PROGRAM_HEADER_SIZE,
  PROGRAM_NEEDLE_BYTES_OFFSET,
  PROGRAM_NEEDLE_COUNT_OFFSET,
  PROGRAM_NEEDLE_KIND_OFFSET,
  PROGRAM_NEEDLES_FOLDED,
  PROGRAM_NEEDLES_MAX,
  PROGRAM_RESERVED_OFFSET,
  PROGRAM_REVERSE_COUNT_OFFSET,
  PROGRAM_REVERSE_START_OFFSET,
  PROGRAM_SIZE_OFFSET,
  PROGRAM_SPANS_LINES,
  PROGRAM_STATES_MAX,
  PROGRAM_TRANSITION_COUNT_OFFSET,
  STATE_ASSERT,
  STATE_BYTES,
  STATE_CALL,
  STATE_CHOICE,
  STATE_COUNT_OFFSET,
  STATE_FIRST_OFFSET,
  STATE_KIND_OFFSET,
  STATE_MATCH,
  STATE_RETURN,
  STATE_SIZE,
  TRANSITION_SIZE,
} from '../shared/program.ts';
import { STATUS_BAD_PLAN, STATUS_OK } from '../shared/status.ts';

const FLAGS_ALL: u32 = PROGRAM_SPANS_LINES | PROGRAM_CAN_BE_EMPTY | PROGRAM_NEEDLES_FOLDED;
const NEWLINE: u32 = 10;

/** One automaton of a checked program. */
@unmanaged
export class Automaton {
  states: u32; // address of the state rows
  stateCount: u32;
  start: u32; // index of the first state
  transitions: u32; // address; shared by both automata
  alternatives: u32; // address; shared by both automata
  isReverse: u32; // 1: reads the text from its end to its start
  hasAsserts: u32; // 1: some state is an assertion
  alternativeCount: u32; // of all choices of this automaton together
  callCount: u32;
}
export const AUTOMATON_SIZE: usize = 36;
if (offsetof<Automaton>() != AUTOMATON_SIZE) ERROR('Automaton: size');

/** Errors: STATUS_BAD_PLAN for anything invalid. */
export function checkProgram(
  program: usize,
  size: u32,
  forward: Automaton,
  reverse: Automaton,
): i32 {
  if (size < PROGRAM_HEADER_SIZE || load<u32>(program, PROGRAM_SIZE_OFFSET) != size) {
    return STATUS_BAD_PLAN;
  }
  if (
    (programFlags(program) & ~FLAGS_ALL) != 0 ||
    load<u32>(program, PROGRAM_RESERVED_OFFSET) != 0
  ) {
    return STATUS_BAD_PLAN;
  }
  if (!isLaidOut(program, size)) return STATUS_BAD_PLAN;
  locateAutomata(program, forward, reverse);
  if (!checkAutomaton(program, forward) || !checkAutomaton(program, reverse))
    return STATUS_BAD_PLAN;
  return checkNeedles(program) ? STATUS_OK : STATUS_BAD_PLAN;
}

/** Whether the tables named in the header fill the program, and both automata have a start. */
function isLaidOut(program: usize, size: u32): bool {
  const forwardCount = load<u32>(program, PROGRAM_FORWARD_COUNT_OFFSET);
  const reverseCount = load<u32>(program, PROGRAM_REVERSE_COUNT_OFFSET);
  if (forwardCount > PROGRAM_STATES_MAX || reverseCount > PROGRAM_STATES_MAX - forwardCount)
    return false;
  if (load<u32>(program, PROGRAM_FORWARD_START_OFFSET) >= forwardCount) return false;
  if (load<u32>(program, PROGRAM_REVERSE_START_OFFSET) >= reverseCount) return false;
  const needleCount = load<u32>(program, PROGRAM_NEEDLE_COUNT_OFFSET);
  if (needleCount > PROGRAM_NEEDLES_MAX) return false;
  const expectedSize =
    <u64>PROGRAM_HEADER_SIZE +
    <u64>(forwardCount + reverseCount) * STATE_SIZE +
    <u64>load<u32>(program, PROGRAM_TRANSITION_COUNT_OFFSET) * TRANSITION_SIZE +
    <u64>load<u32>(program, PROGRAM_ALTERNATIVE_COUNT_OFFSET) * ALTERNATIVE_SIZE +
    <u64>needleCount * NEEDLE_ROW_SIZE +
    <u64>load<u32>(program, PROGRAM_NEEDLE_BYTES_OFFSET);
  return ((expectedSize + 3) & ~(<u64>3)) == <u64>size;
}

function locateAutomata(program: usize, forward: Automaton, reverse: Automaton): void {
  forward.states = <u32>program + PROGRAM_HEADER_SIZE;
  forward.stateCount = load<u32>(program, PROGRAM_FORWARD_COUNT_OFFSET);
  forward.start = load<u32>(program, PROGRAM_FORWARD_START_OFFSET);
  forward.isReverse = 0;
  reverse.states = forward.states + forward.stateCount * STATE_SIZE;
  reverse.stateCount = load<u32>(program, PROGRAM_REVERSE_COUNT_OFFSET);
  reverse.start = load<u32>(program, PROGRAM_REVERSE_START_OFFSET);
  reverse.isReverse = 1;
  forward.transitions = reverse.states + reverse.stateCount * STATE_SIZE;
  reverse.transitions = forward.transitions;
  forward.alternatives =
    forward.transitions + load<u32>(program, PROGRAM_TRANSITION_COUNT_OFFSET) * TRANSITION_SIZE;
  reverse.alternatives = forward.alternatives;
}

function checkAutomaton(program: usize, automaton: Automaton): bool {
  const transitionCount = load<u32>(program, PROGRAM_TRANSITION_COUNT_OFFSET);
  const alternativeCount = load<u32>(program, PROGRAM_ALTERNATIVE_COUNT_OFFSET);
  automaton.hasAsserts = 0;
  automaton.alternativeCount = 0;
  automaton.callCount = 0;
  for (let state: u32 = 0; state < automaton.stateCount; state++) {
    const first = stateFirst(automaton, state);
    const count = stateCount(automaton, state);
    switch (stateKind(automaton, state)) {
      case STATE_BYTES:
        if (first > transitionCount || count > transitionCount - first) return false;
        if (!checkTransitions(automaton, first, count)) return false;
        break;
      case STATE_CHOICE:
        if (first > alternativeCount || count > alternativeCount - first) return false;
        // Bound: choices that share alternatives could make the work larger than the program.
        if (count > alternativeCount - automaton.alternativeCount) return false;
        if (!checkAlternatives(automaton, first, count)) return false;
        automaton.alternativeCount += count;
        break;
      case STATE_ASSERT:
        if (first >= automaton.stateCount) return false;
        if (count < ASSERT_LINE_START || count > ASSERT_NOT_WORD_BORDER) return false;
        automaton.hasAsserts = 1;
        break;
      case STATE_CALL:
        if (first >= automaton.stateCount || !isBytesState(automaton, count)) return false;
        automaton.callCount++;
        break;
      case STATE_MATCH:
      case STATE_RETURN:
        break;
      default:
        return false;
    }
  }
  return true;
}

function isBytesState(automaton: Automaton, state: u32): bool {
  return state < automaton.stateCount && stateKind(automaton, state) == STATE_BYTES;
}

function checkTransitions(automaton: Automaton, first: u32, count: u32): bool {
  if (count > 256) return false;
  let free: u32 = 0;
  for (let i = first; i < first + count; i++) {
    const range = transitionRange(automaton, i);
    const firstByte = range & 0xff;
    const lastByte = range >> 8;
    if (firstByte < free || lastByte < firstByte || lastByte > 0xff) return false;
    if (transitionTarget(automaton, i) >= automaton.stateCount) return false;
    free = lastByte + 1;
  }
  return true;
}

function checkAlternatives(automaton: Automaton, first: u32, count: u32): bool {
  for (let i = first; i < first + count; i++) {
    if (alternativeTarget(automaton, i) >= automaton.stateCount) return false;
  }
  return true;
}

function checkNeedles(program: usize): bool {
  const kind = programNeedleKind(program);
  const count = programNeedleCount(program);
  if (kind > NEEDLES_RUN || (kind == NEEDLES_NONE) != (count == 0)) return false;
  const bytesSize = load<u32>(program, PROGRAM_NEEDLE_BYTES_OFFSET);
  const rows = programNeedleRows(program);
  for (let i: u32 = 0; i < count; i++) {
    const offset = load<u32>(rows + <usize>i * NEEDLE_ROW_SIZE);
    const size = load<u32>(rows + <usize>i * NEEDLE_ROW_SIZE, 4);
    if (size == 0 || offset > bytesSize || size > bytesSize - offset) return false;
    if (kind == NEEDLES_INNER && containsNewline(programNeedle(program, i), size)) return false;
  }
  return kind != NEEDLES_RUN || checkRun(program, count);
}

function checkRun(program: usize, count: u32): bool {
  if (count != 1 || programNeedleSize(program, 0) != NEEDLE_RUN_SIZE) return false;
  const run = programNeedle(program, 0);
  const size = load<u32>(run, NEEDLE_RUN_COUNT_OFFSET);
  if (size == 0 || size > NEEDLE_RUN_COUNT_MAX) return false;
  return (load<u64>(run) | load<u64>(run, 8) | load<u64>(run, 16) | load<u64>(run, 24)) != 0;
}

function containsNewline(ptr: usize, size: u32): bool {
  for (let i: u32 = 0; i < size; i++) if (load<u8>(ptr + i) == NEWLINE) return true;
  return false;
}

// Accessors. Safety: the program was checked, and indexes come from it.

@inline
function stateRow(automaton: Automaton, state: u32): usize {
  return <usize>automaton.states + <usize>state * STATE_SIZE;
}

@inline
export function stateKind(automaton: Automaton, state: u32): u32 {
  return load<u32>(stateRow(automaton, state), STATE_KIND_OFFSET);
}

/** First transition or alternative; ASSERT, CALL: the next state. */
@inline
export function stateFirst(automaton: Automaton, state: u32): u32 {
  return load<u32>(stateRow(automaton, state), STATE_FIRST_OFFSET);
}

/** Number of transitions or alternatives; ASSERT: the assertion; CALL: the start of its set. */
@inline
export function stateCount(automaton: Automaton, state: u32): u32 {
  return load<u32>(stateRow(automaton, state), STATE_COUNT_OFFSET);
}

/** First byte | last byte << 8. */
@inline
export function transitionRange(automaton: Automaton, index: u32): u32 {
  return load<u32>(<usize>automaton.transitions + <usize>index * TRANSITION_SIZE);
}

@inline
export function transitionTarget(automaton: Automaton, index: u32): u32 {
  return load<u32>(<usize>automaton.transitions + <usize>index * TRANSITION_SIZE, 4);
}

@inline
export function alternativeTarget(automaton: Automaton, index: u32): u32 {
  return load<u32>(<usize>automaton.alternatives + <usize>index * ALTERNATIVE_SIZE);
}

/** stepLeaf found no transition. */
export const NO_STATE: u32 = 0xffffffff;

// A leaf is a position of a search in the automaton: the index of a state, and within a call, in
// the high bits, the index of the state after the call plus one. Bound: indexes are below
// PROGRAM_STATES_MAX.
const CALL_SHIFT: u32 = 16;
if (PROGRAM_STATES_MAX >= 1 << CALL_SHIFT) ERROR('leaf: states');

/** The leaf at `state` in a call that continues at `behind`. */
@inline
export function leafInCall(state: u32, behind: u32): u32 {
  return state | ((behind + 1) << CALL_SHIFT);
}

@inline
export function isInCall(leaf: u32): bool {
  return leaf >> CALL_SHIFT != 0;
}

@inline
export function leafState(leaf: u32): u32 {
  return leaf & ((1 << CALL_SHIFT) - 1);
}

/** STATE_*. */
@inline
export function leafKind(automaton: Automaton, leaf: u32): u32 {
  return stateKind(automaton, leafState(leaf));
}

/**
 * The target of `leaf`, at a BYTES state, on `byte`: a state or a leaf within a call; or NO_STATE.
 */
@inline
export function stepLeaf(automaton: Automaton, leaf: u32, byte: u32): u32 {
  const target = stepState(automaton, leafState(leaf), byte);
  return isInCall(leaf) && target != NO_STATE ? targetInCall(automaton, leaf, target) : target;
}

function targetInCall(automaton: Automaton, leaf: u32, target: u32): u32 {
  const behind = (leaf >> CALL_SHIFT) - 1;
  const kind = stateKind(automaton, target);
  if (kind == STATE_BYTES) return leafInCall(target, behind);
  // Why: an incorrect program may lead out of the set.
  return kind == STATE_RETURN ? behind : target;
}

/** The target of the BYTES state `state` on `byte`, or NO_STATE. */
function stepState(automaton: Automaton, state: u32, byte: u32): u32 {
  let low = stateFirst(automaton, state);
  let high = low + stateCount(automaton, state);
  while (low < high) {
    const middle = (low + high) >> 1;
    const range = transitionRange(automaton, middle);
    if (range >> 8 < byte) low = middle + 1;
    else if ((range & 0xff) > byte) high = middle;
    else return transitionTarget(automaton, middle);
  }
  return NO_STATE;
}

@inline
export function programFlags(program: usize): u32 {
  return load<u32>(program, PROGRAM_FLAGS_OFFSET);
}

@inline
export function programNeedleKind(program: usize): u32 {
  return load<u32>(program, PROGRAM_NEEDLE_KIND_OFFSET);
}

@inline
export function programNeedleCount(program: usize): u32 {
  return load<u32>(program, PROGRAM_NEEDLE_COUNT_OFFSET);
}

/** Address of the needle rows: offset in the needle bytes, size. */
export function programNeedleRows(program: usize): usize {
  const stateCount =
    load<u32>(program, PROGRAM_FORWARD_COUNT_OFFSET) +
    load<u32>(program, PROGRAM_REVERSE_COUNT_OFFSET);
  return (
    program +
    PROGRAM_HEADER_SIZE +
    stateCount * STATE_SIZE +
    load<u32>(program, PROGRAM_TRANSITION_COUNT_OFFSET) * TRANSITION_SIZE +
    load<u32>(program, PROGRAM_ALTERNATIVE_COUNT_OFFSET) * ALTERNATIVE_SIZE
  );
}

export function programNeedleBytes(program: usize): usize {
  return programNeedleRows(program) + <usize>programNeedleCount(program) * NEEDLE_ROW_SIZE;
}

export function programNeedle(program: usize, index: u32): usize {
  const row = programNeedleRows(program) + <usize>index * NEEDLE_ROW_SIZE;
  return programNeedleBytes(program) + load<u32>(row);
}

export function programNeedleSize(program: usize, index: u32): u32 {
  return load<u32>(programNeedleRows(program) + <usize>index * NEEDLE_ROW_SIZE, 4);
}
