// `stats` of searches with regular expressions, on docs where every line is a block, so that the blocks read follow
// from the bytes: S11 and S12 of API.md 7.3, and exact figures.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import { Engine } from '../engine/host/harness.ts';

/** Larger than any block of several lines. */
const LINE_SIZE = 20_000;

const line = (text: string): string => text.padEnd(LINE_SIZE - 1, '.') + '\n';
const DOCS = {
  'one.txt': ['red plum', 'plain', 'needle42', 'foo', 'bar needles', 'plain'],
  'two.txt': ['needless', 'foo', 'plain', 'bar', 'x', 'y'],
  'three.txt': ['plain', 'plain', 'plain', 'plain', 'plain', 'plain'],
  'four.txt': ['foo1 bar', 'foo1', 'bar', 'needle7', 'zzz', 'zzz'],
};

/** Ranges, candidate blocks, blocks read, runs of the engine. */
type Figures = readonly [matches: number, candidates: number, blocks: number, runs: number];

const CONDITIONED: readonly (readonly [query: string, figures: Figures])[] = [
  ['needle', [4, 4, 4, 0]],
  ['(needle|plum)', [5, 5, 5, 0]],
  [String.raw`needle\d+`, [2, 4, 4, 4]],
  [String.raw`^needle\d+`, [2, 4, 4, 4]],
  [String.raw`needl[^\n]*zzz`, [0, 0, 0, 0]],
  [String.raw`(needle\d+|foo\w|absent)`, [4, 8, 8, 8]],
  [String.raw`(needle\d|foo\d|absent)`, [4, 4, 4, 0]],
  [String.raw`foo\.+\nbar`, [1, 12, 4, 2]],
  [String.raw`foo1[^x]+?zzz`, [1, 6, 5, 2]],
  ['"foo1 bar" needle', [2, 2, 2, 0]],
  [String.raw`foo\d -(needle\d)`, [0, 3, 1, 0]],
];

void test('S11: no more blocks are read than the trigrams allow', async (t) => {
  await using engine = await engineOver(DOCS);
  for (const [query, figures] of CONDITIONED) {
    await t.test(query, async () => {
      const { stats } = await engine.search(query, { isRegexEnabled: true });
      const blocks = stats['contentBytesLoaded']! / LINE_SIZE;
      assert.ok(blocks <= stats['ngramMatches']!, 'S11');
      const found = [stats['totalMatchCount'], stats['ngramMatches'], blocks];
      assert.deepEqual([...found, stats['regexpsConsidered']], figures);
    });
  }
});

const WITHOUT_ENGINE = [
  'needle',
  '"red plum"',
  '(needle|plum)',
  String.raw`fo{2}[12]`,
  '[fb][oa][or]',
  String.raw`(?i)NEEDLE\.`,
  String.raw`file:\.txt$ plum`,
  'file:(one|four) foo',
  'repo:re.*o foo',
  'repo:^host/ -(plum)',
  '-() or zzz',
  // Matches of these can overlap, so that the engine looks for them; they are literals all the same.
  '(needle|les42)',
  String.raw`(foo|oo1|o1\.)`,
  String.raw`file:(one|ne\.txt|e\.t)`,
  // These hold for every path.
  'file:.*',
  'file:^x? plum',
  '-file:.*',
];

void test('S12: queries without need for the engine do not run it', async () => {
  await using engine = await engineOver(DOCS);
  for (const query of WITHOUT_ENGINE) {
    for (const isCaseSensitivityEnabled of [true, false]) {
      const { stats } = await engine.search(query, {
        isRegexEnabled: true,
        isCaseSensitivityEnabled,
      });
      assert.equal(stats['regexpsConsidered'], 0, query);
    }
  }
  const { stats } = await engine.search('file:[a-z]+e.*txt', {});
  assert.equal(stats['regexpsConsidered'], Object.keys(DOCS).length);
  // Letters of two kinds are no choice of literals.
  const mixed = await engine.search('(?i:N)eedle', {
    isRegexEnabled: true,
    isCaseSensitivityEnabled: true,
  });
  assert.equal(mixed.stats['regexpsConsidered'], 4);
});

function engineOver(docs: Readonly<Record<string, readonly string[]>>): Promise<Engine> {
  return Engine.over(
    Object.entries(docs).map(([path, lines]) => ({
      path,
      bytes: Buffer.from(lines.map(line).join('')),
    })),
  );
}
