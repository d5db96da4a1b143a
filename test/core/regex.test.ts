// The engine of regular expressions: DFA, simulation and the definition agree on all small expressions and
// texts, with caches of any size; random larger ones agree with the expressions of JavaScript.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { BUILDS } from './driver.ts';
import { Engine } from './regex-harness.ts';
import {
  choice,
  concat,
  literal,
  makeAutomaton,
  matchesAnywhere,
  matchesOf,
  programOf,
  range,
  repeat,
  toJavaScript,
  type Automaton,
  type Tree,
} from './regex-program.ts';
import { LEAVES, treeArbitrary, wideTreeArbitrary } from './regex-trees.ts';

function treesOf(size: number): readonly Tree[] {
  if (size === 1) return LEAVES;
  const trees: Tree[] = [];
  for (const child of treesOf(size - 1)) {
    for (const sign of ['*', '+', '?'] as const) {
      trees.push(repeat(child, sign), repeat(child, sign, true));
    }
  }
  for (let leftSize = 1; leftSize < size - 1; leftSize++) {
    for (const a of treesOf(leftSize)) {
      for (const b of treesOf(size - 1 - leftSize)) trees.push(concat(a, b), choice(a, b));
    }
  }
  return trees;
}

/** All texts of up to `size` of the letters. */
function textsOf(size: number, alphabet: readonly number[]): readonly Uint8Array[] {
  let last: readonly (readonly number[])[] = [[]];
  const all = [...last];
  for (let i = 0; i < size; i++) {
    last = last.flatMap((text) => alphabet.map((code) => [...text, code]));
    all.push(...last);
  }
  return all.map((text) => Uint8Array.from(text));
}

/** Nodes of all expressions, letters of all texts. */
const SMALL_PLANS = [
  [1, 4],
  [2, 4],
  [3, 3],
] as const;
const LARGE_PLANS = [
  [1, 5],
  [2, 5],
  [3, 5],
  [4, 4],
] as const;
const ALPHABET = [0x61, 0x62, 0x0a];

/** Compares all ways to search one text with the definition. */
function compare(engine: Engine, automaton: Automaton, text: Uint8Array, name: () => string): void {
  const reference = matchesOf(automaton, text);
  const same = (found: unknown, what: string, expected: unknown = reference): void => {
    if (JSON.stringify(found) === JSON.stringify(expected)) return;
    assert.deepEqual(
      found,
      expected,
      `${what}: ${name()} in ${JSON.stringify(Buffer.from(text).toString())}`,
    );
  };
  engine.setText(text, text.length % 3);
  same(engine.find(), 'find');
  same(engine.count(), 'count', reference.length);
  same(engine.simulate(), 'simulate');
  same(engine.test(), 'test', matchesAnywhere(automaton, text));
}

const textArbitrary = fc
  .array(fc.constantFrom(...Buffer.from('aaabbc_ .\n')), { maxLength: 60 })
  .map((bytes) => Uint8Array.from(bytes));

function matchesInJavaScript(tree: Tree, text: Uint8Array): [number, number][] {
  const all = Buffer.from(text)
    .toString('latin1')
    .matchAll(new RegExp(toJavaScript(tree), 'gm'));
  return Array.from(all, (match): [number, number] => [
    match.index,
    match.index + match[0].length,
  ]).filter(([start, end]) => end > start);
}

for (const build of BUILDS) {
  test(`regex (${build})`, async (t) => {
    const engine = await Engine.make(build);
    const isDebug = build === 'debug';

    await t.test('all small expressions agree with the definition on all small texts', () => {
      const plans = isDebug ? SMALL_PLANS : LARGE_PLANS;
      for (const [size, textSize] of plans) {
        const texts = textsOf(textSize, ALPHABET);
        for (const tree of treesOf(size)) {
          const automaton = makeAutomaton(tree, false);
          assert.ok(engine.compile(programOf(tree)));
          for (const text of texts) compare(engine, automaton, text, () => toJavaScript(tree));
        }
      }
    });

    await t.test('random expressions agree with those of JavaScript, whatever the caches', () => {
      let clearCount = 0;
      let simulationCount = 0;
      const texts = fc.array(textArbitrary, { minLength: 3, maxLength: 3 });
      const caches = fc.constantFrom([1 << 14, 1 << 14], [2048, 2048], [700, 500], [64, 64]);
      fc.assert(
        fc.property(treeArbitrary, texts, caches, (tree, samples, sizes) => {
          assert.ok(engine.compile(programOf(tree), [sizes[0], sizes[1]]));
          for (const text of samples) {
            const expected = matchesInJavaScript(tree, text);
            engine.setText(text);
            assert.deepEqual(engine.find(), expected);
            assert.equal(engine.count(), expected.length);
            assert.deepEqual(engine.simulate(), expected);
          }
          clearCount += engine.clearCount;
          simulationCount += engine.simulationCount;
        }),
        { numRuns: isDebug ? 250 : 2500 },
      );
      assert.ok(clearCount > 0 && simulationCount > 0);
    });

    await t.test('wide repeats agree with those of JavaScript, whatever the caches', () => {
      let matchCount = 0;
      const texts = fc
        .array(fc.constantFrom(...Buffer.from('aaaaaaaabbbc_\n')), {
          minLength: 100,
          maxLength: 400,
        })
        .map((bytes) => Uint8Array.from(bytes));
      const caches = fc.constantFrom(undefined, [1 << 15, 1 << 14], [4096, 4096], [700, 500]);
      fc.assert(
        fc.property(wideTreeArbitrary, texts, caches, (tree, text, sizes) => {
          assert.ok(engine.compile(programOf(tree), sizes && [sizes[0], sizes[1]]));
          const expected = matchesInJavaScript(tree, text);
          engine.setText(text);
          assert.deepEqual(engine.find(), expected);
          assert.equal(engine.count(), expected.length);
          assert.deepEqual(engine.simulate(), expected);
          matchCount += expected.length;
        }),
        { numRuns: isDebug ? 100 : 1000 },
      );
      assert.ok(matchCount > 100);
    });

    await t.test('a thread at every byte leaves the cache sufficient', () => {
      // 999 copies and an x: a list of all threads of each state would take megabytes.
      const copies = Array.from({ length: 999 }, () => range(0x20, 0x7e));
      const tree = concat(...copies, literal('x'));
      const text = new Uint8Array(isDebug ? 4000 : 40_000).fill(0x61);
      for (let i = 0; i < text.length; i += 700) text[i] = 0x78;
      for (let i = 3500; i < text.length; i += 6000) text[i] = 0x0a;
      assert.ok(engine.compile(programOf(tree), [1 << 18, 1 << 17]));
      const expected = matchesInJavaScript(tree, text);
      assert.ok(expected.length > 1);
      engine.setText(text);
      assert.deepEqual(engine.find(), expected);
      assert.equal(engine.count(), expected.length);
      assert.equal(engine.clearCount, 0);
    });
  });
}
