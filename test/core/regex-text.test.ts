// The regular expression engine over texts: windows, needles, invalid bytes, useless caches, and many matches in
// linear time. TRAWL_TEST_SEED: the seed, constant if absent.
// tier: ci (long)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { NEEDLES_INNER, NEEDLES_PREFIX, PROGRAM_SPANS_LINES } from '../../core/shared/program.ts';
import { BUILDS } from './driver.ts';
import { rewrite } from './oracle.ts';
import { Engine, LOCATIONS_SIZE } from './regex-harness.ts';
import {
  choice,
  concat,
  encodeProgram,
  literal,
  makeAutomaton,
  matchAt,
  matchesAnywhere,
  matchesOf,
  programOf,
  range,
  readsNewlines,
  repeat,
  type Needles,
  type Tree,
} from './regex-program.ts';
import { lineTreeArbitrary, treeArbitrary } from './regex-trees.ts';
import { SEED } from '../seed.ts';

const encoder = new TextEncoder();
const NEWLINE = 10;
const ANY_TEXT = 3;
const NOT_NEWLINE: Tree = {
  kind: 'bytes',
  ranges: [
    [0, 9],
    [11, 127],
  ],
};
const CONTINUATION = range(0x80, 0xbf);
/** Any code point but the newline. */
const ANY_POINT = choice(
  NOT_NEWLINE,
  concat(range(0xc2, 0xdf), CONTINUATION),
  concat(range(0xe0, 0xe0), range(0xa0, 0xbf), CONTINUATION),
  concat(range(0xe1, 0xec), CONTINUATION, CONTINUATION),
  concat(range(0xed, 0xed), range(0x80, 0x9f), CONTINUATION),
  concat(range(0xee, 0xef), CONTINUATION, CONTINUATION),
  concat(range(0xf0, 0xf0), range(0x90, 0xbf), CONTINUATION, CONTINUATION),
  concat(range(0xf1, 0xf3), CONTINUATION, CONTINUATION, CONTINUATION),
  concat(range(0xf4, 0xf4), range(0x80, 0x8f), CONTINUATION, CONTINUATION),
);

function bytesArbitrary(alphabet: string, maxLength: number): fc.Arbitrary<Uint8Array> {
  return fc
    .array(fc.constantFrom(...encoder.encode(alphabet)), { maxLength })
    .map((bytes) => Uint8Array.from(bytes));
}

/** The first line start or line end at or after `at`. */
function lineBorder(text: Uint8Array, at: number): number {
  if (at === 0) return 0;
  const newline = text.indexOf(NEWLINE, at - 1);
  return newline < 0 ? text.length : newline + 1;
}

/** Texts of code points of any size and of bad bytes. */
const badTexts = fc
  .array(
    fc.constantFrom(
      ...['a', 'b', '\n', '\u00e9', '\u65e5', '\u{1f600}', '\ufffd'].map((point) => [
        ...encoder.encode(point),
      ]),
      [0x80],
      [0xc3],
      [0xe2, 0x82],
      [0xff],
      [0xed, 0xa0, 0x80],
      [0xf0, 0x9f, 0x98],
    ),
    { maxLength: 40 },
  )
  .map((frames) => Uint8Array.from(frames.flat()));

const PREFERS_EMPTY = repeat(ANY_POINT, '*', true);
const POINT_TREES = [
  literal('\ufffd'),
  literal('\u00e9'),
  ANY_POINT,
  concat(ANY_POINT, literal('a')),
  repeat(ANY_POINT, '+'),
  concat(literal('b'), repeat(ANY_POINT, '*', true), literal('\ufffd')),
  concat({ kind: 'assert', assert: 6 }, ANY_POINT, { kind: 'assert', assert: 2 }),
  concat(literal('a'), choice(ANY_POINT, literal('\n')), repeat(ANY_POINT, '?')),
  PREFERS_EMPTY,
];

/** Ranges of a rewritten text as ranges of the text. */
function inText(offsets: readonly number[], matches: readonly [number, number][]): number[][] {
  return matches.map(([start, end]) => [offsets[start]!, offsets[end]!]);
}

for (const build of BUILDS) {
  test(`regex on texts (${build})`, async (t) => {
    const engine = await Engine.make(build);
    const numRuns = build === 'debug' ? 200 : 2000;

    await t.test('a window holds the matches that start in it', () => {
      const text = bytesArbitrary('aaabbc_ .\n', 60);
      const position = fc.nat(60);
      const caches = fc.constantFrom([1 << 14, 1 << 14], [700, 500]);
      fc.assert(
        fc.property(treeArbitrary, text, position, position, caches, (tree, bytes, a, b, sizes) => {
          assert.ok(engine.compile(programOf(tree), [sizes[0], sizes[1]]));
          engine.setText(bytes);
          const spans = readsNewlines(tree);
          const borders = [a, b].map((at) => Math.min(at, bytes.length)).sort((x, y) => x - y);
          const from = borders[0]!;
          const until = spans ? borders[1]! : lineBorder(bytes, borders[1]!);
          const expected = matchesOf(makeAutomaton(tree, false), bytes, from, until);
          assert.deepEqual(engine.find(from, until), expected);
          assert.equal(engine.count(from, until), expected.length);
          if (spans) assert.deepEqual(engine.simulate(from, until), expected);
        }),
        { numRuns, seed: SEED },
      );
    });

    await t.test('needles do not change results', () => {
      const prefixes = fc.constantFrom(['ab'], ['b'], ['ab', 'ca'], ['a', 'bc', 'aab']);
      const isInner = fc.boolean();
      const text = bytesArbitrary('aabbc_ .\n\n', 200);
      fc.assert(
        fc.property(
          treeArbitrary,
          treeArbitrary,
          prefixes,
          isInner,
          text,
          (head, tail, literals, inner, bytes) => {
            const middle = choice(...literals.map(literal));
            const tree = inner ? concat(head, middle, tail) : concat(middle, tail);
            const needles: Needles = { kind: inner ? NEEDLES_INNER : NEEDLES_PREFIX, literals };
            assert.ok(engine.compile(programOf(tree, needles)));
            engine.setText(bytes);
            const expected = matchesOf(makeAutomaton(tree, false), bytes);
            assert.deepEqual(engine.find(), expected);
            assert.equal(engine.count(), expected.length);
            const middleLine = lineBorder(bytes, Math.min(bytes.length, 100));
            const first = matchesOf(makeAutomaton(tree, false), bytes, 0, middleLine);
            assert.deepEqual(engine.find(0, middleLine), first);
            assert.equal(engine.count(0, middleLine), first.length);
            // Another walk from the start finds the same as the first.
            assert.deepEqual(engine.find(), expected);
          },
        ),
        { numRuns, seed: SEED },
      );
    });

    await t.test('needles in any case, also outside of ASCII', () => {
      const k = choice(literal('k'), literal('K'), literal('\u212a'));
      const tree = concat(k, repeat(ANY_POINT, '*'), literal('!'));
      const text = encoder.encode('xk!\n\u212abc!?\nK\u00e9!!\nk\n!');
      const expected = matchesOf(makeAutomaton(tree, false), text);
      assert.equal(expected.length, 3);
      for (const kind of [NEEDLES_PREFIX, NEEDLES_INNER]) {
        assert.ok(engine.compile(programOf(tree, { kind, literals: ['k'], isFolded: true })));
        engine.setText(text);
        assert.deepEqual(engine.find(), expected);
        assert.equal(engine.count(), expected.length);
      }
    });

    await t.test('invalid bytes are read as U+FFFD where the text can be rewritten', () => {
      fc.assert(
        fc.property(
          fc.constantFrom(...POINT_TREES),
          badTexts,
          fc.nat(40),
          (tree, text, position) => {
            const { valid, offsets } = rewrite(text);
            const automaton = makeAutomaton(tree, false);
            const from = Math.min(position, offsets.length - 1);
            // A search cannot begin within a code point.
            const start = offsets.indexOf(offsets[from]!);
            const expected = inText(offsets, matchesOf(automaton, valid, start));
            assert.ok(engine.compile(programOf(tree)));
            engine.setText(text);
            assert.deepEqual(engine.find(offsets[start]), expected);
            assert.equal(engine.count(offsets[start]), expected.length);
            assert.equal(engine.test(), matchesAnywhere(automaton, valid));
            assert.ok(tree === PREFERS_EMPTY || engine.simulationCount === 0);
            assert.deepEqual(engine.simulate(offsets[start]), expected);
          },
        ),
        { numRuns: numRuns / 10, seed: SEED },
      );
    });

    await t.test('invalid bytes are simulated in place where it cannot', () => {
      const scratchSize = 1024;
      const arenaSize = LOCATIONS_SIZE + 16 * scratchSize;
      fc.assert(
        fc.property(fc.constantFrom(...POINT_TREES), badTexts, (tree, matchStart) => {
          const text = new Uint8Array(matchStart.length + 2 + scratchSize).fill(0x2e);
          text.set(matchStart);
          text.set([0xff, NEWLINE], matchStart.length);
          const { valid, offsets } = rewrite(text);
          const automaton = makeAutomaton(tree, false);
          const expected = inText(offsets, matchesOf(automaton, valid));
          assert.ok(engine.compile(programOf(tree), [4096, 2048], arenaSize));
          engine.setText(text);
          const searches = [
            () => assert.deepEqual(engine.find(), expected),
            () => assert.equal(engine.count(), expected.length),
            () => assert.equal(engine.test(), matchesAnywhere(automaton, valid)),
          ];
          for (const search of searches) {
            const before = engine.simulationCount;
            search();
            // Where the empty text matches, a test is over before.
            const isOver = search === searches[2] && matchAt(automaton, valid, 0) === 0;
            assert.ok(isOver || engine.simulationCount > before);
          }
        }),
        { numRuns: numRuns / 10, seed: SEED },
      );
    });

    await t.test('an exploding DFA falls back to the simulation', () => {
      const letterRange = range(0x61, 0x62);
      const tree = concat(
        literal('a'),
        ...Array.from({ length: 14 }, () => letterRange),
        literal('c'),
      );
      let seed = 1;
      const text = Uint8Array.from({ length: 20000 }, () => {
        seed = (seed * 48271) % 0x7fffffff;
        return seed % 61 === 0 ? 0x63 : 0x61 + (seed & 1);
      });
      assert.ok(engine.compile(programOf(tree), [1 << 14, 1 << 12]));
      engine.setText(text);
      const expected = matchesOf(makeAutomaton(tree, false), text);
      assert.ok(expected.length > 10);
      assert.deepEqual(engine.find(), expected);
      assert.equal(engine.count(), expected.length);
      assert.ok(engine.clearCount >= 3 && engine.simulationCount > 0);
    });

    await t.test('many matches on one long line have the expected cost', () => {
      // Quadratic work would take minutes here.
      const size = build === 'debug' ? 100_000 : 900_000;
      const text = new Uint8Array(size).fill(0x61);
      for (let i = 2; i < size; i += 3) text[i] = 0x62;
      const tree = concat(literal('a'), repeat(literal('a'), '*'), literal('b'));
      for (const kind of [NEEDLES_PREFIX, NEEDLES_INNER]) {
        assert.ok(engine.compile(programOf(tree, { kind, literals: ['a'] })));
        engine.setText(text);
        assert.equal(engine.find().length, Math.floor(size / 3));
        assert.equal(engine.count(), Math.floor(size / 3));
      }
      // Without needles, where two scans at once are tried.
      assert.ok(engine.compile(programOf(tree)));
      engine.setText(text);
      assert.equal(engine.count(), Math.floor(size / 3));
    });

    await t.test('failed look-ahead behind every match stays linear', (part) => {
      // z(?:.*q)?: behind each z the whole line would be read for a q.
      const size = 60_000;
      // Some 300 times it is asked whether to go on; quadratic work is stopped, and then not counted.
      let questionCount = 0;
      engine.core.isStopRequested = () => ++questionCount > 1000;
      part.after(() => {
        engine.core.isStopRequested = () => false;
        engine.core.exports.beginWork();
      });
      const text = new Uint8Array(size).fill(0x7a);
      const rest = concat(repeat(range(0x0b, 127), '*'), literal('q'));
      const program = programOf(concat(literal('z'), repeat(rest, '?')));
      // By the careful DFA, and by the simulation.
      for (const caches of [undefined, [128, 128]] as const) {
        assert.ok(engine.compile(program, caches));
        text.fill(0x7a);
        engine.setText(text);
        assert.equal(engine.count(), size);
        assert.equal(engine.find().length, size);
        assert.equal(engine.simulationCount > 0, caches !== undefined);
        // A q in the middle: the first match takes all up to it.
        text[size >> 1] = 0x71;
        engine.setText(text);
        const behind = size - (size >> 1) - 1;
        assert.equal(engine.count(), 1 + behind);
        assert.deepEqual(engine.find()[0], [0, (size >> 1) + 1]);
      }
      assert.equal(engine.core.exports.isStopped(), 0);
    });

    await t.test('where look-ahead failed in one text says nothing of the next', () => {
      // Both are rewritten, to the same place.
      const size = 60_000;
      const bytes = new Uint8Array(2 * size).fill(0x7a);
      bytes[0] = bytes[size] = 0xff;
      bytes[size + 40_000] = NEWLINE;
      bytes[size + 50_000] = 0x71;
      const rest = concat(repeat(range(0x0b, 127), '*'), literal('q'));
      const { exports } = engine.core;
      for (const caches of [undefined, [128, 128]] as const) {
        assert.ok(engine.compile(programOf(concat(literal('z'), repeat(rest, '?'))), caches));
        const { start } = engine.locationText(bytes);
        exports.forgetRegexTexts();
        const counts = [0, size].map((at) => {
          const [from, end] = [start + at, start + at + size];
          exports.beginRegexText(engine.regex, from, end, ANY_TEXT);
          return exports.countRegex(engine.regex, from, end);
        });
        assert.deepEqual(counts, [size - 1, 39_999 + 1 + 9_999]);
      }
    });

    await t.test('remembered look-ahead does not change results', () => {
      const dots = repeat(range(0x0b, 127), '*');
      const tails = fc.constantFrom(
        concat(dots, literal('q')),
        concat(dots, literal('q'), dots, literal('r')),
        concat(dots, choice(literal('qa'), literal('rr'))),
        choice(concat(literal('a'), dots, literal('q')), concat(literal('b'), dots, literal('r'))),
        concat(literal('a'), repeat(range(0x61, 0x62), '*'), literal('q')),
      );
      const runs = fc.array(
        fc.tuple(
          fc.constantFrom('a', 'b', 'ab', 'q', 'r', 'c.', '\n'),
          fc.integer({ min: 1, max: 60 }),
        ),
        { minLength: 5, maxLength: 40 },
      );
      fc.assert(
        fc.property(lineTreeArbitrary, tails, runs, fc.boolean(), (head, tail, parts, isSmall) => {
          const tree = concat(head, repeat(tail, '?'));
          const text = parts.map(([unit, count]) => unit.repeat('qr\n'.includes(unit) ? 1 : count));
          const bytes = encoder.encode(text.join(''));
          const sizes = isSmall ? ([128, 128] as const) : undefined;
          assert.ok(engine.compile(programOf(tree), sizes));
          engine.setText(bytes);
          const expected = matchesOf(makeAutomaton(tree, false), bytes, 0);
          assert.deepEqual(engine.find(), expected);
          assert.equal(engine.count(), expected.length);
          assert.deepEqual(engine.simulate(), expected);
        }),
        { numRuns: numRuns / 4, seed: SEED },
      );
    });

    await t.test('a stopped search ends, without effect on the next one', () => {
      const size = build === 'debug' ? 20_000 : 100_000;
      const rest = concat(repeat(range(0x0b, 127), '*'), literal('q'));
      const many = Array.from({ length: 200 }, () => range(0x61, 0x7a));
      // One for the simulation, one for the careful DFA, one for a DFA that makes states all the time.
      const trees = [
        concat(...many, repeat(range(0x61, 0x7a), '*', true)),
        concat(literal('z'), repeat(rest, '?')),
      ];
      const text = Uint8Array.from({ length: size }, (_, i) =>
        i % 7 === 0 ? 0x7a : 0x79 - (i % 5),
      );
      for (const tree of [...trees, choice(...trees)]) {
        assert.ok(engine.compile(programOf(tree), [1 << 12, 1 << 12]));
        engine.setText(text);
        const found = engine.find();
        assert.ok(found.length > 0);
        let questionCount = 0;
        for (let questionMax = 0; ; questionMax = questionMax * 2 + 1) {
          questionCount = 0;
          engine.core.isStopRequested = () => ++questionCount > questionMax;
          engine.core.exports.beginWork();
          engine.setText(text);
          const some = engine.count();
          engine.core.isStopRequested = () => false;
          if (engine.core.exports.isStopped() === 0) {
            assert.equal(some, found.length);
            break;
          }
          assert.equal(questionCount, questionMax + 1);
          assert.ok(some <= found.length);
          engine.core.exports.beginWork();
          engine.setText(text);
          assert.deepEqual(engine.find(), found);
        }
        assert.ok(tree === trees[1] || questionCount > 0);
      }
    });

    await t.test('two scans at once do not change results', () => {
      // Long enough to be cut in halves, with few places where anything matches. Why no newlines: two scans take no
      // expression that spans lines, and the definition may read on from each byte to the end, in minutes.
      const lines = fc.array(
        fc.constantFrom('...', '. . .', '_', 'ab', '..c', '', '.'.repeat(90)),
        { minLength: 200, maxLength: 700 },
      );
      const caches = fc.constantFrom([1 << 14, 1 << 14], [700, 500]);
      const border = fc.nat(3000);
      fc.assert(
        fc.property(lineTreeArbitrary, lines, caches, border, (tree, texts, sizes, at) => {
          const bytes = encoder.encode(texts.join('\n'));
          assert.ok(engine.compile(programOf(tree), [sizes[0], sizes[1]]));
          engine.setText(bytes);
          const from = Math.min(at, bytes.length);
          const expected = matchesOf(makeAutomaton(tree, false), bytes, from);
          assert.deepEqual(engine.find(from), expected);
          assert.equal(engine.count(from), expected.length);
        }),
        { numRuns: numRuns / 4, seed: SEED },
      );
    });

    await t.test('a match at each border of the halves is found', () => {
      const tree = concat(literal('a'), repeat(literal('b'), '*'), literal('c'));
      assert.ok(engine.compile(programOf(tree)));
      const lineSize = 100;
      const count = 60;
      for (let line = 0; line < count; line++) {
        for (const column of [0, 50, lineSize - 4]) {
          const bytes = new Uint8Array(lineSize * count).fill(0x2e);
          for (let i = 1; i <= count; i++) bytes[i * lineSize - 1] = NEWLINE;
          const at = line * lineSize + column;
          bytes.set(encoder.encode('abc'), at);
          engine.setText(bytes);
          assert.deepEqual(engine.find(), [[at, at + 3]]);
          assert.equal(engine.count(), 1);
        }
      }
    });

    await t.test('a match on a line without a near end, and one after it, are found', () => {
      // What two scans at once look at: up to 8 KiB each, and up to 32 KiB behind that for the end of a line.
      const tree = concat(literal('a'), repeat(literal('b'), '*'), literal('c'));
      assert.ok(engine.compile(programOf(tree)));
      const ends = [-2, -1, 0, 1, 2, 20_000].map((more) => 8192 + 32_768 + more);
      for (const [lineEnd, isTurned] of ends.flatMap(
        (end) =>
          [
            [end, false],
            [end, true],
          ] as const,
      )) {
        for (const at of [
          0,
          8190,
          8192,
          16_384,
          lineEnd - 4,
          lineEnd,
          lineEnd + 1,
          lineEnd + 900,
        ]) {
          const bytes = new Uint8Array(lineEnd + 20_000).fill(0x2e);
          for (let i = lineEnd; i < bytes.length; i += 700) bytes[i] = NEWLINE;
          // Or short lines first: then the half that begins behind them has no end.
          if (isTurned) bytes.reverse();
          bytes.set(encoder.encode('abc'), at);
          engine.setText(bytes);
          assert.deepEqual(engine.find(), [[at, at + 3]], `${lineEnd} ${at}`);
          assert.equal(engine.count(), 1);
        }
      }
    });

    await t.test('a match over several lines is found beyond the window', () => {
      const tree = concat(literal('a'), repeat(range(0, 127), '*', true), literal('z'));
      const forward = makeAutomaton(tree, false);
      const program = encodeProgram(forward, makeAutomaton(tree, true), PROGRAM_SPANS_LINES, {
        kind: NEEDLES_INNER,
        literals: ['z'],
      });
      assert.ok(engine.compile(program));
      engine.setText(encoder.encode('.a.\n\n.z.\naz'));
      // The search continues after the match, which is beyond the window.
      assert.deepEqual(engine.find(0, 4), [[1, 7]]);
      assert.equal(engine.count(0, 4), 1);
      assert.deepEqual(engine.find(9, 4), []);
      assert.equal(engine.count(9, 4), 0);
      assert.deepEqual(engine.find(4, 9), []);
      assert.deepEqual(engine.find(), [
        [1, 7],
        [9, 11],
      ]);
    });
  });
}
