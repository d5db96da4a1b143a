// The engine against the slow search (brute-force.ts): random corpora in several repos and shards, random
// queries, both builds of the core; every text of a small world.
// TRAWL_FUZZ_RUNS: number of corpora; TRAWL_TEST_SEED: the seed, which is printed.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { type Build, Engine, type TestDoc } from '../engine/host/harness.ts';
import { parseRegex } from '../../daemon/engine/regex/syntax.ts';
import { checkAnswer, checkBest } from './compare.ts';
import type { OracleDoc } from './scores.ts';
import { REPO_NAMES } from './corpora.ts';
import { caseArbitrary, checkCase, REPOS } from './random-case.ts';
import { SEED } from '../seed.ts';

const raw = String.raw;
const RUNS = Number(process.env['TRAWL_FUZZ_RUNS'] ?? 8);
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
