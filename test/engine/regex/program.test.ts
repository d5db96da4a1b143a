// Programs, run by their slow twin, against the definition: all small expressions on all short texts. On the
// way: the reverse automaton finds the start; every match satisfies condition and needles; the flags are
// exact.

import assert from 'node:assert/strict';
import test from 'node:test';
import { printRegex } from '../../../daemon/engine/regex/print.ts';
import type { RegexTree } from '../../../daemon/engine/regex/tree.ts';
import { decodeText } from '../../core/oracle.ts';
import { build, endsOf, matchesOf as matchesByDefinition } from '../../oracle/expressions.ts';
import { checkMatch } from './check-match.ts';
import { textsUpTo, treesOf } from './small-trees.ts';
import { matchesOf, readTwin, startOf } from './twin.ts';
import { compileRegex } from '../query/at-once.ts';

/** Compares on all `texts`; returns how many matches there were. */
function compare(tree: RegexTree, texts: readonly string[]): number {
  const compiled = compileRegex(tree);
  const twin = readTwin(compiled.program);
  const definition = build(tree);
  let matchCount = 0;
  for (const text of texts) {
    const bytes = Buffer.from(text);
    const found = matchesOf(twin, bytes);
    const context = `${printRegex(tree)} on ${JSON.stringify(text)}`;
    const expected = matchesByDefinition(definition, decodeText(bytes));
    const ranges = found.map(({ start, end }) => ({ start, end }));
    assert.deepEqual(ranges, expected, context);
    for (const { start, end, from } of found) {
      assert.equal(startOf(twin, bytes, from, end), start, context);
      checkMatch(compiled, twin, text.slice(start, end), context);
    }
    matchCount += found.length;
  }
  return matchCount;
}

function hasAssertions(tree: RegexTree): boolean {
  if (tree.kind === 'repeat') return hasAssertions(tree.child);
  if (tree.kind === 'sequence' || tree.kind === 'choice') return tree.children.some(hasAssertions);
  return tree.kind === 'assertion';
}

/** Compares the flags with what all ways of matching all `texts` show. */
function compareFlags(tree: RegexTree, texts: readonly string[]): void {
  const { canBeEmpty, spansLines } = compileRegex(tree);
  const definition = build(tree);
  const matched = new Set<string>();
  for (const text of texts) {
    const points = decodeText(Buffer.from(text));
    for (let start = 0; start <= text.length; start++) {
      for (const end of endsOf(definition, points, start)) matched.add(text.slice(start, end));
    }
  }
  const isSpanning = [...matched].some((text) => /\n[^]/.test(text));
  assert.equal(canBeEmpty, matched.has(''), `empty: ${printRegex(tree)}`);
  if (!hasAssertions(tree)) assert.equal(spansLines, isSpanning, `spans: ${printRegex(tree)}`);
  else assert.ok(spansLines || !isSpanning, `spans: ${printRegex(tree)}`);
}

for (const [size, lengthMax] of [
  [1, 5],
  [2, 5],
  [3, 4],
  [4, 3],
] as const) {
  test(`all expressions of ${size} nodes on all texts of up to ${lengthMax} characters`, () => {
    const texts = textsUpTo(lengthMax);
    let matchCount = 0;
    for (const tree of treesOf(size)) matchCount += compare(tree, texts);
    assert.ok(matchCount > 100 * size);
  });
}

const isLong = Number(process.env['TRAWL_FUZZ_RUNS'] ?? 0) > 0;

test('all expressions of 5 nodes', { skip: !isLong }, () => {
  const texts = textsUpTo(3);
  for (const tree of treesOf(5)) compare(tree, texts);
});

test('flags agree with the matches', () => {
  const texts = textsUpTo(4);
  for (const size of [1, 2, 3]) {
    for (const tree of treesOf(size)) compareFlags(tree, texts);
  }
});
