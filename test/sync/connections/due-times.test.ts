// Due times, with a clock set by the test: no jump of the clock makes anything due early, or delays it longer than
// its interval.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import { DueTimes } from '../../../daemon/sync/connections/due-times.ts';
import { removalsOf } from '../../../daemon/sync/connections/cleanup-jobs.ts';
import { connectionOf, hostOf } from '../../store/harness.ts';

test('due after the interval, plus or minus a tenth, independent of the time of day', (t) => {
  let [nowMs, today] = [0, 1e12];
  t.mock.method(performance, 'now', () => nowMs);
  t.mock.method(Date, 'now', () => today);
  t.mock.method(Math, 'random', () => 0.5);
  const times = new DueTimes(() => 1_000);
  times.restart(1);
  times.resume(2, undefined);
  times.resume(3, today - 400);
  times.resume(4, today + 1e9);
  times.resume(5, 0);
  assert.deepEqual(times.take(), [2, 5]);
  today -= 1e9;
  nowMs = 600;
  assert.deepEqual(times.take(), [3]);
  today += 2e9;
  nowMs = 999;
  assert.deepEqual(times.take(), []);
  nowMs = 1_000;
  assert.deepEqual(
    times.take(),
    [1, 2, 4, 5],
    'of the past, or of the future, it waited for no longer',
  );
  times.forget(1);
  assert.equal(times.has(1), false);
});

test('removals: the time a repository was missed, plus the delay', () => {
  const link = { connectionId: 1, repoId: 1, listing: 1, missingSince: 500 };
  const repo = {
    repoId: 1,
    name: 'host/o/1',
    visibility: 'unknown',
    enforcement: 'none',
    host: hostOf('1'),
  } as const;
  const registryOf = (wholeAt: number | null) => ({
    repos: [repo],
    removed: [],
    nextRepoId: 2,
    connections: [connectionOf(1, { wholeAt })],
    links: [link],
    nextConnectionId: 2,
  });
  assert.deepEqual(removalsOf(registryOf(1), 10), [{ repo, at: 510 }]);
  assert.deepEqual(removalsOf(registryOf(null), 10), []);
});
