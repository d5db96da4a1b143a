// Sets used at many places of an expression, whose states are listed once and called: the engine against JavaScript
// and the slow twin, over texts of many scripts and invalid bytes, with caches of any size. TRAWL_TEST_SEED: the
// seed, constant if absent.
// tier: ci (long)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import * as format from '../../core/shared/program.ts';
import { STATUS_BAD_PLAN } from '../../core/shared/status.ts';
import { encodeProgram } from '../../daemon/engine/regex/program.ts';
import { simplify } from '../../daemon/engine/regex/simplify.ts';
import { parseRegex } from '../../daemon/engine/regex/syntax.ts';
import { compileTree } from '../../daemon/engine/regex/thompson.ts';
import { canBeEmpty, spansLines } from '../../daemon/engine/regex/traits.ts';
import type { SimpleTree } from '../../daemon/engine/regex/simple-tree.ts';
import { hasEmptyRounds, rangesInJavaScript } from '../engine/regex/javascript.ts';
import { matchesOf, readTwin, startOf } from '../engine/regex/twin.ts';
import { BUILDS } from './driver.ts';
import { Engine } from './regex-harness.ts';
import { rewrite } from './oracle.ts';
import { SEED } from '../seed.ts';
import { compileRegex } from '../engine/query/at-once.ts';

const raw = String.raw;

/** Letters in and without a case, digits, marks and others, of each size in UTF-8. */
const POINTS = Array.from(
  'aZk9_ .\n\u00e9\u00c9\u00df\u03a3\u03c3\u03c2\u0436\u05d0\u0663\u0905\u0301\u1e9e\u2126\u212a\u017f\u20ac\u65e5\u672c\uac00\uff21\ufffd\u{10400}\u{10428}\u{1d49c}\u{1f600}\u{20000}\u{10ffff}',
);

const SETS = [
  raw`\p{Lu}`,
  raw`\p{Ll}`,
  raw`\p{sc=Greek}`,
  raw`\p{N}`,
  raw`[^\x00-\x7f]`,
  raw`[\p{Lu}\p{Nd}_]`,
  raw`[^\p{sc=Greek}\n]`,
  raw`[\u{3c3}-\u{10428}]`,
  '.',
];

const REPEATS = ['{4}', '{7}', '{1,5}', '{0,6}?', '{4,}', '{2,9}', '+', '*', '{5,}?'];

const patterns = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.tuple(fc.constantFrom(...SETS), fc.constantFrom(...REPEATS)).map((parts) => parts.join('')),
    fc.constantFrom('a', raw`\w`, '\u{3a3}', '\u{1f600}', raw`\b`, '^', '$', ...SETS),
    fc.array(tie('pattern'), { minLength: 2, maxLength: 4 }).map((parts) => parts.join('')),
    fc
      .array(tie('pattern'), { minLength: 2, maxLength: 3 })
      .map((parts) => `(?:${parts.join('|')})`),
    tie('pattern').map((part) => `(?:${part}){1,4}`),
  ),
})).pattern;

/** Each point stands by itself, or many times. */
const texts = fc
  .array(fc.tuple(fc.constantFrom(...POINTS), fc.constantFrom(1, 1, 1, 5)), { maxLength: 60 })
  .map((runs) => runs.map(([point, count]) => point.repeat(count)).join(''));

/** The pattern as JavaScript writes it is that of RE2, but for code points and scripts. */
function toRe2(pattern: string): string {
  return pattern.replaceAll(raw`\u{`, raw`\x{`).replaceAll('sc=', '');
}

function pairs(ranges: readonly object[]): [number, number][] {
  return ranges.map((range) => {
    assert.ok('start' in range && 'end' in range);
    return [Number(range.start), Number(range.end)];
  });
}

/** The program in which every set beyond ASCII is called. */
function callingProgram(tree: SimpleTree): Uint8Array {
  const automaton = (isReverse: boolean) =>
    compileTree(tree, isReverse, format.PROGRAM_STATES_MAX / 2, Infinity, 0);
  return encodeProgram({
    forward: automaton(false),
    reverse: automaton(true),
    needles: { kind: 'none', texts: [], isFolded: false },
    spansLines: spansLines(tree),
    canBeEmpty: canBeEmpty(tree),
  });
}

function callsOf(program: Uint8Array): number[] {
  const view = new DataView(program.buffer, program.byteOffset);
  const count =
    view.getUint32(format.PROGRAM_FORWARD_COUNT_OFFSET, true) +
    view.getUint32(format.PROGRAM_REVERSE_COUNT_OFFSET, true);
  const rows = Array.from(
    { length: count },
    (_, index) => format.PROGRAM_HEADER_SIZE + index * format.STATE_SIZE,
  );
  return rows.filter(
    (row) => view.getUint32(row + format.STATE_KIND_OFFSET, true) === format.STATE_CALL,
  );
}

/** Where in the program it says what a call or a byte leads to. */
function targetsOf(program: Uint8Array): number[] {
  const view = new DataView(program.buffer, program.byteOffset);
  const word = (offset: number): number => view.getUint32(offset, true);
  const stateCount =
    word(format.PROGRAM_FORWARD_COUNT_OFFSET) + word(format.PROGRAM_REVERSE_COUNT_OFFSET);
  const transitions = format.PROGRAM_HEADER_SIZE + stateCount * format.STATE_SIZE;
  return [
    ...callsOf(program).flatMap((row) => [
      row + format.STATE_FIRST_OFFSET,
      row + format.STATE_COUNT_OFFSET,
    ]),
    ...Array.from(
      { length: word(format.PROGRAM_TRANSITION_COUNT_OFFSET) },
      (_, index) => transitions + index * format.TRANSITION_SIZE + 4,
    ),
  ];
}

function changed(program: Uint8Array, offset: number, value: number): Uint8Array {
  const bytes = Uint8Array.from(program);
  new DataView(bytes.buffer).setUint32(offset, value, true);
  return bytes;
}

const LONG = [
  [raw`\p{L}{50}`, `${'\u65e5\u00e9a\u{10400}'.repeat(20)}.${'x'.repeat(49)}`],
  [raw`\p{L}{1,40}`, `${'\u03c3\u0436'.repeat(50)} ${'\u{20000}'.repeat(7)}`],
  [raw`(?:\p{Lu}\p{Ll}{0,30}){1,20}`, `\u0416${'\u0436'.repeat(30)}`.repeat(25)],
  [raw`[^\x00-\x7f]{1000}`, `${'\u00e9\u65e5\u{1f600}'.repeat(700)}a`],
  [raw`\p{sc=Greek}{1000}`, `${'\u03c3'.repeat(999)}a${'\u03a3'.repeat(1001)}`],
  [raw`.{1000}.{300}x`, `${'\u65e5a'.repeat(800)}${'bx'.repeat(400)}\n${'x'.repeat(1400)}`],
  [raw`\w{1000}`, `${'_'.repeat(999)}\u00e9${'a'.repeat(2100)}`],
  [raw`(?:\p{L}{100}|\p{N}{2,300}|.{999})x`, `${'\u0663'.repeat(280)}x${'\u05d0'.repeat(130)}x`],
  [raw`(?:\p{L}\p{N}?){5,200}\b`, `${'\u65e5\u0663b9'.repeat(90)}c\n${'k'.repeat(300)}`],
] as const;

/** Pieces of texts that are not well-formed, beside those that are. */
const badTexts = fc
  .array(
    fc.oneof(
      fc.constantFrom(...POINTS).map((point) => Buffer.from(point)),
      fc
        .constantFrom([0x80], [0xc3], [0xe2, 0x82], [0xff], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x98])
        .map((bytes) => Buffer.from(bytes)),
    ),
    { maxLength: 40 },
  )
  .map((frames) => Buffer.concat(frames));

const CALLING = raw`(?:[^\x00-\x7f]{2,5}|\p{sc=Greek}{4,6})+.{4,9}`;

for (const build of BUILDS) {
  test(`called sets (${build})`, async (t) => {
    const engine = await Engine.make(build);
    const numRuns = build === 'debug' ? 40 : 160;

    await t.test('random expressions agree with those of JavaScript', () => {
      const counts = { clears: 0, simulations: 0, matches: 0, calls: 0 };
      const samples = fc.array(texts, { minLength: 2, maxLength: 2 });
      const caches = fc.constantFrom([1 << 15, 1 << 15], [4096, 4096], [700, 500]);
      fc.assert(
        fc.property(patterns, fc.boolean(), samples, caches, (pattern, isFolded, both, sizes) => {
          // Why: without regard to case, word borders in JavaScript know the signs that fold to k and s.
          fc.pre(!isFolded || !pattern.includes(raw`\b`));
          const tree = simplify(parseRegex(toRe2(pattern), { isFolded }));
          fc.pre(!hasEmptyRounds(tree));
          const program = callingProgram(tree);
          const expression = new RegExp(pattern, isFolded ? 'gmui' : 'gmu');
          assert.ok(engine.compile(program, [sizes[0], sizes[1]]));
          for (const text of both) {
            const expected = pairs(rangesInJavaScript(expression, text));
            engine.setText(Buffer.from(text));
            assert.deepEqual(engine.find(), expected);
            assert.equal(engine.count(), expected.length);
            assert.deepEqual(engine.simulate(), expected);
            counts.matches += expected.length;
          }
          counts.calls += callsOf(program).length;
          counts.clears += engine.clearCount;
          counts.simulations += engine.simulationCount;
        }),
        { numRuns, seed: SEED },
      );
      for (const count of Object.values(counts)) assert.ok(count > 20, JSON.stringify(counts));
    });

    await t.test('long repeats are found, in both cases', () => {
      for (const [pattern, text] of LONG) {
        for (const isFolded of build === 'debug' ? [false] : [false, true]) {
          const { program } = compileRegex(parseRegex(toRe2(pattern), { isFolded }));
          assert.ok(engine.compile(program));
          const expression = new RegExp(pattern, isFolded ? 'gmui' : 'gmu');
          const expected = pairs(rangesInJavaScript(expression, text));
          assert.ok(expected.length > 0, pattern);
          engine.setText(Buffer.from(text));
          assert.deepEqual(engine.find(), expected, pattern);
          assert.equal(engine.count(), expected.length, pattern);
        }
      }
    });

    await t.test('windows and invalid bytes agree with the slow twin', () => {
      const program = callingProgram(simplify(parseRegex(toRe2(CALLING))));
      assert.ok(callsOf(program).length > 4);
      const twin = readTwin(program);
      fc.assert(
        fc.property(badTexts, fc.nat(40), (text, position) => {
          const { valid, offsets } = rewrite(text);
          const start = offsets.indexOf(offsets[Math.min(position, offsets.length - 1)]!);
          const found = matchesOf(twin, valid.subarray(start));
          const expected = found.map((match) => [
            offsets[start + match.start]!,
            offsets[start + match.end]!,
          ]);
          for (const match of found)
            assert.equal(startOf(twin, valid.subarray(start), match.from, match.end), match.start);
          assert.ok(engine.compile(program));
          engine.setText(text);
          assert.deepEqual(engine.find(offsets[start]), expected);
          assert.equal(engine.count(offsets[start]), expected.length);
          assert.deepEqual(engine.simulate(offsets[start]), expected);
        }),
        { numRuns, seed: SEED },
      );
    });

    await t.test('invalid calls are refused or harmless', () => {
      const program = callingProgram(simplify(parseRegex(toRe2(CALLING))));
      const { forward, reverse } = readTwin(program);
      const calls = callsOf(program);
      const refused = (offset: number, value: number): void => {
        assert.equal(engine.compile(changed(program, offset, value)), false);
        assert.equal(engine.status, STATUS_BAD_PLAN);
      };
      refused(calls[0]! + format.STATE_FIRST_OFFSET, forward.states.length);
      refused(calls[0]! + format.STATE_COUNT_OFFSET, forward.states.length);
      // The match is not a set, nor is the state after a call.
      refused(calls[0]! + format.STATE_COUNT_OFFSET, 0);
      const text = Buffer.from('\u03c3\u03a3\u65e5\u{1f600}\u00e9'.repeat(200));
      let acceptedCount = 0;
      const change = fc.tuple(
        fc.constantFrom(...targetsOf(program)),
        fc.nat(Math.min(forward.states.length, reverse.states.length) - 1),
      );
      fc.assert(
        fc.property(fc.array(change, { minLength: 1, maxLength: 6 }), (changes) => {
          const lying = changes.reduce(
            (bytes, [offset, value]) => changed(bytes, offset, value),
            program,
          );
          if (!engine.compile(lying, [1 << 14, 1 << 14])) return;
          acceptedCount++;
          engine.setText(text);
          for (const [start, end] of engine.find())
            assert.ok(start >= 0 && start < end && end <= text.length);
          engine.count();
          engine.test();
        }),
        { numRuns: numRuns * 4, seed: SEED },
      );
      assert.ok(acceptedCount > numRuns / 4, String(acceptedCount));
    });
  });
}
