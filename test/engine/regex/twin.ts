// The slow twin of the core: runs the bytes of a program as core/shared/program.ts describes them, in the simplest
// way, and checks every index.

import assert from 'node:assert/strict';
import * as layout from '../../../core/shared/program.ts';

type TwinState =
  | { readonly kind: 'bytes'; readonly edges: readonly (readonly [number, number, number])[] }
  | { readonly kind: 'choice'; readonly targets: readonly number[] }
  | { readonly kind: 'assert'; readonly code: number; readonly target: number }
  | { readonly kind: 'match' }
  | { readonly kind: 'call'; readonly entry: number; readonly target: number }
  | { readonly kind: 'return' };

interface TwinAutomaton {
  readonly start: number;
  readonly states: readonly TwinState[];
}

export interface Twin {
  readonly forward: TwinAutomaton;
  readonly reverse: TwinAutomaton;
  readonly spansLines: boolean;
  readonly canBeEmpty: boolean;
  readonly needleKind: number;
  readonly areNeedlesFolded: boolean;
  readonly needles: readonly string[];
}

export interface Range {
  readonly start: number;
  readonly end: number;
}

/** How many entries the tables of a program have, and where they begin in it. Unit of offsets: bytes. */
interface Tables {
  /** Reads 32 bits. */
  readonly word: (offset: number) => number;
  readonly forwardCount: number;
  readonly reverseCount: number;
  readonly statesOffset: number;
  readonly transitionsOffset: number;
  readonly alternativesOffset: number;
  readonly needleRowsOffset: number;
  readonly transitionCount: number;
  readonly alternativeCount: number;
  readonly needleCount: number;
  readonly needlesOffset: number;
  readonly needlesEnd: number;
}

/** The tables of a program; fails where they do not fill it, or have more entries than they may. */
function tablesOf(program: Uint8Array): Tables {
  const words = new DataView(program.buffer, program.byteOffset, program.length);
  const word = (offset: number): number => words.getUint32(offset, true);
  assert.equal(word(layout.PROGRAM_SIZE_OFFSET), program.length);
  assert.equal(program.length % 4, 0);
  assert.equal(word(layout.PROGRAM_RESERVED_OFFSET), 0);
  const forwardCount = word(layout.PROGRAM_FORWARD_COUNT_OFFSET);
  const reverseCount = word(layout.PROGRAM_REVERSE_COUNT_OFFSET);
  assert.ok(forwardCount + reverseCount <= layout.PROGRAM_STATES_MAX);
  const statesOffset = layout.PROGRAM_HEADER_SIZE;
  const transitionsOffset = statesOffset + layout.STATE_SIZE * (forwardCount + reverseCount);
  const transitionCount = word(layout.PROGRAM_TRANSITION_COUNT_OFFSET);
  const alternativesOffset = transitionsOffset + layout.TRANSITION_SIZE * transitionCount;
  const alternativeCount = word(layout.PROGRAM_ALTERNATIVE_COUNT_OFFSET);
  const needleRowsOffset = alternativesOffset + layout.ALTERNATIVE_SIZE * alternativeCount;
  const needleCount = word(layout.PROGRAM_NEEDLE_COUNT_OFFSET);
  assert.ok(needleCount <= layout.PROGRAM_NEEDLES_MAX);
  const needlesOffset = needleRowsOffset + layout.NEEDLE_ROW_SIZE * needleCount;
  const needlesEnd = needlesOffset + word(layout.PROGRAM_NEEDLE_BYTES_OFFSET);
  assert.equal(Math.ceil(needlesEnd / 4) * 4, program.length);
  return {
    word,
    forwardCount,
    reverseCount,
    statesOffset,
    transitionsOffset,
    alternativesOffset,
    needleRowsOffset,
    transitionCount,
    alternativeCount,
    needleCount,
    needlesOffset,
    needlesEnd,
  };
}

/** Reads a state. @param index  in the table of both automata @param count  states of its automaton */
function stateAt(tables: Tables, index: number, count: number): TwinState {
  const { word, transitionsOffset, alternativesOffset } = tables;
  const offset = tables.statesOffset + layout.STATE_SIZE * index;
  const first = word(offset + layout.STATE_FIRST_OFFSET);
  const size = word(offset + layout.STATE_COUNT_OFFSET);
  const target = (state: number): number => {
    assert.ok(state < count, 'target');
    return state;
  };
  switch (word(offset + layout.STATE_KIND_OFFSET)) {
    case layout.STATE_BYTES: {
      assert.ok(first + size <= tables.transitionCount);
      const edges = Array.from({ length: size }, (_, i) => {
        const row = transitionsOffset + layout.TRANSITION_SIZE * (first + i);
        return [word(row) & 0xff, word(row) >>> 8, target(word(row + 4))] as const;
      });
      for (const [i, [from, to]] of edges.entries()) {
        assert.ok(from <= to && to <= 0xff && (i === 0 || edges[i - 1]![1] < from), 'ascending');
      }
      return { kind: 'bytes', edges };
    }
    case layout.STATE_CHOICE: {
      assert.ok(first + size <= tables.alternativeCount);
      const targets = Array.from({ length: size }, (_, i) =>
        target(word(alternativesOffset + layout.ALTERNATIVE_SIZE * (first + i))),
      );
      return { kind: 'choice', targets };
    }
    case layout.STATE_ASSERT:
      assert.ok(size >= layout.ASSERT_LINE_START && size <= layout.ASSERT_NOT_WORD_BORDER);
      return { kind: 'assert', code: size, target: target(first) };
    case layout.STATE_CALL:
      return { kind: 'call', entry: target(size), target: target(first) };
    case layout.STATE_RETURN:
      return { kind: 'return' };
    default:
      assert.equal(word(offset + layout.STATE_KIND_OFFSET), layout.STATE_MATCH);
      return { kind: 'match' };
  }
}

/** Reads a program; fails where it does not keep to its layout. */
export function readTwin(program: Uint8Array): Twin {
  const tables = tablesOf(program);
  const { word, forwardCount, reverseCount, needlesEnd } = tables;
  const readStates = (first: number, count: number): readonly TwinState[] =>
    Array.from({ length: count }, (_, i) => stateAt(tables, first + i, count));
  const flags = word(layout.PROGRAM_FLAGS_OFFSET);
  const needles = Array.from({ length: tables.needleCount }, (_, i) => {
    const row = tables.needleRowsOffset + layout.NEEDLE_ROW_SIZE * i;
    const start = tables.needlesOffset + word(row);
    assert.ok(start + word(row + 4) <= needlesEnd);
    return Buffer.from(program.subarray(start, start + word(row + 4))).toString();
  });
  return {
    forward: {
      start: word(layout.PROGRAM_FORWARD_START_OFFSET),
      states: readStates(0, forwardCount),
    },
    reverse: {
      start: word(layout.PROGRAM_REVERSE_START_OFFSET),
      states: readStates(forwardCount, reverseCount),
    },
    spansLines: (flags & layout.PROGRAM_SPANS_LINES) !== 0,
    canBeEmpty: (flags & layout.PROGRAM_CAN_BE_EMPTY) !== 0,
    needleKind: word(layout.PROGRAM_NEEDLE_KIND_OFFSET),
    areNeedlesFolded: (flags & layout.PROGRAM_NEEDLES_FOLDED) !== 0,
    needles,
  };
}

function isWord(byte: number | undefined): boolean {
  return byte !== undefined && /^\w$/.test(String.fromCharCode(byte));
}

function isSatisfied(code: number, text: Uint8Array, at: number): boolean {
  switch (code) {
    case layout.ASSERT_LINE_START:
      return at === 0 || text[at - 1] === 0x0a;
    case layout.ASSERT_LINE_END:
      return at === text.length || text[at] === 0x0a;
    case layout.ASSERT_TEXT_START:
      return at === 0;
    case layout.ASSERT_TEXT_END:
      return at === text.length;
    case layout.ASSERT_WORD_BORDER:
      return isWord(text[at - 1]) !== isWord(text[at]);
    default:
      return isWord(text[at - 1]) === isWord(text[at]);
  }
}

/** Where a search stands: the index of a state, and, one above the other, of the states behind the calls around it. */
type Location = readonly number[];

/** The places that read or match, in order of preference, from `locations` at `at`. */
function closure(
  { states }: TwinAutomaton,
  locations: readonly Location[],
  text: Uint8Array,
  at: number,
): readonly Location[] {
  const visited = new Set<string>();
  const found: Location[] = [];
  const visit = (location: Location): void => {
    const key = location.join();
    if (visited.has(key)) return;
    visited.add(key);
    const [index, ...behind] = location;
    const state = states[index!]!;
    if (state.kind === 'choice') for (const target of state.targets) visit([target, ...behind]);
    else if (state.kind === 'call') visit([state.entry, state.target, ...behind]);
    else if (state.kind === 'return') visit(behind);
    else if (state.kind === 'assert') {
      if (isSatisfied(state.code, text, at)) visit([state.target, ...behind]);
    } else found.push(location);
  };
  for (const location of locations) visit(location);
  return found;
}

function isMatch({ states }: TwinAutomaton, location: Location): boolean {
  return states[location[0]!]!.kind === 'match';
}

function step(
  { states }: TwinAutomaton,
  locations: readonly Location[],
  byte: number,
): readonly Location[] {
  const next: Location[] = [];
  for (const [index, ...behind] of locations) {
    const state = states[index!]!;
    if (state.kind !== 'bytes') continue;
    const edge = state.edges.find(([first, last]) => first <= byte && byte <= last);
    if (edge !== undefined) next.push([edge[2], ...behind]);
  }
  return next;
}

/** End of the preferred match that begins at `start`. */
function matchAt({ forward }: Twin, text: Uint8Array, start: number): number | undefined {
  let end: number | undefined;
  let locations: readonly Location[] = [[forward.start]];
  for (let at = start; locations.length > 0; at++) {
    const active = closure(forward, locations, text, at);
    const match = active.findIndex((location) => isMatch(forward, location));
    if (match >= 0) end = at;
    if (at === text.length) break;
    locations = step(forward, match < 0 ? active : active.slice(0, match), text[at]!);
  }
  return end;
}

/** Leftmost start, not before `from`, of a match that ends at `end`. */
export function startOf({ reverse }: Twin, text: Uint8Array, from: number, end: number) {
  let start: number | undefined;
  let locations: readonly Location[] = [[reverse.start]];
  for (let at = end; locations.length > 0; at--) {
    const active = closure(reverse, locations, text, at);
    if (active.some((location) => isMatch(reverse, location))) start = at;
    if (at === from) break;
    locations = step(reverse, active, text[at - 1]!);
  }
  return start;
}

/** Whether there is a match, be it an empty one, between code points. */
export function matchesAnywhere(twin: Twin, text: Uint8Array): boolean {
  for (let start = 0; start <= text.length; start++) {
    if ((text[start]! & 0xc0) !== 0x80 && matchAt(twin, text, start) !== undefined) return true;
  }
  return false;
}

/** A match and the position where its search began. */
export interface Found extends Range {
  readonly from: number;
}

/** All matches that do not overlap, left to right, without the empty ones; offsets in bytes. */
export function matchesOf(twin: Twin, text: Uint8Array): readonly Found[] {
  const matches: Found[] = [];
  let from = 0;
  for (let start = 0; start <= text.length; start++) {
    if ((text[start]! & 0xc0) === 0x80) continue;
    const end = matchAt(twin, text, start);
    if (end === start) from = start + 1;
    if (end === undefined || end === start) continue;
    matches.push({ start, end, from });
    from = end;
    start = end - 1;
  }
  return matches;
}
