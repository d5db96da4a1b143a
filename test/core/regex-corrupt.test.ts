// Invalid programs: refused with a status, or harmless. Nothing traps, nothing runs on, nothing is found outside the
// text.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import * as format from '../../core/shared/program.ts';
import { STATUS_BAD_PLAN, STATUS_OUT_OF_MEMORY } from '../../core/shared/status.ts';
import { BUILDS } from './driver.ts';
import { Engine, LOCATIONS_SIZE } from './regex-harness.ts';
import {
  concat,
  encodeProgram,
  literal,
  makeAutomaton,
  programOf,
  range,
  repeat,
  type Automaton,
} from './regex-program.ts';

const TREE = concat(
  { kind: 'assert', assert: format.ASSERT_WORD_BORDER },
  literal('ab'),
  repeat(range(0x61, 0x7a), '*'),
  repeat(literal('\n'), '?'),
);
const FORWARD = makeAutomaton(TREE, false);
const REVERSE = makeAutomaton(TREE, true);
const NEEDLES = { kind: format.NEEDLES_PREFIX, literals: ['ab', 'abc'] };
const VALID = programOf(TREE, NEEDLES);
const TEXT = new TextEncoder().encode('ab abc\nxab ab\n\u00e9abz');

function changed(offset: number, value: number, program = VALID): Uint8Array {
  const bytes = program.slice();
  new DataView(bytes.buffer).setUint32(offset, value, true);
  return bytes;
}

function withState(automaton: Automaton, index: number, change: object): Automaton {
  return {
    ...automaton,
    states: automaton.states.map((state, i) => (i === index ? { ...state, ...change } : state)),
  };
}

/** Programs, each with one thing wrong. */
function unsoundPrograms(): [string, Uint8Array][] {
  const encode = (forward: Automaton): Uint8Array => encodeProgram(forward, REVERSE, 0);
  const bytesIndex = FORWARD.states.findIndex(({ kind }) => kind === format.STATE_BYTES);
  const choiceIndex = FORWARD.states.findIndex(({ kind }) => kind === format.STATE_CHOICE);
  const assertIndex = FORWARD.states.findIndex(({ kind }) => kind === format.STATE_ASSERT);
  const count = FORWARD.states.length;
  const withTransitions = (...transitions: number[][]): Uint8Array =>
    encode(withState(FORWARD, bytesIndex, { transitions }));
  const manyAlternatives = encode(FORWARD);
  const firstState = format.PROGRAM_HEADER_SIZE;
  const rowOf = (index: number): number => firstState + index * format.STATE_SIZE;
  return [
    ['size', changed(format.PROGRAM_SIZE_OFFSET, VALID.length + 4)],
    ['cut', VALID.subarray(0, VALID.length - 4)],
    ['flags', changed(format.PROGRAM_FLAGS_OFFSET, 8)],
    ['reserved', changed(format.PROGRAM_RESERVED_OFFSET, 1)],
    ['forward start', changed(format.PROGRAM_FORWARD_START_OFFSET, count)],
    ['reverse start', changed(format.PROGRAM_REVERSE_START_OFFSET, REVERSE.states.length)],
    ['many states', changed(format.PROGRAM_FORWARD_COUNT_OFFSET, 0xffffffff)],
    ['no states', changed(format.PROGRAM_FORWARD_COUNT_OFFSET, 0)],
    ['transitions', changed(format.PROGRAM_TRANSITION_COUNT_OFFSET, 0x20000000)],
    ['alternatives', changed(format.PROGRAM_ALTERNATIVE_COUNT_OFFSET, 0x40000000)],
    ['needle kind', changed(format.PROGRAM_NEEDLE_KIND_OFFSET, 3)],
    ['needles of no kind', changed(format.PROGRAM_NEEDLE_KIND_OFFSET, 0)],
    ['needle count', changed(format.PROGRAM_NEEDLE_COUNT_OFFSET, 65)],
    ['needle bytes', changed(format.PROGRAM_NEEDLE_BYTES_OFFSET, 0xfffffff0)],
    ['empty needle', programOf(TREE, { kind: format.NEEDLES_PREFIX, literals: [''] })],
    ['newline within', programOf(TREE, { kind: format.NEEDLES_INNER, literals: ['a\n'] })],
    ['target', withTransitions([97, 97, count])],
    ['order', withTransitions([97, 97, 0], [96, 96, 0])],
    ['overlap', withTransitions([97, 99, 0], [99, 99, 0])],
    ['empty range', withTransitions([98, 97, 0])],
    ['no byte', withTransitions([97, 256, 0])],
    ['alternative', encode(withState(FORWARD, choiceIndex, { targets: [count] }))],
    ['assertion', encode(withState(FORWARD, assertIndex, { assert: 7 }))],
    ['assertion target', encode(withState(FORWARD, assertIndex, { targets: [count] }))],
    ['kind', encode(withState(FORWARD, bytesIndex, { kind: 7 }))],
    ['kind 0', encode(withState(FORWARD, bytesIndex, { kind: 0 }))],
    ['range', changed(rowOf(bytesIndex) + format.STATE_FIRST_OFFSET, 0xffffffff, manyAlternatives)],
    ['count', changed(rowOf(bytesIndex) + format.STATE_COUNT_OFFSET, 0xffffffff, manyAlternatives)],
    ['shared', changed(rowOf(choiceIndex) + format.STATE_COUNT_OFFSET, 1000, manyAlternatives)],
  ];
}

for (const build of BUILDS) {
  test(`regex programs (${build})`, async (t) => {
    const engine = await Engine.make(build);

    await t.test('invalid programs are refused', () => {
      assert.ok(engine.compile(VALID));
      for (const [name, program] of unsoundPrograms()) {
        assert.equal(engine.compile(program), false, name);
        assert.equal(engine.status, STATUS_BAD_PLAN, name);
      }
    });

    await t.test('a full arena is a status', () => {
      const needed = LOCATIONS_SIZE + (1 << 15);
      assert.ok(engine.compile(VALID, [4096, 4096], needed));
      let size = 64;
      for (; !engine.compile(VALID, [4096, 4096], size); size += 64) {
        assert.equal(engine.status, STATUS_OUT_OF_MEMORY);
      }
      // What all expressions share is not all that can be missing.
      assert.ok(size > LOCATIONS_SIZE + 4096 && size <= needed);
    });

    await t.test('matches of partial code points terminate', () => {
      const text = Uint8Array.from([
        0x80,
        0x61,
        0xff,
        0xc3,
        ...new Uint8Array(2000).fill(0x62),
        0x80,
      ]);
      for (const [first, last] of [
        [0xef, 0xef],
        [0xbf, 0xbf],
        [0xbd, 0xbd],
        [0x80, 0xbf],
      ] as const) {
        for (const arenaSize of [undefined, LOCATIONS_SIZE + (1 << 14)]) {
          for (const sign of ['?', '+'] as const) {
            const tree = concat(range(first, last), repeat(range(first, last), sign));
            assert.ok(engine.compile(programOf(tree), [2048, 2048], arenaSize));
            engine.setText(text);
            for (const [start, end] of engine.find()) {
              assert.ok(start >= 0 && start < end && end <= text.length);
            }
            engine.count();
            engine.test();
          }
        }
      }
    });

    await t.test('random changes are refused or harmless', () => {
      const change = fc.tuple(fc.nat(VALID.length / 4 - 1), fc.oneof(fc.nat(12), fc.nat(0x7f7f)));
      let acceptedCount = 0;
      fc.assert(
        fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
          const program = changes.reduce(
            (bytes, [index, value]) => changed(index * 4, value, bytes),
            VALID,
          );
          if (!engine.compile(program, [2048, 2048])) return;
          acceptedCount++;
          engine.setText(TEXT);
          for (const [start, end] of [...engine.find(), ...engine.find(3, 14)]) {
            assert.ok(start >= 0 && start < end && end <= TEXT.length);
          }
          engine.count();
          engine.test();
        }),
        { numRuns: build === 'debug' ? 500 : 5000 },
      );
      // Some 120 of 1,000 changes are valid.
      assert.ok(acceptedCount > 50);
    });
  });
}
