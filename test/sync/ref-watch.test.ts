// When repositories are indexed again: what failed is tried after pauses, whoever failed, and sooner where its refs move.

import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { RepoRecord } from '../../daemon/repos/records.ts';
import { refStateOf } from '../../daemon/sources/git/ref-state.ts';
import { pauseAfter, RefWatch } from '../../daemon/sync/ref-watch.ts';
import { commitAll, git, makeRepo, writeFiles } from '../sources/git/fixture.ts';

/** A repo and a watch of it whose clock is moved by hand. */
function watched(t: TestContext): {
  readonly repo: string;
  /** What jobs come to from now on. */
  outcome: { hasFailed: boolean };
  /** Lets time pass, a second at a time; returns the seconds in which a job began. */
  readonly pass: (seconds: number) => Promise<number[]>;
} {
  const repo = makeRepo({ 'a.txt': 'plum\n' });
  const record: RepoRecord = {
    repoId: 1,
    name: 'local/a',
    codeHostType: 'genericGitHost',
    isFork: false,
    isArchived: false,
    visibility: 'unknown',
    source: { kind: 'commits', path: repo },
    defaultRevision: 'refs/heads/main',
  };
  const outcome = { hasFailed: false };
  let second = 0;
  let begun: number[] = [];
  t.mock.method(performance, 'now', () => second * 1000);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const watch = new RefWatch({
    records: () => [record],
    statesOf: (paths) => Promise.resolve(paths.map(refStateOf)),
    hasFailed: () => outcome.hasFailed,
    index: () => {
      begun.push(second);
      return Promise.resolve(!outcome.hasFailed);
    },
  });
  watch.start();
  const pass = async (seconds: number): Promise<number[]> => {
    begun = [];
    for (let i = 0; i < seconds; i++) {
      for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
      second++;
      t.mock.timers.tick(1000);
    }
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    return begun;
  };
  t.after(() => watch.close());
  return { repo, outcome, pass };
}

void test('what another job failed at is tried again, though nothing moved', async (t) => {
  const { outcome, pass } = watched(t);
  assert.deepEqual(await pass(5), []);
  outcome.hasFailed = true;
  const [first = 0, ...later] = await pass(70);
  assert.equal(first, 6);
  assert.deepEqual(later, [8, 12, 20, 36, 68]);
  outcome.hasFailed = false;
  assert.deepEqual(await pass(100), []);
});

void test('a repo that rests after failures is tried soon after its refs moved', async (t) => {
  const { repo, outcome, pass } = watched(t);
  outcome.hasFailed = true;
  await pass(1100);
  // The next one would be 1,022 s after the last.
  writeFiles(repo, { 'b.txt': 'pear\n' });
  commitAll(repo);
  const [next = 0] = await pass(70);
  assert.ok(next >= 1155 && next <= 1165, `at ${next}`);
});

void test('a repo that somebody else mended rests no longer', async (t) => {
  const { repo, outcome, pass } = watched(t);
  outcome.hasFailed = true;
  await pass(1100);
  outcome.hasFailed = false;
  await pass(2);
  git(repo, 'commit', '-q', '--allow-empty', '-m', 'more');
  assert.deepEqual(await pass(3), [1103]);
});

void test('rounds are a second apart, and half a minute at most', () => {
  assert.equal(pauseAfter(0.1), 1_000);
  assert.equal(pauseAfter(500), 7_500);
  assert.equal(pauseAfter(300_000), 30_000);
});
