// The first part of a shard: its units are the first ones of the whole shard's binding, and answers depend neither on
// threads nor on whether the part was enough.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import { SEGMENT_BLOCKS } from '../../../core/shared/format.ts';
import { neverStops } from '../../../daemon/engine/host/core.ts';
import { Searcher, type UnitResult } from '../../../daemon/engine/host/searcher.ts';
import { NO_REPOS } from '../../../daemon/repos/repo-access.ts';
import {
  buildShard,
  coreModule,
  encodedPlan,
  Engine,
  REPO,
  repoRecord,
  temporaryFolder,
  timeless,
  type TestDoc,
} from './harness.ts';

const COUNT = 8 * SEGMENT_BLOCKS - 100;

/** Of nine segments. Some contents are in several, one lies across two, and heads are in the last. */
function makeDocs(): TestDoc[] {
  const docs = Array.from({ length: COUNT }, (_, doc): TestDoc => {
    const isCopy = doc % 50 === 3 && doc > COUNT / 2;
    const number = isCopy ? doc - 8000 : doc;
    const word = doc % 9 === 4 ? 'other' : doc % 9 === 5 ? 'Common' : 'common';
    const rest = doc % 700 === 0 ? 'seldom' : number > SEGMENT_BLOCKS + 900 ? 'later' : '';
    const capitals = doc % 16_000 === 9 ? 'COMMON ' : '';
    const text = doc % 40 === 7 ? '' : `${capitals}${word} n${number} ${rest}\n`;
    const gap = '\n'.repeat(doc % 7 === 3 ? 20_000 : 20);
    const acrossLines = doc % 300 === 150 ? `later${gap}common and more\n` : '';
    const folder = doc % 90 === 8 ? 'common' : `d${doc % 10}`;
    return {
      path: `${folder}/f${doc}.txt`,
      bytes: Buffer.from(isCopy ? `common n${number} \n` : text + acrossLines),
    };
  });
  const large = 'common and much else\n'.repeat(10_000);
  docs.splice(SEGMENT_BLOCKS, 0, { path: 'large.txt', bytes: Buffer.from(large) });
  const others = Array.from({ length: 60 }, (_, doc): TestDoc => {
    return { path: `z${doc}.txt`, bytes: Buffer.from(large + doc) };
  });
  return [...docs, ...others, { path: 'zz/common.c', bytes: Buffer.from('a common head\n') }];
}

const DOCS = makeDocs();
const SHARD = buildShard(await coreModule('release'), temporaryFolder(), REPO, DOCS);
/** Docs with "COMMON". */
const UPPER_CASE_COUNT = DOCS.filter(({ bytes }) => Buffer.from(bytes).includes('COMMON')).length;
/** By text: whether it is an expression. */
const LONG: Readonly<Record<string, boolean>> = {
  common: false,
  // Long in the second segment.
  later: false,
  'la+ter': true,
  'common file:d1': false,
  'common -file:d1': false,
  '(common or seldom)': false,
  // Others than the counted leaf are bound first, or not at all in the part.
  'common or -content:later': false,
  'common -(file:^z later)': false,
  'common -(file:^z no)': false,
  '(file:^z common) or file:^d1': false,
  '-content:other common': false,
  'com+on.n\\d': true,
  'mon.n\\d+.': true,
  // Spans lines; `later` and `common` are in most docs, but seldom one behind the other.
  'common\\s+n\\d': true,
  'later\\s+common': true,
  'later\\n[^a-z]*(common|other)': true,
  'n\\d+\\s+later': true,
  // In a ninth of the docs: many in the shard, and few in the part.
  'other\\s+n\\d+': true,
};

function unitsOf(searcher: Searcher, count: number): UnitResult[] {
  return Array.from({ length: count }, (_, unit) => searcher.searchUnit(unit));
}

for (const build of ['debug', 'release'] as const) {
  void test(`the units of the first part are the first ones of all, ${build}`, async () => {
    const module = await coreModule(build);
    const searcher = new Searcher(module);
    assert.deepEqual(searcher.setShards([SHARD]), []);
    const { shardId } = SHARD;
    for (const isCaseSensitive of build === 'debug' ? [false] : [false, true])
      for (const [query, isRegex] of Object.entries(LONG)) {
        searcher.beginPlan(encodedPlan(query, isRegex, [], isCaseSensitive));
        const part = searcher.bind(shardId, neverStops, true)!;
        const isLone = query !== '(common or seldom)';
        assert.equal(part.isPart, isLone, query);
        const units = unitsOf(searcher, part.unitCount);
        const whole = searcher.bind(shardId);
        assert.equal(whole.isPart, false);
        const all = unitsOf(searcher, whole.unitCount);
        assert.deepEqual(units, all.slice(0, part.unitCount), query);
        if (!isLone) continue;
        assert.ok(part.unitCount > 0 && part.unitCount < whole.unitCount, query);
        assert.ok(part.candidateDocs < whole.candidateDocs, query);
        assert.ok(part.indexBytes < whole.indexBytes, query);
        if (build === 'debug') continue;
        // Reusing the part's blocks does not change the whole binding.
        const fresh = new Searcher(module);
        assert.deepEqual(fresh.setShards([SHARD]), []);
        fresh.beginPlan(encodedPlan(query, isRegex, [], isCaseSensitive));
        assert.deepEqual(fresh.bind(shardId), whole, query);
        assert.deepEqual(unitsOf(fresh, whole.unitCount), all, query);
      }
    // All blocks have its grams, and few its capitals.
    searcher.beginPlan(encodedPlan('COMMON', false, [], true));
    const capitals = searcher.bind(shardId, neverStops, true)!;
    assert.deepEqual([capitals.isPart, capitals.candidateDocs], [false, UPPER_CASE_COUNT]);
    for (const query of [
      'seldom',
      'seldom -content:common',
      'common seldom',
      'none of them',
      'other',
    ]) {
      searcher.beginPlan(encodedPlan(query));
      assert.equal(searcher.bind(shardId, neverStops, true)!.isPart, query === 'other', query);
    }
  });
}

void test('answers do not depend on threads, nor on whether the part was enough', async () => {
  await using inline = await Engine.open();
  await using onThread = await Engine.open({ inlineNs: 0n });
  await using onThreads = await Engine.open({ workers: 3, inlineNs: 0n });
  for (const engine of [inline, onThread, onThreads]) engine.publish([SHARD], [REPO]);
  for (const [query, isRegexEnabled] of Object.entries(LONG)) {
    for (const matches of [1, 200, 201, 6000]) {
      const answers: unknown[] = [];
      for (const engine of [inline, onThread, onThreads])
        answers.push(timeless(await engine.search(query, { matches, isRegexEnabled })));
      for (const answer of answers) assert.deepEqual(answer, answers[0], `${query} ${matches}`);
    }
  }
});

void test('what hidden docs hold changes nothing', async () => {
  const [hidden, visible] = [repoRecord(1, 'host/hidden'), repoRecord(2, 'host/visible')];
  const docsOf = (count: number, textOf: (doc: number) => string): TestDoc[] =>
    Array.from({ length: count }, (_, doc) => ({
      path: `f${doc}.txt`,
      bytes: Buffer.from(`${textOf(doc)} n${count}-${doc}\n`),
    }));
  // Few of the visible docs are in the first segment, and those behind it are better.
  const seen = docsOf(3000, (doc) => 'common '.repeat(doc < 300 ? 1 : 4));
  const repoAccess = { base: new Set([visible.repoId]), extra: NO_REPOS };
  const answers: unknown[] = [];
  for (const word of ['common', 'another']) {
    await using engine = await Engine.open();
    const repos = [
      { ...hidden, docs: docsOf(SEGMENT_BLOCKS - 200, () => word) },
      { ...visible, docs: seen },
    ];
    engine.publish([engine.sharedShardOf(repos)], [hidden, visible]);
    const answer = await engine.search('common', { matches: 100 }, undefined, repoAccess);
    assert.ok(answer.files.length > 10);
    answers.push(timeless(answer));
  }
  assert.deepEqual(answers[0], answers[1]);
});
