// Queries with very many leaves: they are answered, or refused with the limit.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import { parseQuery, parseSteps } from '../../../daemon/engine/query/parser.ts';
import type { Steps } from '../../../daemon/base/steps.ts';
import {
  type PlanContext,
  planSteps,
  QUERY_STATES_MAX,
} from '../../../daemon/engine/query/plan.ts';
import { type Prepared, prepareSearch } from '../../../daemon/engine/search/prepare.ts';
import { Engine, environmentOf, REPO, repoRecord, requestOf } from '../host/harness.ts';
import { planQuery } from '../query/at-once.ts';

async function engineOf(): Promise<Engine> {
  const docs = [
    { path: 'a.txt', bytes: Buffer.from('foo7 foo999x\nfoo1000\n') },
    { path: 'b.txt', bytes: Buffer.from('fob7\n') },
  ];
  return Engine.over(docs);
}

/** An OR of as many atoms, none of which is only a choice of literals. */
function queryOf(count: number, leafOf: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => leafOf(index)).join(' or ');
}

void test('thousands of expressions in one query are answered', async () => {
  await using engine = await engineOf();
  const options = { isRegexEnabled: true };
  const contents = await engine.search(
    queryOf(1000, (i) => String.raw`\bfo+${i}\b`),
    options,
  );
  assert.deepEqual(
    contents.files.map(({ fileName }) => fileName.text),
    ['a.txt'],
  );
  assert.equal(contents.stats['totalMatchCount'], 1);
  assert.equal(contents.isSearchExhaustive, true);
  const paths = await engine.search(
    queryOf(700, (i) => `file:a+${i}|a+[.]+txt`),
    options,
  );
  assert.equal(paths.files.length, 1);
});

void test('too many are refused with the limit', async () => {
  await using engine = await engineOf();
  const refusals: readonly [query: string, message: RegExp][] = [
    [
      queryOf(9000, (i) => String.raw`\bfoo${i}\w+`),
      new RegExp(`limit ${QUERY_STATES_MAX} states`),
    ],
    [queryOf(20_001, (i) => `foo${i}`), /too many conditions, limit 20000 at/],
    [
      queryOf(1500, (i) => 'a'.repeat(3000) + i),
      /too large: its plan takes \d+ bytes, limit \d+ at/,
    ],
  ];
  for (const [query, message] of refusals) {
    await assert.rejects(engine.search(query, { isRegexEnabled: true }), {
      name: 'QueryError',
      message,
    });
  }
});

/** Prepares a search for anything but one of as many paths; `onTimeSlice` is called in each turn of the event loop. */
async function prepareLarge(
  engine: Engine,
  signal: AbortSignal,
  onTimeSlice: () => void,
): Promise<Prepared> {
  const query = Array.from({ length: 1500 }, (_, i) => `-file:q[a-f]x${i}.*c$`).join(' ');
  const request = requestOf(query, { matches: 10 });
  const environment = environmentOf({ signal });
  const snapshot = engine.snapshots.acquire();
  const whenRunning = (): void => {
    next = setImmediate(whenRunning);
    onTimeSlice();
  };
  let next = setImmediate(whenRunning);
  try {
    return await prepareSearch(engine.parts, request, environment, snapshot);
  } finally {
    clearImmediate(next);
    engine.snapshots.release(snapshot);
  }
}

void test('the event loop runs while a large query is prepared', async () => {
  await using engine = await engineOf();
  let timeSliceCount = 0;
  const { run } = await prepareLarge(engine, new AbortController().signal, () => timeSliceCount++);
  assert.ok(run.encodedPlan.bytes.length > 1_000_000);
  assert.ok(timeSliceCount >= 5, `${timeSliceCount} turns`);
});

void test('preparing ends when its client disconnects', async () => {
  await using engine = await engineOf();
  const client = new AbortController();
  const prepared = prepareLarge(engine, client.signal, () => client.abort());
  await assert.rejects(prepared, { name: 'AbortError' });
});

void test('a large plan is not read on the main thread', async () => {
  await using engine = await engineOf();
  let planCount = 0;
  const begin = engine.searcher.beginPlan.bind(engine.searcher);
  engine.searcher.beginPlan = (plan) => {
    planCount++;
    begin(plan);
  };
  await engine.search('foo7');
  assert.ok(planCount > 0);
  planCount = 0;
  const { files } = await engine.search(queryOf(500, (i) => `file:a+${i}|a+[.]+txt`));
  assert.equal(files.length, 1);
  assert.equal(planCount, 0);
});

const CONTEXT: PlanContext = { repos: () => [REPO], needsDocSets: false, testNames: () => [true] };

function countSteps(steps: Steps<unknown>): number {
  let count = 0;
  while (steps.next().done !== true) count++;
  return count;
}

void test('a step of parsing and planning handles at most one leaf; equal expressions are compiled once', () => {
  const options = { isRegexEnabled: true, isFolded: true };
  const different = queryOf(100, (i) => String.raw`\bfo+${i}\s\w`);
  const equal = queryOf(100, () => String.raw`\bfo+\s\w`);
  assert.ok(countSteps(parseSteps(different, options)) >= 100);
  const stepCountOf = (text: string): number =>
    countSteps(planSteps(parseQuery(text, options), CONTEXT));
  assert.ok(stepCountOf(different) > 500);
  assert.ok(stepCountOf(equal) < 150);
});

test('the layout of one long word in a group takes several steps', () => {
  const steps = parseSteps(`(${'w'.repeat(60_000)})`, { isRegexEnabled: false });
  assert.ok(countSteps(steps) > 10);
});

void test('conditions are counted before anything is compiled', () => {
  const planningOf = (count: number, leaf: string): Steps<unknown> => {
    const query = parseQuery(
      queryOf(count, () => leaf),
      { isRegexEnabled: false },
    );
    return planSteps(query, CONTEXT);
  };
  for (const leaf of ['repo:a', 'foo', '-file:a', 'lang:go', 'rev:x']) {
    assert.throws(() => planningOf(20_001, leaf).next(), /too many conditions, limit 20000/);
    planningOf(20_000, leaf).next();
  }
});

void test('the filters over repos of a list are one filter, whatever their number', () => {
  const repos = Array.from({ length: 40 }, (_, i) => repoRecord(i + 1, `host/r${i}x`));
  const context = { ...CONTEXT, repos: () => repos };
  const planOf = (text: string) => planQuery(parseQuery(text, { isRegexEnabled: false }), context);
  const without = Array.from({ length: 30 }, (_, i) => `-repo:r${i}x`).join(' ');
  const last = new Set(repos.slice(30).map(({ repoId }) => repoId));
  assert.deepEqual(planOf(without), { kind: 'repos', ids: last });
  assert.deepEqual(planOf('(repo:r7x or repo:r8x) -repo:r8x'), {
    kind: 'repos',
    ids: new Set([8]),
  });
  assert.deepEqual(planOf('repo:r7x repo:r8x'), { kind: 'const', value: false });
  assert.deepEqual(planOf('-repo:r7x or repo:r7x'), { kind: 'const', value: true });
  const most = planOf('-repo:r7x -repo:r8x');
  assert.deepEqual(most, { kind: 'not', child: { kind: 'repos', ids: new Set([8, 9]) } });
});
