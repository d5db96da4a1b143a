// `ngramLookups` on docs with a known dictionary: each requested gram counts once for each shard, however many words,
// alternatives or dictionary ranges need it.

import assert from 'node:assert/strict';
import test from 'node:test';
import { Engine, REPO } from '../engine/host/harness.ts';

/** Grams, with `$` for a newline: $ab abc bcd cde de$, and $ac acb cbe be$. */
const TEXTS = ['abcde\n', 'acbe\n'];

type Case = readonly [query: string, lookups: number];

const WORDS: readonly Case[] = [
  ['abc', 1],
  ['abcabc', 2], // abc, and bca, which is absent
  ['abc or abc', 1],
  ['abc or abcd', 2],
  ['abcd or abc', 2],
  ['(abc or bcd) abcd', 2],
  ['abc -(abcd) cde', 3],
  ['zzz or zzzz or zzz', 1],
  ['xyz (abc or bcd)', 1], // xyz is absent, and nothing else is asked for
  ['ABC or abc', 1],
];

/** Words that stand for all grams which begin with them, or have them in the middle. */
const SHORT: readonly Case[] = [
  ['ab', 1], // abc
  ['c', 2], // bcd acb
  ['ab or abc', 1],
  ['abc or ab', 1],
  ['abcd or ab', 2],
  ['ab or ab', 1],
  ['ab or ac', 2], // abc acb
  ['b or ab', 2], // abc cbe
  ['ab or b', 2],
  ['b or abc or cbe or be', 3], // abc cbe be$
  ['b or c or acb', 4], // abc cbe, bcd acb
];

const EXPRESSIONS: readonly Case[] = [
  ['(abc|bcd)', 2],
  ['(abc|abd|abc)', 2],
  ['abcd+|abce+', 3], // abc bcd bce
  ['abc.*bcd', 2],
  ['abc.*e abcd', 2],
  ['(abc|bcd).*(bcd|cde)', 3],
];

for (const build of ['debug', 'release'] as const) {
  void test(`each shard counts a gram once, ${build}`, async (t) => {
    await using engine = await Engine.open({}, build);
    const docs = TEXTS.map((text, index) => ({ path: `d${index}`, bytes: Buffer.from(text) }));
    const shards = [0, 1].map(() => engine.shardOf(REPO, docs));
    for (const shardCount of [1, 2]) {
      engine.publish(shards.slice(0, shardCount), [REPO]);
      for (const [cases, isRegexEnabled] of [
        [WORDS, false],
        [SHORT, false],
        [EXPRESSIONS, true],
      ] as const) {
        for (const [query, lookups] of cases) {
          await t.test(`${query}, shards: ${shardCount}`, async () => {
            const { stats } = await engine.search(query, { isRegexEnabled });
            assert.equal(stats['ngramLookups'], lookups * shardCount);
          });
        }
      }
    }
  });
}
