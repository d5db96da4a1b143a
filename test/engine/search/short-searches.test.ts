// Short searches: a pool thread answers as the main thread does, on a copy of the snapshot that follows each publish, or
// leaves the search to the main thread. Engine.search compares both for every search of these tests (test/engine/host/harness.ts).

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { NO_REPOS, type RepoAccess, SEES_ALL } from '../../../daemon/repos/repo-access.ts';
import { compactIds } from '../../../daemon/repos/repo-id-set.ts';
import { search } from '../../../daemon/engine/search/search.ts';
import { ShortSearches } from '../../../daemon/engine/search/short-searches.ts';
import type { LiveShard, Snapshot } from '../../../daemon/engine/search/snapshot.ts';
import {
  changedSnapshot,
  changeOf,
  NO_SNAPSHOT,
} from '../../../daemon/engine/search/snapshot-copy.ts';
import { StartThreads } from '../../../daemon/engine/search/start-threads.ts';
import { Engine, environmentOf, repoRecord, requestOf } from '../host/harness.ts';
import { printSnapshot } from './print-snapshot.ts';

/** The first search of a thread takes long: its code is not compiled yet. */
const PATIENT = { inlineNs: 60_000_000_000n };
const REPOS = Array.from({ length: 24 }, (_, i) => repoRecord(i + 1, `host/repo${i + 1}`));

function docsOf(repoId: number) {
  return ['a.go', 'b.txt'].map((name) => ({
    path: `d${repoId}/${name}`,
    bytes: Buffer.from(`plum ${repoId}\nPear of ${name}\n`),
  }));
}

function seesOnly(base: readonly number[], extra: readonly number[] = []): RepoAccess {
  return { base: new Set(base), extra: compactIds(extra) };
}

async function shortNames(engine: Engine, query: string, repoAccess = SEES_ALL): Promise<string[]> {
  const short = await engine.searchShort(requestOf(query), environmentOf({ repoAccess }));
  assert.ok(short !== undefined, `${query} is answered by the thread`);
  return short.files.map(({ repository }) => repository).sort();
}

void test('a thread follows each publish, and answers by the access of the caller', async () => {
  await using engine = await Engine.open(PATIENT);
  const shards = REPOS.map((repo) => engine.shardOf(repo, docsOf(repo.repoId)));
  engine.publish(shards.slice(0, 3), REPOS.slice(0, 3));
  const names = (...ids: number[]) => ids.flatMap((id) => [`host/repo${id}`, `host/repo${id}`]);
  assert.deepEqual(await shortNames(engine, 'plum'), names(1, 2, 3));
  engine.publish(shards.slice(1, 4), REPOS.slice(1, 4));
  assert.deepEqual(await shortNames(engine, 'plum'), names(2, 3, 4));
  // More sets of repos than a thread keeps, in turn and then again.
  engine.publish(shards, REPOS);
  const accesses = REPOS.map(({ repoId }) => seesOnly([repoId], [(repoId % 24) + 1]));
  for (const access of [...accesses, ...accesses.toReversed()]) {
    const ids = [...(access.base as ReadonlySet<number>), ...access.extra];
    assert.deepEqual(await shortNames(engine, 'plum', access), names(...ids).sort());
  }
  assert.deepEqual(await shortNames(engine, 'plum', { base: NO_REPOS, extra: NO_REPOS }), []);
});

void test('hints are those of the main thread', async () => {
  const docs = [
    { path: 'a.txt', bytes: Buffer.from('Plum\r\n') },
    { path: 'big.bin', bytes: Buffer.alloc(0), skipReason: 1 },
  ];
  await using engine = await Engine.over(docs, PATIENT);
  engine.tooLarge.set(1, 7);
  for (const query of ['plum', 'lang:nosuch Plum', 'absent', 'file:nothing Plum']) {
    const requested = { isCaseSensitivityEnabled: true };
    // Searches for hints may be late on a busy machine: both are asked until they have hints.
    for (let attempt = 1; ; attempt++) {
      const { hints = [] } = await engine.search(query, requested);
      const short = await engine.searchShort(requestOf(query, requested), environmentOf());
      if (attempt < 20 && (hints.length === 0 || short?.hints === undefined)) continue;
      assert.deepEqual(short?.hints, hints, query);
      assert.ok(hints.length > 0, query);
      break;
    }
  }
});

void test('what a thread cannot do is left to the main thread', async () => {
  await using engine = await Engine.over(
    [{ path: 'a.txt', bytes: Buffer.from('plum\n') }],
    PATIENT,
  );
  const none = async (query: string, more = {}, environment = {}): Promise<void> => {
    const request = requestOf(query, more);
    assert.equal(await engine.searchShort(request, environmentOf(environment)), undefined, query);
  };
  await none('plum', {}, { onProgress: () => undefined });
  await none('plum', { whole: true });
  await none('context:some plum');
  await none('(', { isRegexEnabled: true });
  const manyIds = Array.from({ length: 2000 }, (_, id) => id + 1);
  await none('plum', {}, { repoAccess: seesOnly([1], manyIds) });
  assert.equal((await shortNames(engine, 'plum')).length, 1);
});

void test('a search that takes longer than its time is left, and the thread goes on', async () => {
  const docs = Array.from({ length: 400 }, (_, i) => ({
    path: `d${i}.txt`,
    bytes: Buffer.from(`${'plum pear '.repeat(400)}${i}\n`),
  }));
  await using engine = await Engine.over(docs, PATIENT);
  const shortSearches = new ShortSearches(engine.pool);
  const environment = environmentOf();
  const timed = (inlineNs: bigint, query: string) =>
    shortSearches.run(0, { ...engine.parts, inlineNs }, requestOf(query), environment);
  engine.pool.start();
  assert.equal(await timed(1n, 'plum'), undefined);
  // Its preparation alone is over the time.
  assert.equal(await timed(1n, 'a'.repeat(3000).split('').join(' or ')), undefined);
  assert.ok((await timed(PATIENT.inlineNs, 'absent')) !== undefined);
});

void test('a thread that replaces a dead one gets the whole snapshot', async () => {
  await using engine = await Engine.over(
    [{ path: 'a.txt', bytes: Buffer.from('plum\n') }],
    PATIENT,
  );
  assert.equal((await shortNames(engine, 'plum')).length, 1);
  const copies = new Set<object>();
  const noted = {
    runTask: (thread: number, taskFor: (instance: object) => unknown) =>
      engine.pool.runTask(thread, (instance) => {
        copies.add(instance);
        return taskFor(instance);
      }),
  };
  const shortSearches = new ShortSearches(noted);
  const run = () => shortSearches.run(0, engine.parts, requestOf('plum'), environmentOf());
  assert.ok((await run()) !== undefined);
  // A task that is none kills the thread.
  const isLost = engine.pool.runTask(0, () => null);
  assert.equal(await isLost, undefined);
  await engine.pool.ready();
  assert.ok((await run()) !== undefined);
  assert.equal(copies.size, 2);
});

void test('a search that comes after the end of the pool is left to the main thread', async () => {
  const engine = await Engine.over([{ path: 'a.txt', bytes: Buffer.from('plum\n') }], PATIENT);
  assert.equal((await shortNames(engine, 'plum')).length, 1);
  await engine.close();
  assert.equal(await engine.searchShort(requestOf('plum'), environmentOf()), undefined);
});

void test('many searches at once are answered as one by one, while snapshots change', async () => {
  await using engine = await Engine.open({ ...PATIENT, workers: 2 });
  const shards = REPOS.map((repo) => engine.shardOf(repo, docsOf(repo.repoId)));
  engine.publish(shards, REPOS);
  let runCount = 0;
  const shortSearches = new (class extends ShortSearches {
    override async run(...call: Parameters<ShortSearches['run']>) {
      const answer = await super.run(...call);
      if (answer !== undefined) runCount++;
      return answer;
    }
  })(engine.pool);
  const parts = { ...engine.parts, startThreads: new StartThreads(engine.pool), shortSearches };
  const namesOf = async (repoAccess: RepoAccess): Promise<string[]> => {
    const { json } = await search(
      parts,
      requestOf('plum', { matches: 100 }),
      environmentOf({ repoAccess }),
    );
    assert.ok(json instanceof Uint8Array);
    const { files } = JSON.parse(Buffer.from(json).toString()) as {
      files: { repository: string }[];
    };
    return files.map(({ repository }) => repository).sort();
  };
  for (let round = 0; round < 20; round++) {
    const live = REPOS.filter(({ repoId }) => (repoId + round) % 3 > 0);
    engine.publish(
      live.map(({ repoId }) => shards[repoId - 1]!),
      live,
    );
    const accesses = REPOS.map(({ repoId }) => seesOnly([repoId, (repoId * 7) % 24]));
    const found = await Promise.all(accesses.map(namesOf));
    for (const [index, names] of found.entries()) {
      const visible = live.filter(({ repoId }) =>
        (accesses[index]!.base as Set<number>).has(repoId),
      );
      const expected = visible.flatMap(({ name }) => [name, name]).sort();
      assert.deepEqual(names, expected);
    }
  }
  assert.ok(runCount > 0);
});

void test('a busy thread leaves a search alone, but takes the snapshot that came with it', async () => {
  await using engine = await Engine.open(PATIENT);
  const shards = REPOS.slice(0, 2).map((repo) => engine.shardOf(repo, docsOf(repo.repoId)));
  engine.publish(shards.slice(0, 1), REPOS.slice(0, 1));
  assert.equal((await shortNames(engine, 'plum')).length, 2);
  engine.publish(shards, REPOS.slice(0, 2));
  // Both are posted at once: the thread has the job when it reads the task.
  const request = requestOf('plum');
  const environment = environmentOf();
  const shortSearches = new ShortSearches(engine.pool);
  const first = shortSearches.run(0, engine.parts, request, environment);
  const job = search({ ...engine.parts, inlineNs: 0n }, request, environment);
  const second = shortSearches.run(0, engine.parts, request, environment);
  const answers = await Promise.all([first, second, job]);
  assert.ok(answers[2] !== undefined);
  const third = await shortSearches.run(0, engine.parts, request, environment);
  const { files } = JSON.parse(Buffer.from(third!.json).toString()) as { files: unknown[] };
  assert.equal(files.length, 4);
});

void test('changes make a copy of any snapshot, item by item the same', () => {
  const shardOf = (id: number, version: number): LiveShard => ({
    shardId: `${id}-${version}`,
    path: `/shards/${id}`,
    size: id,
    docCount: 3,
    parts: [{ repoId: id, docStart: 0, docEnd: 3 }],
  });
  const items = new Map<string, LiveShard>();
  const cached = (id: number, version: number): LiveShard => {
    const key = `${id}-${version}`;
    const item = items.get(key) ?? shardOf(id, version);
    items.set(key, item);
    return item;
  };
  const list = fc.uniqueArray(fc.tuple(fc.nat(9), fc.nat(2)), { selector: ([id]) => id });
  fc.assert(
    fc.property(fc.array(list, { maxLength: 8 }), (lists) => {
      let before = NO_SNAPSHOT;
      let copy = NO_SNAPSHOT;
      for (const ids of lists) {
        const shards = ids.map(([id, version]) => cached(id, version));
        const after: Snapshot = { shards, repos: REPOS.slice(0, ids.length), quarantined: [] };
        const change = structuredClone(changeOf(before, after));
        const next = changedSnapshot(copy, change);
        assert.equal(printSnapshot(next), printSnapshot(after));
        assert.deepEqual(next, after);
        // What stays is not copied again.
        for (const [index, shard] of after.shards.entries()) {
          const origin = before.shards.indexOf(shard);
          if (origin >= 0) assert.equal(next.shards[index], copy.shards[origin]);
        }
        [before, copy] = [after, next];
      }
    }),
  );
});

void test('a thread that was reserved for a search that failed is free again', async () => {
  await using engine = await Engine.over(
    [{ path: 'a.txt', bytes: Buffer.from('plum\n') }],
    PATIENT,
  );
  const parts = { ...engine.parts, startThreads: new StartThreads(engine.pool) };
  const fail = async (query: string, signal = new AbortController().signal): Promise<void> => {
    const request = requestOf(query, { matches: 5000, isRegexEnabled: true });
    // Of searches that arrive together the last begins on the main thread.
    const both = [1, 2].map(() => search(parts, request, environmentOf({ signal })));
    const outcomes = await Promise.allSettled(both);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    const reserved = engine.pool.reserve();
    assert.ok(reserved !== undefined, query);
    engine.pool.cancel(reserved);
  };
  await fail('(plum');
  await fail('context:none plum');
  await fail('plum', AbortSignal.abort());
});

void test('a reservation ends once, and with its thread', async () => {
  await using engine = await Engine.over([], PATIENT);
  const { pool } = engine;
  const first = pool.reserve();
  assert.equal(pool.reserve(), undefined);
  pool.cancel(first!);
  const second = pool.reserve();
  pool.cancel(first!);
  assert.equal(pool.reserve(), undefined, 'the second reservation stays');
  pool.cancel(second!);
  // A task that is none kills the thread.
  const dying = pool.runTask(0, () => null);
  assert.ok(pool.reserve() !== undefined);
  await dying;
  assert.ok(pool.reserve() !== undefined, 'the thread that replaces it is free');
});
