// The engine against the slow search (brute-force.ts): random corpora in several repos and shards, random
// queries, both builds of the core; every text of a small world; a worked example of the numbers.
// TRAWL_FUZZ_RUNS: number of corpora; TRAWL_TEST_SEED: the seed, which is printed.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { type Build, buildFromDisk, Engine, type TestDoc } from '../engine/host/harness.ts';
import { parseRegex } from '../../daemon/engine/regex/syntax.ts';
import { checkAnswer, checkBest } from './compare.ts';
import type { OracleDoc } from './scores.ts';
import { REPO_NAMES } from './corpora.ts';
import { caseArbitrary, checkCase, REPOS } from './random-case.ts';
import { SEED } from '../seed.ts';

const raw = String.raw;
const RUNS = Number(process.env['TRAWL_FUZZ_RUNS'] ?? 12);
/** Bounds the search for a smaller case after a failure; the runs themselves take a fraction of it. */
const TIME_MAX_MS = process.env['TRAWL_FUZZ_RUNS'] === undefined ? 120_000 : 3_600_000;
for (const build of ['debug', 'release'] as const satisfies readonly Build[]) {
  void test(`random queries over random corpora, ${build}, seed ${SEED}`, async () => {
    await using engine = await Engine.open({}, build);
    let caseCount = 0;
    let regexRunCount = 0;
    let comparedCount = 0;
    const property = fc.asyncProperty(caseArbitrary, async (randomCase) => {
      caseCount++;
      const counts = await checkCase(engine, randomCase);
      regexRunCount += counts.regexRunCount;
      comparedCount += counts.comparedCount;
    });
    await fc.assert(property, {
      numRuns: build === 'debug' ? Math.ceil(RUNS / 2) : RUNS,
      seed: SEED,
      interruptAfterTimeLimit: TIME_MAX_MS,
    });
    assert.ok(
      regexRunCount > 8 * caseCount,
      `${regexRunCount} runs of the regular expression engine`,
    );
    assert.ok(comparedCount > caseCount / 2, `S13 was checked for ${comparedCount} expressions`);
  });
}

void test('found by fuzzing: a path with only an empty match has no points', async () => {
  const docs = ['a/b/x', 'x', 'Test/kK/\u{17f}et.txt', '\u{17f}et', '\u{65e5}.py'].map(
    (path, tier) => ({
      path,
      bytes: Buffer.from('b\n'),
      language: '',
      repo: REPO_NAMES[0]!,
      tier: tier % 2,
    }),
  );
  await using engine = await Engine.open();
  engine.publish([engine.shardOf(REPOS[0]!, docs)], REPOS);
  for (const pattern of [raw`\b.*?`, raw`$.*`, '.*?', '.+?']) {
    const requested = { matches: 100, contextLines: 0, isCaseSensitive: false };
    const answer = await engine.search(`file:"${pattern}"`, { ...requested, isRegexEnabled: true });
    const tree = parseRegex(pattern);
    const query = { kind: 'pattern', prefix: 'file', pattern, tree, position: 0 } as const;
    checkAnswer(docs, { query, ...requested }, answer);
    assert.ok(answer.files.length > 0);
  }
});

const text = (path: string, content: string): TestDoc & OracleDoc => ({
  path,
  bytes: Buffer.from(content),
  language: '',
  repo: REPO_NAMES[0]!,
  tier: 0,
});

void test('more consecutive words than the score distinguishes', async () => {
  const words = Array.from({ length: 24 }, (_, index) => `word${index}`);
  const docs = [
    text('a', `${words.join(' ')}\n`),
    text('b', `${words.slice(4).join(' ')}\n\n${words.slice(0, 4).join(' ')}\n`),
    text('c', `${words.toReversed().join(' ')}\n`),
  ];
  await using engine = await Engine.open();
  engine.publish([engine.shardOf(REPOS[0]!, docs)], REPOS);
  const children = words.map((word) => ({ kind: 'text', text: word, position: 0 }) as const);
  const requested = { matches: 1000, contextLines: 0, isCaseSensitive: false };
  const query = { kind: 'and', children, position: 0 } as const;
  const answer = await engine.search(words.join(' '), requested);
  checkAnswer(docs, { query, ...requested }, answer);
  checkBest(
    docs,
    { query, ...requested },
    answer,
    await engine.explain(words.join(' '), requested),
  );
});

const FRUITS = [
  text('a.txt', 'red plum jam\n'),
  text('b.txt', 'green pear tart\n'),
  text('c.txt', 'plum and pear pie\n'),
];

type Bounds = number | readonly [least: number, most: number];
const COLUMNS = [
  'totalMatchCount',
  'fileCount',
  'filesConsidered',
  'filesLoaded',
  'contentBytesLoaded',
  'ngramLookups',
  'ngramMatches',
  'regexpsConsidered',
] as const;

/** The last two columns are shards scanned and ruled out, undefined: either. */
const WORKED: readonly [string, string, readonly Bounds[], (readonly [number, number])?][] = [
  ['jam', 'K', [1, 1, 1, 1, 13, 1, 1, 0], [1, 0]],
  ['JAM', 'K', [1, 1, 1, 1, 13, 1, 1, 0], [1, 0]],
  ['JAM', 'KS', [0, 0, 1, 1, 13, 1, 1, 0], [1, 0]],
  ['zzz', 'K', [0, 0, 0, 0, 0, 1, 0, 0], [0, 1]],
  ['pear', 'K', [2, 2, 2, 2, 34, [1, 2], 2, 0], [1, 0]],
  ['pear pie', 'K', [2, 1, [1, 2], [1, 2], [18, 34], [1, 3], [1, 2], 0], [1, 0]],
  ['pear or jam', 'K', [3, 3, 3, 3, 47, [2, 3], 3, 0], [1, 0]],
  ['jam pie', 'K', [0, 0, [0, 1], [0, 1], [0, 18], [1, 2], [0, 1], 0]],
  ['p[a-z]+r', 'R', [2, 2, 3, 3, 47, 0, 0, 3], [1, 0]],
  ['P[a-z]+R', 'R', [2, 2, 3, 3, 47, 0, 0, 3], [1, 0]],
  ['zzz+', 'R', [0, 0, 0, 0, 0, 1, 0, 0], [0, 1]],
  ['pea.$', 'R', [0, 0, 2, 2, 34, 1, 2, 2], [1, 0]],
  ['(jam|pie)', 'R', [2, 2, 2, 2, 31, 2, 2, 0], [1, 0]],
  [String.raw`file:c\.txt`, 'K', [1, 1, [1, 3], 0, 0, [0, 3], 0, 0], [1, 0]],
  ['-file:txt', 'K', [0, 0, [0, 3], 0, 0, [0, 1], 0, 0]],
];

void test('the worked example of the statistics', async (t) => {
  await using engine = await Engine.open();
  const memory = engine.shardOf(REPOS[0]!, FRUITS);
  const disk = await buildFromDisk(engine.module, engine.folder, REPOS[0]!, FRUITS);
  for (const [name, shards] of Object.entries({ memory: [memory], disk })) {
    engine.publish(shards, REPOS);
    for (const [query, mode, bounds, classes] of WORKED) {
      await t.test(`${query} ${mode}, built from ${name}`, async () => {
        const { stats, isSearchExhaustive } = await engine.search(query, {
          matches: 100,
          isRegexEnabled: mode === 'R',
          isCaseSensitivityEnabled: mode === 'KS',
        });
        for (const [index, column] of COLUMNS.entries()) {
          const bound = bounds[index]!;
          const [least, most] = typeof bound === 'number' ? [bound, bound] : bound;
          const value = stats[column]!;
          assert.ok(value >= least && value <= most, `${column}: ${value}`);
        }
        const scanned = [stats['shardsScanned'], stats['shardsSkippedFilter']];
        if (classes !== undefined) assert.deepEqual(scanned, classes);
        assert.equal(scanned[0]! + scanned[1]!, 1);
        assert.equal(stats['shardFilesConsidered'], 3);
        assert.equal(stats['crashes']! + stats['filesSkipped']! + stats['shardsSkipped']!, 0);
        assert.equal(isSearchExhaustive, true);
      });
    }
  }
});
