// An index that is constantly merged, of several repositories with random histories, against fresh builds without
// merges: the same answers in the same order, counts and symbols; and the files of the data directory.
// TRAWL_FUZZ_RUNS: changes in all; TRAWL_TEST_SEED.
// tier: ci (long)

import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { deflateSync } from 'node:zlib';
import { MERGE_LIMITS } from '../../daemon/index/merge/merge-plan.ts';
import { environmentOf, requestOf, temporaryFolder } from '../engine/host/harness.ts';
import { commitFiles, git, makeRepo } from '../sources/git/fixture.ts';
import { completeSearch } from '../../daemon/engine/search/search.ts';
import { everythingOf, History, randomOf } from './history.ts';
import { type IndexOf, openIndexOf } from './index-of.ts';
import { EAGER, NEVER } from '../index/merge-limits.ts';
import { checkFiles } from './check-files.ts';
import { SEED } from '../seed.ts';

const RUNS = Number(process.env['TRAWL_FUZZ_RUNS'] ?? 12);
const CHANGES_PER_WORLD = 12;
const REPOS = 4;

async function follow(index: IndexOf, repo: string, isForced: boolean): Promise<void> {
  const { jobs, merger } = index.instance.indexer;
  const records = index.instance.served.records.filter(({ source }) => source.path === repo);
  const [result] = await jobs.indexAll(records, isForced);
  assert.equal(result!.error, undefined);
  // Why waited for: symbols decide on scores.
  await index.instance.symbols?.run();
  await merger.run();
}

void test(`merged shards answer as built ones, seed ${SEED}`, { timeout: 3_600_000 }, async () => {
  let sharedCount = 0;
  for (let run = 0; run < RUNS; run += CHANGES_PER_WORLD) {
    const random = randomOf(SEED + run);
    const histories = Array.from({ length: REPOS }, (_, i) => new History(SEED + run + 1000 * i));
    const folder = temporaryFolder();
    await using merged = await openIndexOf(folder, { findsSymbols: true, mergeLimits: EAGER });
    await using anew = await openIndexOf(temporaryFolder(), {
      findsSymbols: true,
      mergeLimits: NEVER,
    });
    for (const [i, { repo }] of histories.entries()) {
      const selection = i % 2 === 0 ? {} : { branches: ['**'], tags: ['**'] };
      for (const index of [merged, anew]) await index.index([repo], selection, 'commits');
    }
    // All are served from here on.
    const repos = histories.map(({ repo }) => repo);
    for (const index of [merged, anew]) await index.index(repos, undefined, 'commits');
    await merged.instance.indexer.merger.run();
    const done: string[] = [];
    for (let i = 0; i < CHANGES_PER_WORLD; i++) {
      const which = Math.floor(random() * REPOS);
      const { repo } = histories[which]!;
      done.push(`${which}: ${histories[which]!.change()}`);
      await follow(merged, repo, random() < 0.1);
      await follow(anew, repo, true);
      const message = `seed ${SEED + run}: ${done.join('; ')}`;
      assert.deepEqual(await everythingOf(merged), await everythingOf(anew), message);
      const { catalog } = merged.instance;
      sharedCount += catalog.repos.filter(({ shards }) =>
        shards.some(({ part }) => part !== undefined),
      ).length;
      await checkFiles(merged);
    }
    await Promise.all([merged.close(), anew.close()]);
    const faults = merged.warnings.filter((one) => /shard|symbols|revision file/.test(one));
    assert.deepEqual(faults, []);
    // What was published is what the next start finds.
    await using again = await openIndexOf(folder, { findsSymbols: true, mergeLimits: NEVER });
    assert.deepEqual(
      readdirSync(path.join(folder, 'shards')).sort(),
      [...again.instance.catalog.fileNames].sort(),
    );
  }
  assert.ok(sharedCount > RUNS, `${sharedCount} times a repo shared a shard`);
});

/** Gives an object of a repository other contents than its id says, which git does not look at. */
function forge(repo: string, file: string, contents: string): void {
  const id = git(repo, 'rev-parse', `HEAD:${file}`);
  const object = path.join(repo, '.git/objects', id.slice(0, 2), id.slice(2));
  rmSync(object);
  writeFileSync(object, deflateSync(`blob ${contents.length}\0${contents}`));
}

void test('a forged object shows nobody the contents of another repository, nor its own as theirs', async () => {
  const [honest, other] = ['plum deny\n', 'plum allow\n'];
  for (const forged of ['plum aaaa\n', 'plum of another size\n'])
    for (const isForgedFirst of [false, true]) {
      const repos = [honest, honest, other].map((text) => makeRepo({ 'a.txt': text }));
      forge(repos[isForgedFirst ? 0 : 1]!, 'a.txt', forged);
      await using index = await openIndexOf(temporaryFolder(), { mergeLimits: EAGER });
      await index.index(repos, {}, 'commits');
      await index.instance.indexer.merger.run();
      const { repos: records } = index.instance.catalog;
      assert.equal(new Set(records.map(({ shards }) => shards[0]!.shardId)).size, 1, 'one shard');
      const { files } = await index.search('plum', { whole: true });
      const displayed = files.map((file) => {
        const { record } = records.find((one) => one.record.repoId === file.repositoryId)!;
        return [repos.indexOf(record.source.path), file.content] as const;
      });
      const expected = isForgedFirst ? [forged, honest, other] : [honest, forged, other];
      assert.equal(displayed.length, 3);
      assert.deepEqual(new Map(displayed), new Map(expected.entries()));
      assert.deepEqual(index.warnings, []);
      await checkFiles(index);
    }
});

void test('shards with ids of two sizes are not merged', async () => {
  const made = (['sha1', 'sha256', 'sha1', 'sha256'] as const).map((format, i) =>
    makeRepo({ 'a.txt': `plum ${i}\n` }, format),
  );
  await using index = await openIndexOf(temporaryFolder(), { mergeLimits: EAGER });
  // Files on disk, so that no commit tells the size.
  await index.index(made, {}, 'worktree');
  await index.instance.indexer.merger.run();
  const mergedWith = (repo: string): readonly string[] => {
    const { repos } = index.instance.catalog;
    const [shard] = repos.find(({ record }) => record.source.path === repo)!.shards;
    return repos
      .filter(({ shards }) => shards.some(({ shardId }) => shardId === shard!.shardId))
      .map(({ record }) => record.source.path);
  };
  assert.deepEqual(mergedWith(made[0]!), [made[0], made[2]]);
  assert.deepEqual(mergedWith(made[1]!), [made[1], made[3]]);
  assert.equal((await index.search('plum')).files.length, 4);
  assert.deepEqual(index.warnings, []);
});

void test('when idle small shards are merged with a large one, and dead docs removed, whatever the clock does', async (t) => {
  const names = Array.from({ length: 10 }, (_, i) => `${i}.txt`);
  const repo = makeRepo(Object.fromEntries(names.map((name) => [name, `plum ${name}\n`])));
  const folder = temporaryFolder();
  await using index = await openIndexOf(folder, { findsSymbols: true, mergeLimits: NEVER });
  await index.index([repo], {}, 'commits');
  commitFiles(repo, { '0.txt': 'plum again\n' });
  await follow(index, repo, false);
  assert.deepEqual(docCounts(index), [1, 10]);
  const before = await everythingOf(index);
  await index.close();
  const { restMs } = MERGE_LIMITS;
  await using again = await openIndexOf(folder, {
    findsSymbols: true,
    mergeLimits: { ...NEVER, docCountMax: 100, restMs, restShare: 0.05 },
  });
  const indexedMs = Date.parse(again.instance.catalog.repos[0]!.record.indexedAt!);
  // A clock that is put back, by minutes or years, holds nothing up for longer than that, and what is merged is the same.
  for (const [passedMs, expected] of [
    [restMs / 2, [1, 10]],
    [-restMs / 2, [1, 10]],
    [-10_000 * restMs, [10]],
    [10_000 * restMs, [10]],
  ] as const) {
    const clock = t.mock.method(Date, 'now', () => indexedMs + passedMs);
    await again.instance.indexer.merger.run();
    clock.mock.restore();
    assert.deepEqual(docCounts(again), expected, `${passedMs} ms`);
  }
  assert.deepEqual(await everythingOf(again), before);
  await checkFiles(again);
});

void test('a search keeps the shards that a merge replaces, also for threads that open them later', async () => {
  const repos = [1, 2, 3].map((i) => makeRepo({ 'a.c': `int plum = ${i};\n` }));
  await using index = await openIndexOf(temporaryFolder(), {
    findsSymbols: true,
    mergeLimits: EAGER,
  });
  const { catalog, parts, pool } = index.instance;
  const { snapshots } = parts;
  await index.index([repos[0]!], {}, 'commits');
  await index.instance.symbols?.run();
  const snapshot = snapshots.acquire();
  const { path: file, symbols } = snapshot.shards[0]!;
  await index.index(repos, {}, 'commits');
  await index.instance.symbols?.run();
  await index.instance.indexer.merger.run();
  assert.equal(new Set(catalog.shardFiles.map((one) => one.path)).size, 1, 'one shard');
  assert.notEqual(catalog.shardFiles[0]!.path, file);
  const request = requestOf('plum');
  // Reserving a thread starts it.
  const reserved = pool.reserve();
  assert.ok(reserved !== undefined);
  const done = await completeSearch(parts, request, environmentOf(), snapshot, reserved);
  assert.deepEqual([done.reasons, done.numbers.totalMatchCount], [[], 1]);
  snapshots.release(snapshot);
  // After the removal that the release has begun.
  await catalog.removeLeft();
  assert.deepEqual([file, symbols!.path].filter(existsSync), []);
  await checkFiles(index);
});

function docCounts({ instance }: IndexOf): number[] {
  return instance.catalog.repos.flatMap(({ shards }) => shards.map(({ docCount }) => docCount));
}
