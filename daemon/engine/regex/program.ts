// Encodes automata and needles as the program that the core runs; core/shared/program.ts has the layout.

import * as layout from '../../../core/shared/program.ts';
import type { Automaton, State } from './automaton.ts';
import type { Needles } from './needles.ts';
import type { Assertion } from './tree.ts';

const ASSERT_CODES: Readonly<Record<Assertion, number>> = {
  lineStart: layout.ASSERT_LINE_START,
  lineEnd: layout.ASSERT_LINE_END,
  textStart: layout.ASSERT_TEXT_START,
  textEnd: layout.ASSERT_TEXT_END,
  wordBorder: layout.ASSERT_WORD_BORDER,
  notWordBorder: layout.ASSERT_NOT_WORD_BORDER,
};

const NEEDLE_CODES: Readonly<Record<Needles['kind'], number>> = {
  none: layout.NEEDLES_NONE,
  prefix: layout.NEEDLES_PREFIX,
  inner: layout.NEEDLES_INNER,
  run: layout.NEEDLES_RUN,
};

export interface ProgramParts {
  readonly forward: Automaton;
  readonly reverse: Automaton;
  readonly needles: Needles;
  readonly spansLines: boolean;
  readonly canBeEmpty: boolean;
}

interface Tables {
  readonly states: number[];
  readonly transitions: number[];
  readonly alternatives: number[];
}

export function encodeProgram(parts: ProgramParts): Uint8Array {
  const tables: Tables = { states: [], transitions: [], alternatives: [] };
  for (const state of parts.forward.states) addState(tables, state);
  for (const state of parts.reverse.states) addState(tables, state);
  const needles = needleBytes(parts.needles);
  const rows: number[] = [];
  let needlesSize = 0;
  for (const needle of needles) {
    rows.push(needlesSize, needle.length);
    needlesSize += needle.length;
  }
  const words = [tables.states, tables.transitions, tables.alternatives, rows];
  const wordCount = words.reduce((sum, list) => sum + list.length, 0);
  const needlesOffset = layout.PROGRAM_HEADER_SIZE + 4 * wordCount;
  const program = Buffer.alloc(needlesOffset + 4 * Math.ceil(needlesSize / 4));
  writeHeader(program, parts, tables, needlesSize);
  const view = new DataView(program.buffer, program.byteOffset);
  let offset: number = layout.PROGRAM_HEADER_SIZE;
  for (const list of words) {
    for (const word of list) {
      view.setUint32(offset, word, true);
      offset += 4;
    }
  }
  Buffer.concat(needles).copy(program, needlesOffset);
  return program;
}

function needleBytes({ texts, run }: Needles): Buffer[] {
  if (run === undefined) return texts.map((text) => Buffer.from(text));
  const bytes = Buffer.alloc(layout.NEEDLE_RUN_SIZE);
  bytes.set(run.bytes);
  bytes.writeUInt32LE(run.size, layout.NEEDLE_RUN_COUNT_OFFSET);
  return [bytes];
}

function addState(tables: Tables, state: State): void {
  const { states, transitions, alternatives } = tables;
  switch (state.kind) {
    case 'bytes': {
      const first = (4 * transitions.length) / layout.TRANSITION_SIZE;
      states.push(layout.STATE_BYTES, first, state.edges.length);
      for (const { first, last, target } of state.edges)
        transitions.push(first | (last << 8), target);
      return;
    }
    case 'choice':
      states.push(layout.STATE_CHOICE, alternatives.length, state.targets.length);
      alternatives.push(...state.targets);
      return;
    case 'assert':
      states.push(layout.STATE_ASSERT, state.target, ASSERT_CODES[state.at]);
      return;
    case 'call':
      states.push(layout.STATE_CALL, state.target, state.entry);
      return;
    case 'match':
      states.push(layout.STATE_MATCH, 0, 0);
      return;
    case 'return':
      states.push(layout.STATE_RETURN, 0, 0);
  }
}

function writeHeader(
  program: Buffer,
  { forward, reverse, needles, spansLines, canBeEmpty }: ProgramParts,
  { transitions, alternatives }: Tables,
  needlesSize: number,
): void {
  const flags =
    (spansLines ? layout.PROGRAM_SPANS_LINES : 0) |
    (canBeEmpty ? layout.PROGRAM_CAN_BE_EMPTY : 0) |
    (needles.isFolded ? layout.PROGRAM_NEEDLES_FOLDED : 0);
  const fields: readonly (readonly [offset: number, value: number])[] = [
    [layout.PROGRAM_SIZE_OFFSET, program.length],
    [layout.PROGRAM_FLAGS_OFFSET, flags],
    [layout.PROGRAM_FORWARD_START_OFFSET, forward.start],
    [layout.PROGRAM_FORWARD_COUNT_OFFSET, forward.states.length],
    [layout.PROGRAM_REVERSE_START_OFFSET, reverse.start],
    [layout.PROGRAM_REVERSE_COUNT_OFFSET, reverse.states.length],
    [layout.PROGRAM_TRANSITION_COUNT_OFFSET, (4 * transitions.length) / layout.TRANSITION_SIZE],
    [layout.PROGRAM_ALTERNATIVE_COUNT_OFFSET, alternatives.length],
    [layout.PROGRAM_NEEDLE_KIND_OFFSET, NEEDLE_CODES[needles.kind]],
    [layout.PROGRAM_NEEDLE_COUNT_OFFSET, needleBytes(needles).length],
    [layout.PROGRAM_NEEDLE_BYTES_OFFSET, needlesSize],
    [layout.PROGRAM_RESERVED_OFFSET, 0],
  ];
  for (const [offset, value] of fields) program.writeUInt32LE(value, offset);
}
