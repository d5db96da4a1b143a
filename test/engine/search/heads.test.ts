// A search that stops at its limit has searched the docs that define its names, in every shard, before others; a
// limited stream sends the same files each time, the best first.
// tier: ci (long)

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import * as fc from 'fast-check';
import {
  encodedPlan,
  Engine,
  type FileResult,
  REPO,
  requestOf,
  streamEvents,
  type TestDoc,
} from '../host/harness.ts';

const FUNCTION = 8;
const OPTIONS = [{}, { inlineNs: 0n, workers: 1 }, { inlineNs: 0n, workers: 3 }];

/** A doc in which each `@name` is a symbol, written without the sign. */
function doc(path: string, text: string): TestDoc {
  const symbols: { start: number; size: number; kind: number }[] = [];
  let plain = '';
  for (const part of text.split(/(@\w+)/)) {
    if (part.startsWith('@'))
      symbols.push({ start: plain.length, size: part.length - 1, kind: FUNCTION });
    plain += part.replace(/^@/, '');
  }
  return { path, bytes: Buffer.from(plain), symbols };
}

const engines = await Promise.all(OPTIONS.map((options) => Engine.open(options)));
after(() => Promise.all(engines.map((engine) => engine.close())));

/** The engines, on other threads each, with the docs in so many shards. */
function enginesOf(docs: readonly TestDoc[], shardCount: number): readonly Engine[] {
  const size = Math.ceil(docs.length / shardCount);
  const shards = Array.from({ length: shardCount }, (_, i) =>
    engines[0]!.shardOf(REPO, docs.slice(i * size, (i + 1) * size)),
  );
  for (const engine of engines) engine.publish(shards, [REPO]);
  return engines;
}

/** Paths of an answer; all engines give the same. */
async function pathsOf(all: readonly Engine[], query: string, matches: number): Promise<string[]> {
  const answers = await Promise.all(all.map((engine) => engine.search(query, { matches })));
  const [first, ...others] = answers.map(({ files, stats }) => ({
    paths: files.map(({ fileName }) => fileName.text),
    counts: [stats['totalMatchCount'], stats['fileCount'], stats['filesConsidered']],
  }));
  for (const other of others) assert.deepEqual(other, first);
  return first!.paths;
}

const filler = 'x y z\n'.repeat(300);
const DOCS: readonly TestDoc[] = [
  ...Array.from({ length: 700 }, (_, i) =>
    doc(`a/${String(i).padStart(3, '0')}.c`, `${filler}hold_lease(${i});\n${filler}`),
  ),
  doc('b/other.c', `int @hold_lease_table(void);\n`),
  doc('y/lease.c', `${filler}${filler}int @hold_lease(int n) { return n; }\n`),
  doc('z/local.c', `int @begin_hold(void) { hold_lease(1); }\n`),
];

for (const shardCount of [1, 7]) {
  void test(`a definition is found first under a limit, in ${shardCount} shards`, async () => {
    const all = enginesOf(DOCS, shardCount);
    for (const query of ['hold_lease', 'HOLD_LEASE', 'hold lease', '"hold_lease("'])
      assert.equal((await pathsOf(all, query, 5))[0], 'y/lease.c', query);
    assert.equal((await pathsOf(all, 'hold_lease_t', 5))[0], 'b/other.c');
    assert.equal((await pathsOf(all, 'begin_h', 5))[0], 'z/local.c', 'the beginning of a name');
    const { stats } = await all[0]!.search('hold_lease', { matches: 5 });
    assert.ok(stats['filesConsidered']! < 600, 'not all docs are looked at');
  });
}

void test('a case-sensitive word has heads only for names in its case', async () => {
  const [engine] = enginesOf([doc('a.c', 'int @grab_It(void); GRAB_IT grab_it\n')], 1);
  const { searcher } = engine!.parts;
  const [shard] = engine!.parts.snapshots.current.shards;
  for (const [query, isCaseSensitive, hasHeads] of [
    ['grab_It', true, true],
    ['grab_it', true, false],
    ['GRAB_IT', true, false],
    ['GRAB_IT', false, true],
    ['grab_I', true, true],
    ['GRAB_I', true, false],
    ['GRAB_I', false, true],
    ['"grab_It("', true, true],
    ['"GRAB_IT("', true, false],
  ] as const) {
    searcher.beginPlan(encodedPlan(query, false, [], isCaseSensitive));
    assert.equal(searcher.hasHeads(shard!.shardId), hasHeads, `${query} ${isCaseSensitive}`);
  }
});

const NAMES = ['map', 'mapped', 'map_new', 'new_map'];
const wordArbitrary = fc.oneof(
  fc.constantFrom(...NAMES),
  fc.constantFrom(...NAMES.map((name) => `@${name}`)),
  fc.constantFrom('x', 'y\n'),
);
const docsArbitrary = fc.array(fc.array(wordArbitrary, { minLength: 1, maxLength: 12 }), {
  minLength: 3,
  maxLength: 40,
});

void test('the best of the docs that define a name comes first under any limit', async () => {
  const property = fc.asyncProperty(
    docsArbitrary,
    fc.integer({ min: 1, max: 5 }),
    fc.integer({ min: 1, max: 6 }),
    fc.constantFrom(...NAMES),
    async (texts, shardCount, matches, name) => {
      const docs = texts.map((words, i) => doc(`${i}.c`, words.join(' ')));
      const defining = new Set(
        texts.flatMap((words, i) => (words.includes(`@${name}`) ? [`${i}.c`] : [])),
      );
      const all = enginesOf(docs, Math.min(shardCount, docs.length));
      const isDefining = (path: string): boolean => defining.has(path);
      const order = await pathsOf(all, name, 1_000_000);
      const best = order.find(isDefining);
      const some = await pathsOf(all, name, matches);
      const found = some.find(isDefining);
      // Files that come before it may have all the ranges.
      if (found !== undefined) assert.equal(found, best);
      else if (best !== undefined)
        assert.deepEqual(
          some.filter((path) => order.indexOf(path) > order.indexOf(best)),
          [],
        );
    },
  );
  await fc.assert(property, { numRuns: 25 });
});

interface Event {
  readonly files?: readonly FileResult[];
  readonly accumulatedStats?: { readonly totalMatchCount: number };
}

/** What a stream sends: its files in order, and the counts of its end. */
async function streamed({ parts }: Engine, query: string, matches: number) {
  const events = await streamEvents<Event>(parts, requestOf(query, { matches }));
  const results = events.flatMap(({ files = [] }) => files);
  const ranges = results.flatMap(({ chunks }) => chunks).flatMap((chunk) => chunk.matchRanges);
  return {
    files: results.map(({ fileName }) => fileName.text),
    ranges: ranges.length,
    total: events.at(-1)?.accumulatedStats?.totalMatchCount ?? 0,
  };
}

void test('a limited stream sends the same files each time, as a blocking search begins', async () => {
  const all = enginesOf(DOCS, 7);
  for (const matches of [3, 40, 200]) {
    const [first] = await pathsOf(all, 'hold_lease', matches);
    const streams = [];
    for (let round = 0; round < 3; round++)
      for (const engine of all) streams.push(await streamed(engine, 'hold_lease', matches));
    const sets = streams.map(({ files, ranges, total }) => ({
      files: files.toSorted(),
      ranges,
      total,
    }));
    for (const set of sets) assert.deepEqual(set, sets[0]);
    assert.equal(sets[0]!.ranges, matches);
    for (const { files } of streams) {
      assert.equal(files[0], first);
      assert.deepEqual(files.slice(0, 10), streams[0]!.files.slice(0, 10));
    }
  }
});
