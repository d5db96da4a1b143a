// Searches on the threads of the pool: the same result as one thread, for any number of threads and any race, also
// when a thread dies or a shard traps; they end on abort and deadline.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Worker } from 'node:worker_threads';
import type { LiveShard } from '../../../daemon/engine/search/snapshot.ts';
import { compileEntry } from '../../core/driver.ts';
import { buildShard, coreModule, Engine, REPO, temporaryFolder, timeless } from './harness.ts';

/** A shard of `docCount` docs of about `size` bytes: some hold rare words, all hold `common`. */
function makeShard(
  module: WebAssembly.Module,
  folder: string,
  number: number,
  docCount: number,
  size = 800,
): LiveShard {
  const docs = Array.from({ length: docCount }, (_, doc) => {
    const rare = doc % 97 === number ? 'needle ' : '';
    const line = `common ${number} doc ${doc} ${rare}text of some size\n`;
    const bytes = Buffer.from(line.repeat(Math.ceil(size / line.length)));
    return { path: `s${number}/d${doc}.txt`, bytes };
  });
  return buildShard(module, folder, REPO, docs);
}

const REQUESTS = [
  { query: 'common', matches: 10 },
  { query: 'common', matches: 4000 },
  { query: 'needle', matches: 7 },
  { query: 'needle', matches: 100_000 },
  { query: '(absent needle) or doc', matches: 2500 },
  { query: 'file:d77 -needle', matches: 100_000 },
];

void test('any number of threads gives the same answer', async (t) => {
  const module = await coreModule('release');
  const folder = temporaryFolder();
  const shards = Array.from({ length: 5 }, (_, i) => makeShard(module, folder, i, 2500 + 300 * i));
  await using inline = new Engine(module, { inlineNs: 10n ** 12n });
  inline.publish(shards, [REPO]);
  const expected = new Map<object, unknown>();
  for (const request of REQUESTS)
    expected.set(request, timeless(await inline.search(request.query, request)));
  for (const workers of [1, 2, 3]) {
    await t.test(`${workers} threads`, async () => {
      await using engine = new Engine(module, { workers, inlineNs: 0n });
      engine.publish(shards, [REPO]);
      for (const request of REQUESTS) {
        const rounds = request.matches < 100 ? 20 : 4;
        for (let round = 0; round < rounds; round++) {
          const answer = await engine.search(request.query, request);
          assert.deepEqual(timeless(answer), expected.get(request), `${request.query}, ${round}`);
        }
      }
      const together = await Promise.all(REQUESTS.map((one) => engine.search(one.query, one)));
      for (const [index, answer] of together.entries())
        assert.deepEqual(timeless(answer), expected.get(REQUESTS[index]!));
    });
  }
});

/** Collects the threads that are started while `work` runs. */
async function threadsOf<T>(work: (threads: Worker[]) => Promise<T>): Promise<T> {
  const threads: Worker[] = [];
  const onWorker = (worker: Worker): void => void threads.push(worker);
  process.on('worker', onWorker);
  try {
    return await work(threads);
  } finally {
    process.off('worker', onWorker);
  }
}

void test('a dying thread is replaced and nothing is missing', async () => {
  const module = await coreModule('release');
  const folder = temporaryFolder();
  const shards = Array.from({ length: 3 }, (_, i) => makeShard(module, folder, i, 3000, 2000));
  await threadsOf(async (threads) => {
    const deaths: Error[] = [];
    const onDeath = (error: Error): void => void deaths.push(error);
    await using engine = new Engine(module, { workers: 2, inlineNs: 0n, onDeath });
    engine.publish(shards, [REPO]);
    for (const request of REQUESTS) {
      const expected = timeless(await engine.search(request.query, request));
      for (let round = 0; round < 4; round++) {
        const before = deaths.length;
        await engine.pool.ready();
        const searching = engine.search(request.query, request);
        // Some rounds let the thread work for a moment first.
        for (let whenRunning = 0; whenRunning < round * 2; whenRunning++)
          await new Promise((resolve) => void setImmediate(resolve));
        const alive = threads.filter(({ threadId }) => threadId !== -1);
        await alive[round % 2]!.terminate();
        const answer = await searching;
        assert.deepEqual(timeless(answer), expected, `${request.query}, round ${round}`);
        assert.equal(deaths.length, before + 1);
        assert.equal(engine.pool.size, 2);
      }
    }
    assert.equal(threads.length, 2 + 4 * REQUESTS.length);
  });
});

const TRAPPING_DOCS = 1777;
const SLOW_DOCS = 1778;

void test('a trapping shard costs only that shard', async (t) => {
  const module = await compileEntry('test/core/assembly/faulty.ts', 'release');
  const folder = temporaryFolder();
  const shards = [
    makeShard(module, folder, 0, 600),
    makeShard(module, folder, 1, TRAPPING_DOCS),
    makeShard(module, folder, 2, 600),
  ];
  for (const inlineNs of [0n, 10n ** 12n]) {
    await t.test(inlineNs === 0n ? 'on the pool' : 'on this thread', async () => {
      await using engine = new Engine(module, { workers: 2, inlineNs });
      engine.publish(shards, [REPO]);
      for (let round = 0; round < 3; round++) {
        const { stats, files, ...answer } = await engine.search('common');
        assert.equal(stats['crashes'], 1);
        assert.equal(stats['shardsScanned'], 2);
        assert.equal(answer.isSearchExhaustive, false);
        assert.deepEqual(answer.incompleteReasons, ['shard_crashed']);
        assert.ok(stats['filesSkipped']! >= 512);
        assert.equal(files.length, stats['fileCount']);
        const paths = files.map(({ fileName }) => fileName.text);
        for (const shard of ['s0/', 's2/'])
          assert.equal(paths.filter((one) => one.startsWith(shard)).length, 600);
        assert.equal(new Set(engine.failures).size, 1);
        assert.ok(engine.failures[0]!.startsWith(shards[1]!.shardId));
        // Few docs match: the unit that traps is not reached.
        const next = await engine.search('needle');
        assert.equal(next.isSearchExhaustive, true);
        assert.ok(next.files.some(({ fileName }) => fileName.text.startsWith('s1/')));
      }
      assert.equal(engine.pool.deathCount, 0);
    });
  }
});

void test('abort and deadline end a search', async () => {
  const module = await compileEntry('test/core/assembly/faulty.ts', 'release');
  const folder = temporaryFolder();
  const slow = [0, 1, 2, 3].map((number) => makeShard(module, folder, number, SLOW_DOCS));
  await using engine = new Engine(module, { workers: 2, inlineNs: 0n, timeoutMs: 20 });
  engine.publish(slow, [REPO]);
  const { stats, isSearchExhaustive, incompleteReasons } = await engine.search('common');
  assert.equal(isSearchExhaustive, false);
  assert.deepEqual(incompleteReasons, ['deadline']);
  assert.ok(stats['filesSkipped']! > 0 && stats['shardsSkipped']! > 0);
  const classes = ['shardsScanned', 'shardsSkipped', 'shardsSkippedFilter', 'crashes'];
  assert.equal(
    classes.reduce((sum, name) => sum + stats[name]!, 0),
    slow.length,
    'S8',
  );
  const controller = new AbortController();
  const searching = engine.search('common', {}, controller.signal);
  controller.abort();
  await assert.rejects(searching, { name: 'AbortError' });
  await assert.rejects(engine.search('common', {}, AbortSignal.abort()), { name: 'AbortError' });
  engine.timeoutMs = 0;
  const next = await engine.search('zzz');
  assert.equal(next.isSearchExhaustive, true);
});
