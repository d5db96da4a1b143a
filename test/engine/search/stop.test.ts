// Long units, with a simulated expression of many states: they end with the search, those too long for the main
// thread go to the pool, and complete answers stay the same.
// tier: ci (long)

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test from 'node:test';
import { SearchControl } from '../../../daemon/engine/host/control.ts';
import { SearchLoop } from '../../../daemon/engine/host/search-loop.ts';
import { Searcher } from '../../../daemon/engine/host/searcher.ts';
import { PlanError } from '../../../daemon/engine/host/encoded-plan.ts';
import { parseRegex } from '../../../daemon/engine/regex/syntax.ts';
import { search } from '../../../daemon/engine/search/search.ts';
import {
  buildShard,
  coreModule,
  encodedPlan,
  Engine,
  environmentOf,
  REPO,
  requestOf,
  temporaryFolder,
} from '../host/harness.ts';
import { compileRegex } from '../query/at-once.ts';

/** A match is 1,500 characters long, and each character starts a thread: too much for a DFA. */
const QUERY = String.raw`\w{1000}\w{500}`;
const MATCH_COUNT = 40;
const LINE_SIZE = 1500 * MATCH_COUNT;

function shardOf(module: WebAssembly.Module, lineCount: number) {
  const docs = Array.from({ length: lineCount }, (_, doc) => ({
    path: `d${doc}.txt`,
    bytes: Buffer.from(`${doc % 10}`.repeat(LINE_SIZE)),
  }));
  return buildShard(module, temporaryFolder(), REPO, docs);
}

/** The matches of a doc of one unit, and how often it checked for cancellation. */
async function drained(text: string, query: string, isRegexEnabled: boolean) {
  const module = await coreModule('release');
  const docs = [{ path: 'a.txt', bytes: Buffer.from(text) }];
  const shard = buildShard(module, temporaryFolder(), REPO, docs);
  const searcher = new Searcher(module);
  assert.deepEqual(searcher.setShards([shard]), []);
  const control = new SearchControl([1]);
  const plan = encodedPlan(query, isRegexEnabled, [shard], true);
  const loop = new SearchLoop(searcher, plan, [shard.shardId], Infinity, control);
  let questionCount = 0;
  while (loop.step(() => ++questionCount < 0));
  return { matchCount: control.matchesOf(0, 0), questionCount };
}

for (const inlineNs of [0n, undefined]) {
  const where = inlineNs === undefined ? 'the main thread' : 'the pool';
  void test(`long work that begins on ${where} is complete, or ends at the deadline`, async () => {
    const module = await coreModule('release');
    const shard = shardOf(module, 2);
    const threads = { workers: 1, ...(inlineNs === undefined ? {} : { inlineNs }) };
    await using patient = new Engine(module, threads);
    patient.publish([shard], [REPO]);
    const answer = await patient.search(QUERY, { isRegexEnabled: true });
    assert.equal(answer.isSearchExhaustive, true);
    assert.equal(answer.stats['totalMatchCount'], 2 * MATCH_COUNT);
    assert.equal(answer.files.length, 2);
    for (const { chunks } of answer.files)
      assert.equal(chunks.flatMap(({ matchRanges }) => matchRanges).length, MATCH_COUNT);

    await using hasty = new Engine(module, { ...threads, timeoutMs: 20 });
    hasty.publish([shard], [REPO]);
    const cut = await hasty.search(QUERY, { isRegexEnabled: true });
    assert.deepEqual(cut.incompleteReasons, ['deadline']);
    // The one unit takes seconds: it was not waited for.
    assert.equal(cut.stats['totalMatchCount'], 0);
    assert.deepEqual(cut.files, []);
  });
}

void test('a returned unit is found completely by the next thread', async () => {
  const module = await coreModule('release');
  const shard = shardOf(module, 1);
  await using engine = new Engine(module);
  engine.publish([shard], [REPO]);
  const plan = encodedPlan(QUERY, true, [shard], true);
  const control = new SearchControl([10]);
  const loop = (): SearchLoop =>
    new SearchLoop(engine.searcher, plan, [shard.shardId], Infinity, control);
  let questionCount = 0;
  const hasty = loop();
  assert.equal(hasty.step(), true);
  assert.equal(
    hasty.step(() => ++questionCount > 2),
    true,
  );
  assert.equal(questionCount, 3, 'asked until it was told to stop, and not again');
  assert.deepEqual(hasty.take().units, []);
  assert.equal(control.matchesOf(0, 0), undefined);
  // On the same instance, which has forgotten the started work.
  const patient = loop();
  while (patient.step());
  const found = [...hasty.take().units, ...patient.take().units];
  assert.deepEqual(
    found.map(({ unit, matches }) => [unit, matches]),
    [[0, MATCH_COUNT]],
  );
});

void test('an expression that takes long on repo names is refused', async () => {
  await using engine = await Engine.open();
  // Bits of a hash: expressions that look back by letters have ever new states.
  const bits = Array.from({ length: 50 }, (_, i) => createHash('sha256').update(`${i}`).digest());
  const text = Array.from(Buffer.concat(bits), (byte) => byte.toString(2).padStart(8, '0')).join(
    '',
  );
  const names = Array.from({ length: 800 }, (_, i) => `host/${text.slice(i * 7, i * 7 + 400)}`);
  const program = (pattern: string) => compileRegex(parseRegex(pattern)).program;
  const heavy = program('1[01]{300}2');
  const test = (): boolean[] => engine.searcher.testNames(heavy, names);
  assert.throws(test, (error: unknown) => {
    assert.ok(error instanceof PlanError);
    assert.match(error.message, /too many steps on 800 repository names/);
    return true;
  });
  const light = engine.searcher.testNames(program('/[01]{20}'), names);
  assert.ok(light.every(Boolean));
});

void test('a unit with very many ranges checks for cancellation', async () => {
  // Few states, which are soon made: only its ranges are work. Those of an expression alone are counted in one go.
  for (const query of ['[^a]{2}[^b]{2}', '[^a]{2}[^b]{2} or [^a][^b]{3}']) {
    const { matchCount, questionCount } = await drained('x'.repeat(1_000_000), query, true);
    assert.equal(matchCount, 250_000);
    assert.ok(questionCount >= 100, `${questionCount} questions`);
  }
});

void test('many dense leaves check for cancellation, and are read in one pass', async () => {
  const query = `${'c:a or '.repeat(299)}c:b`;
  const { matchCount, questionCount } = await drained('ab '.repeat(20_000), query, false);
  assert.equal(matchCount, 40_000);
  // Six million matches, four steps each, and 131,072 steps a question.
  assert.ok(questionCount > 150 && questionCount < 1000, `${questionCount} questions`);
});

void test('an answer of a disconnected client is not rendered to its end', async () => {
  const docs = Array.from({ length: 2000 }, (_, i) => ({
    path: `d${i}.txt`,
    bytes: Buffer.from('plum\n'.repeat(50)),
  }));
  await using engine = await Engine.over(docs);
  const client = new AbortController();
  let groupCount = 0;
  const takeMemory = (): void => {
    groupCount++;
    client.abort();
  };
  const environment = { ...environmentOf({ signal: client.signal }), takeMemory };
  const request = requestOf('file:d', { matches: 100_000, whole: true });
  await assert.rejects(search(engine.parts, request, environment), { name: 'AbortError' });
  // Those that were under way: 40 docs each, 50 groups in all.
  assert.ok(groupCount <= 4, `${groupCount} groups`);
});
