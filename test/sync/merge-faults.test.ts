// Events during a merge: a damaged shard, a rebuilt or removed repo, a closed index.
// tier: ci (long)

import assert from 'node:assert/strict';
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import test from 'node:test';
import { HEADER_SIZE } from '../../core/shared/format.ts';
import { MergeOverflow } from '../../daemon/engine/build/merge.ts';
import { nextTimeSlice } from '../../daemon/base/next-time-slice.ts';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import type { MergeLimits } from '../../daemon/index/merge/merge-plan.ts';
import { type IndexOf, openIndexOf } from './index-of.ts';
import { EAGER } from '../index/merge-limits.ts';
import { checkFiles } from './check-files.ts';

/** Nothing is merged before it is asked for. */
const LIMITS = { ...EAGER, shardCount: 3 };

interface MergeableIndex extends IndexOf {
  readonly repos: readonly string[];
}

/** An index of repos of one file each that has merged nothing yet. */
async function unmerged(count: number): Promise<MergeableIndex> {
  const repos = Array.from({ length: count }, (_, i) =>
    makeRepo({ 'a.c': `int plum${i}(void) { return ${i}; }\n` }),
  );
  const index = await openIndexOf(temporaryFolder(), {
    findsSymbols: true,
    mergeLimits: { ...LIMITS, shardCount: count + 1 },
  });
  await index.index(repos, undefined, 'commits');
  await index.instance.symbols!.run();
  assert.equal(shardIdsOf(index).size, count);
  return { ...index, repos };
}

function shardIdsOf({ instance }: IndexOf): Set<string> {
  return new Set(
    instance.catalog.repos.flatMap(({ shards }) => shards.map(({ shardId }) => shardId)),
  );
}

/** Opens the index of a data directory again, to merge three and more. */
async function reopened(
  { dataDir, repos, close }: MergeableIndex,
  mergeLimits: MergeLimits = LIMITS,
): Promise<MergeableIndex> {
  await close();
  const index = await openIndexOf(dataDir, { findsSymbols: true, mergeLimits });
  await index.index(repos, undefined, 'commits');
  return { ...index, repos };
}

function isIn({ instance: { catalog } }: IndexOf, text: string): boolean {
  return readdirSync(catalog.shardFolder).some((name) =>
    readFileSync(catalog.filePath(name)).includes(text),
  );
}

async function plumsOf(index: IndexOf): Promise<string[]> {
  const { files, isSearchExhaustive } = await index.search('sym:plum');
  assert.ok(isSearchExhaustive);
  return files.map(({ repository, path }) => `${repository} ${path}`);
}

void test('a damaged shard in a merge is rebuilt, and then merged', async () => {
  await using index = await unmerged(3);
  const before = await plumsOf(index);
  await using again = await reopened(index);
  const { catalog } = again.instance;
  const [{ shards }] = [...catalog.repos] as [(typeof catalog.repos)[0]];
  const file = openSync(catalog.shardPath(shards[0]!.shardId), 'r+');
  writeSync(file, 'X', HEADER_SIZE + 6);
  closeSync(file);
  const { merger, jobs } = again.instance.indexer;
  await merger.run();
  await jobs.whenIdle();
  await again.instance.symbols!.run();
  await merger.run();
  await again.instance.symbols!.run();
  assert.ok(again.warnings.includes('shard quarantined'));
  assert.deepEqual((await plumsOf(again)).sort(), before.sort());
  await checkFiles(again);
});

void test('a shard removed before it is read is not an error', async () => {
  await using index = await unmerged(4);
  await using again = await reopened(index);
  const { catalog, served } = again.instance;
  const merging = again.instance.indexer.merger.run();
  const [gone] = catalog.repos;
  const former = await catalog.commit(() => ({ removed: [gone!.record.repoId] }));
  served.publish();
  served.forget(gone!.shards.map(({ shardId }) => shardId));
  await catalog.removeFilesOf(former);
  await merging;
  assert.deepEqual(again.warnings, []);
  assert.equal(shardIdsOf(again).size, 1);
  assert.equal((await plumsOf(again)).length, 3);
  await checkFiles(again);
});

void test('a repo rebuilt during a merge keeps the result of its job', async () => {
  await using index = await unmerged(3);
  await using again = await reopened(index);
  const { merger, jobs } = again.instance.indexer;
  const { records } = again.instance.served;
  for (let i = 0; i < 4; i++) {
    git(index.repos[1]!, 'commit', '-q', '--allow-empty', '-m', `${i}`);
    const merging = merger.run();
    await jobs.indexAll([records[1]!], true);
    await jobs.indexAll([records[2]!], i % 2 === 0);
    await merging;
    await again.instance.symbols!.run();
    assert.equal((await plumsOf(again)).length, 3);
    await checkFiles(again);
  }
});

void test('a rebuilt repo is gone from its shared file, after a purge', async () => {
  await using index = await unmerged(3);
  await using again = await reopened(index);
  const { merger, jobs } = again.instance.indexer;
  await merger.run();
  writeFileSync(`${index.repos[1]!}/a.c`, 'int pear(void);\n');
  git(index.repos[1]!, 'commit', '-q', '-a', '--amend', '-m', 'purged');
  await jobs.indexAll([again.instance.served.records[1]!], true);
  assert.ok(isIn(again, 'plum1'));
  await merger.purge();
  assert.deepEqual(
    ['plum1', 'plum0', 'plum2', 'pear'].map((text) => isIn(again, text)),
    [false, true, true, true],
  );
  await again.instance.symbols!.run();
  assert.equal((await plumsOf(again)).length, 2);
  await checkFiles(again);
});

void test('closed during a merge: nothing is left behind', async () => {
  await using index = await unmerged(6);
  await using again = await reopened(index);
  void again.instance.indexer.merger.run();
  await again.close();
  await using last = await openIndexOf(index.dataDir, { findsSymbols: true, mergeLimits: LIMITS });
  const { catalog } = last.instance;
  assert.deepEqual(readdirSync(catalog.shardFolder).sort(), [...catalog.fileNames].sort());
  assert.equal((await plumsOf(last)).length, 6);
});

void test('damage found during a merge does not pass as valid', async () => {
  await using index = await unmerged(4);
  await using again = await reopened(index);
  const { merger, jobs } = again.instance.indexer;
  const { served, catalog } = again.instance;
  const shardId = (): string => catalog.repos[0]!.shards[0]!.shardId;
  served.quarantine(shardId(), 'for the test');
  await jobs.whenIdle();
  const merging = merger.run();
  // It was built again before: the next time that is after a pause. Why its source is away: a merge may take longer.
  const repo = index.repos[0]!;
  renameSync(repo, `${repo}.away`);
  served.quarantine(shardId(), 'for the test');
  await merging;
  assert.ok(served.isOut(shardId()));
  assert.equal((await again.search('plum')).isSearchExhaustive, false);
  renameSync(`${repo}.away`, repo);
  await again.index(index.repos, undefined, 'commits');
  assert.equal((await plumsOf(again)).length, 4);
});

void test('merges requested during a purge follow it', async () => {
  await using index = await unmerged(3);
  await using again = await reopened(index);
  const { merger } = again.instance.indexer;
  const purging = merger.purge();
  await merger.run();
  assert.equal(shardIdsOf(again).size, 1);
  await purging;
  await checkFiles(again);
});

/** An index of repos in one shard, half of whose docs are of nobody. */
async function withHole(): Promise<MergeableIndex> {
  await using index = await unmerged(4);
  const again = await reopened(index);
  const { merger, jobs } = again.instance.indexer;
  const { catalog, served } = again.instance;
  await merger.run();
  await jobs.whenIdle();
  const removed = catalog.repos.slice(0, 2).map(({ record }) => record.repoId);
  await catalog.commit(() => ({ removed }));
  served.publish();
  assert.ok(isIn(again, 'plum0') && isIn(again, 'plum3'));
  return again;
}

void test('a purge does not wait for the pause after failed merges', async (t) => {
  await using index = await withHole();
  const { merger } = index.instance.indexer;
  const refused = (): Promise<never> => Promise.reject(new Error('no room'));
  const { mock } = t.mock.method(index.instance.catalog, 'adoptShard', refused);
  await merger.run();
  assert.deepEqual([mock.callCount(), index.warnings.length], [2, 3]);
  await merger.run();
  assert.equal(mock.callCount(), 2, 'it waits');
  mock.restore();
  await merger.purge();
  assert.ok(!isIn(index, 'plum0') && isIn(index, 'plum3'));
  await checkFiles(index);
});

void test('an impossible purge ends', async (t) => {
  await using index = await withHole();
  const { merger } = index.instance.indexer;
  for (const error of [new Error('no room'), new MergeOverflow()]) {
    const refused = (): Promise<never> => Promise.reject(error);
    const { mock } = t.mock.method(index.instance.catalog, 'adoptShard', refused);
    await merger.purge();
    assert.ok(mock.callCount() > 0);
    mock.restore();
    assert.equal((await plumsOf(index)).length, 2);
  }
  assert.ok(isIn(index, 'plum0'));
  await merger.purge();
  assert.ok(!isIn(index, 'plum0'));
});

void test('shards too large together stay separate, others are merged', async (t) => {
  await using index = await unmerged(6);
  const before = await plumsOf(index);
  const all = shardIdsOf(index);
  await using again = await reopened(index, { ...LIMITS, docCountMax: 3 });
  const { catalog } = again.instance;
  const overflow = (): Promise<never> => Promise.reject(new MergeOverflow());
  t.mock.method(catalog, 'adoptShard', overflow, { times: 1 });
  const { merger } = again.instance.indexer;
  for (let i = 0; i < 2; i++) {
    await merger.run();
    const now = shardIdsOf(again);
    assert.equal(now.size, 4);
    assert.equal([...now].filter((shardId) => all.has(shardId)).length, 3);
    assert.deepEqual(await plumsOf(again), before);
  }
  assert.deepEqual(again.warnings, []);
  await checkFiles(again);
  await using last = await reopened(again);
  await last.instance.indexer.merger.run();
  assert.equal(shardIdsOf(last).size, 1, 'the next process tries again');
  assert.deepEqual(await plumsOf(last), before);
});

void test('a long job keeps its repo out of a merge, and no other', async (t) => {
  await using index = await unmerged(4);
  const files = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`${i}.c`, `int x${i};\n`]));
  writeFiles(index.repos[0]!, files);
  commitAll(index.repos[0]!);
  await index.index(index.repos, undefined, 'commits');
  await using again = await reopened(index);
  await again.instance.symbols!.run();
  const { merger, jobs } = again.instance.indexer;
  const { catalog, served } = again.instance;
  git(index.repos[0]!, 'rm', '-q', '0.c');
  git(index.repos[0]!, 'commit', '-q', '-m', 'less');
  let go = (): void => {};
  const isGoing = new Promise<void>((resolve) => (go = resolve));
  const write = catalog.writeRevisions.bind(catalog);
  const slowly = async (file: Buffer): Promise<string> => isGoing.then(() => write(file));
  const { mock } = t.mock.method(catalog, 'writeRevisions', slowly, { times: 1 });
  const long = jobs.indexAll([served.records[0]!], false);
  while (mock.callCount() === 0) await nextTimeSlice();
  const before = shardIdsOf(again);
  await merger.run();
  const [busy, ...others] = catalog.repos.map(({ shards }) => shards.map(({ shardId }) => shardId));
  assert.ok(busy!.every((shardId) => before.has(shardId)));
  assert.deepEqual(others, [others[0], others[0], others[0]]);
  assert.ok(!before.has(others[0]![0]!));
  await merger.run();
  go();
  const [job] = await long;
  assert.equal(job!.built, 'delta');
  await merger.run();
  await again.instance.symbols!.run();
  assert.equal((await plumsOf(again)).length, 4);
  assert.equal((await again.search('int x')).files.length, 8);
  assert.deepEqual(again.warnings, []);
  await checkFiles(again);
});
