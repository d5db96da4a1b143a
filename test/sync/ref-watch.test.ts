// When repositories are polled, and which are indexed again after their refs moved.

import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { RepoRecord } from '../../daemon/repos/records.ts';
import { refStateOf } from '../../daemon/sources/git/ref-state.ts';
import { pauseAfter, RefWatch, type RefWatchOptions } from '../../daemon/sync/watch/ref-watch.ts';
import { repoRecord } from '../repos/record.ts';
import { commitFiles, makeRepo } from '../sources/git/fixture.ts';

function recordOf(repoId: number, repo: string): RepoRecord {
  return { ...repoRecord(repoId, `local/${repoId}`), source: { kind: 'commits', path: repo } };
}

/** A repo and a watch of it whose clock is moved by hand. */
function watched(
  t: TestContext,
  more: Partial<RefWatchOptions> = {},
): {
  readonly repo: string;
  /** Lets time pass, a second at a time; returns the seconds in which a job began. */
  readonly pass: (seconds: number) => Promise<number[]>;
} {
  const repo = makeRepo({ 'a.txt': 'plum\n' });
  const record = recordOf(1, repo);
  let second = 0;
  let startedIds: number[] = [];
  t.mock.method(performance, 'now', () => second * 1000);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const watch = new RefWatch({
    records: () => [record],
    statesOf: (paths) => Promise.resolve(paths.map(refStateOf)),
    wasIndexedIn: () => undefined,
    index: () => void startedIds.push(second),
    ...more,
  });
  watch.start();
  const pass = async (seconds: number): Promise<number[]> => {
    startedIds = [];
    for (let i = 0; i < seconds; i++) {
      for (let whenRunning = 0; whenRunning < 10; whenRunning++) await new Promise(setImmediate);
      second++;
      t.mock.timers.tick(1000);
    }
    for (let whenRunning = 0; whenRunning < 10; whenRunning++) await new Promise(setImmediate);
    return startedIds;
  };
  t.after(() => watch.close());
  return { repo, pass };
}

void test('a ref moved between a job and the first poll is indexed', async (t) => {
  const indexedIn = { state: '' };
  const { repo, pass } = watched(t, { wasIndexedIn: (_, state) => state === indexedIn.state });
  indexedIn.state = refStateOf(repo);
  commitFiles(repo, { 'b.txt': 'pear\n' });
  // The look of the start was before that.
  assert.deepEqual(await pass(3), [1]);
});

void test('a ref moved during the first indexing of a repo is indexed', async (t) => {
  const repo = makeRepo({ 'a.txt': 'plum\n' });
  const { indexedAt: _, ...unindexed } = recordOf(1, repo);
  let record: RepoRecord = unindexed;
  const { pass } = watched(t, { records: () => [record] });
  assert.deepEqual(await pass(2), []);
  commitFiles(repo, { 'b.txt': 'pear\n' });
  // Its job ends before the next look.
  record = recordOf(1, repo);
  assert.equal((await pass(3)).length, 1);
});

void test('of many repos a calm one is polled every fourth time, a moved one each time', async (t) => {
  let repos = Array.from({ length: 600 }, (_, i) => recordOf(i + 1, `/nowhere/${i + 1}`));
  const probes = new Map<string, number>();
  const moved = { path: '', version: 0 };
  const { pass } = watched(t, {
    records: () => repos,
    statesOf: (paths) => {
      for (const path of paths) probes.set(path, (probes.get(path) ?? 0) + 1);
      return Promise.resolve(
        paths.map((path) => (path === moved.path ? String(moved.version) : '0')),
      );
    },
  });
  await pass(2);
  probes.clear();
  await pass(80);
  assert.deepEqual([probes.size, new Set(probes.values())], [600, new Set([20])]);
  [moved.path, moved.version] = ['/nowhere/77', 1];
  const [first = 0, ...more] = await pass(10);
  assert.ok(first > 82 && first <= 90 && more.length === 0, `at ${first}`);
  moved.version++;
  assert.deepEqual(await pass(5), [93]);
  await pass(700);
  probes.clear();
  await pass(80);
  assert.deepEqual([probes.get(moved.path), probes.size], [20, 600]);
  moved.version++;
  await pass(10);
  // One that is served no more, and later again, is another one.
  const all = repos;
  repos = all.filter(({ source }) => source.path !== moved.path);
  await pass(5);
  repos = all;
  await pass(5);
  probes.clear();
  await pass(80);
  assert.equal(probes.get(moved.path), 20);
});

void test('rounds are a second apart, and half a minute at most', () => {
  assert.equal(pauseAfter(0.1), 1_000);
  assert.equal(pauseAfter(500), 7_500);
  assert.equal(pauseAfter(300_000), 30_000);
});
