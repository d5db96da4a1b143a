// The job queue in the store: requests, claims and ends, each job with one daemon; the last job of each repo, pages,
// and removal.
// tier: ci (long)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type JobClaim,
  type JobRows,
  type JobExchange,
  type JobWrite,
  REPLACED,
} from '../../daemon/store/jobs.ts';
import { NOTHING } from '../sync/jobs-of.ts';
import { onBothEngines } from './harness.ts';

const NAME = { instance: 'a', queue: 'repo-index' };
const NOW = NOTHING.now;
const CLAIM: JobClaim = { leaseMs: 9, running: new Map(), runningMax: 2, busy: [] };
const exchangeOf = (jobs: JobRows) => (more: Partial<JobExchange>) =>
  jobs.exchange(NAME, { ...NOTHING, ...more });
const write = (jobs: JobRows, instance: string, writes: readonly JobWrite[]) =>
  jobs.exchange({ ...NAME, instance }, { ...NOTHING, writes });

function job(ordinal: number, more: Partial<JobWrite> = {}): JobWrite {
  return {
    id: `j${ordinal}`,
    queue: 'repo-index',
    targetId: 1,
    priority: 10,
    state: 'PENDING',
    attempt: 0,
    ordinal,
    createdAt: 1_000 + ordinal,
    startedAt: null,
    finishedAt: null,
    error: null,
    result: null,
    host: '',
    dueAt: NOW,
    failures: 0,
    lines: '[]',
    ...more,
  };
}

function asRead(written: JobWrite): Omit<JobWrite, 'lines'> {
  const { lines: _, ...rest } = written;
  return rest;
}

const targetsOf = (jobs: readonly { readonly targetId: number }[]): number[] =>
  jobs.map(({ targetId }) => targetId);

onBothEngines('jobs', ({ withStore }) => {
  test('a job round-trips, and belongs to its instance only', () =>
    withStore(async ({ jobs }) => {
      const all = { offset: 0, limit: 9 };
      const done = job(1, {
        state: 'COMPLETED',
        attempt: 1,
        priority: 1,
        startedAt: 5,
        finishedAt: 9,
        error: 'ä\u{1f600}',
        result: { docs: 3, skipped: { binary: 1 } },
        lines: '[{"a":1}]',
      });
      await write(jobs, 'a', [job(1)]);
      await write(jobs, 'a', [done]);
      assert.deepEqual((await jobs.list('a', all)).rows, [asRead(done)]);
      assert.deepEqual((await jobs.list('b', all)).rows, []);
      assert.equal(await jobs.linesOf('a', 'repo-index', 'j1'), '[{"a":1}]');
      assert.equal(await jobs.linesOf('a', 'connection-sync', 'j1'), undefined);
      assert.equal(await jobs.linesOf('b', 'repo-index', 'j1'), undefined);
      assert.equal(await jobs.linesOf('a', 'repo-index', 'j\0'), undefined);
      assert.deepEqual([await jobs.lastOrdinal('a'), await jobs.lastOrdinal('b')], [1, 0]);
    }));

  test('a target has one pending job; jobs are claimed by priority, within the limit of a host, none of busy targets', () =>
    withStore(async ({ jobs }) => {
      const exchange = exchangeOf(jobs);
      const requests = [1, 2, 3, 4, 5].map((targetId) =>
        job(targetId, { targetId, host: targetId < 4 ? 'x' : '' }),
      );
      const first = await exchange({ requests });
      assert.deepEqual(first.claimed, []);
      const again = await exchange({
        requests: [job(9, { targetId: 3, priority: 1, host: 'x' })],
      });
      const [third] = again.pending;
      assert.equal(third!.id, first.pending.find(({ targetId }) => targetId === 3)!.id);
      assert.equal(third!.priority, 1);
      const claim = { ...CLAIM, busy: [4] };
      const { claimed } = await exchange({ claim });
      assert.deepEqual(targetsOf(claimed), [3, 1, 5]);
      assert.deepEqual([claimed[0]!.state, claimed[0]!.attempt], ['IN_PROGRESS', 1]);
      const running = new Map([['x', 2]]);
      const next = await exchange({ claim: { ...CLAIM, running } });
      assert.deepEqual(targetsOf(next.claimed), [4]);
      const ended = { ...claimed[0]!, state: 'COMPLETED', finishedAt: NOW } as const;
      const last = await exchange({
        writes: [ended],
        claim: { ...CLAIM, running: new Map([['x', 1]]) },
      });
      assert.deepEqual(targetsOf(last.claimed), [2]);
    }));

  test('a failed job is due after its pause, which a request ends; a cancelled one never', () =>
    withStore(async ({ jobs }) => {
      const exchange = exchangeOf(jobs);
      const at = (ms: number) => exchange({ now: NOW + ms, claim: CLAIM });
      const pending = job(1, { attempt: 1, startedAt: 1, error: 'no', dueAt: NOW + 100 });
      const failed = job(2, { targetId: 2, state: 'FAILED', finishedAt: 1, dueAt: NOW + 200 });
      const gone = job(3, { targetId: 3, dueAt: NOW + 100 });
      const before = await exchange({ writes: [pending, failed, gone], claim: CLAIM });
      assert.deepEqual([before.claimed, before.nextDueAt], [[], NOW + 100]);
      await exchange({ cancelled: new Map([[3, 'gone']]) });
      const { claimed, dueTargets, nextDueAt } = await at(100);
      assert.deepEqual([targetsOf(claimed), claimed[0]!.attempt], [[1], 2]);
      assert.deepEqual([dueTargets, nextDueAt], [[], claimed[0]!.dueAt]);
      const waiting = { ...claimed[0]!, state: 'PENDING', dueAt: NOW + 300 } as const;
      await exchange({ writes: [waiting], requests: [job(4, { dueAt: NOW + 150 })] });
      assert.deepEqual(targetsOf((await at(150)).claimed), [1]);
      assert.deepEqual((await at(200)).dueTargets, [2]);
      assert.deepEqual((await at(300)).dueTargets, [], 'once');
    }));

  test('of the jobs of a target that wait again only the last one waits', () =>
    withStore(async ({ jobs }) => {
      const exchange = exchangeOf(jobs);
      const [former, ...later] = [job(1), job(2), job(3)];
      await exchange({ writes: [former, job(4, { targetId: 2 })] });
      await exchange({
        writes: [job(5, { state: 'FAILED', error: 'no', finishedAt: 1 }), ...later],
      });
      const { rows } = await jobs.list('a', { offset: 0, limit: 9 });
      const shown = rows.map(({ id, state, error }) => [id, state, error]);
      assert.deepEqual(shown, [
        ['j4', 'PENDING', null],
        ['j3', 'PENDING', null],
        ['j5', 'FAILED', 'no'],
        ['j2', 'FAILED', REPLACED],
        ['j1', 'FAILED', REPLACED],
      ]);
      assert.equal((await exchange({ claim: CLAIM })).claimed.length, 2);
    }));

  test('a killed process: unfinished jobs wait to be requested, and are repeated', () =>
    withStore(async ({ jobs }) => {
      const exchange = exchangeOf(jobs);
      const requests = [1, 2, 3].map((targetId) => job(targetId, { targetId }));
      const { claimed } = await exchange({ requests, claim: CLAIM });
      await exchange({ requests: [job(4, { targetId: 1 })] });
      const open = await jobs.release(NAME, NOW);
      assert.deepEqual(
        open.map(({ targetId, state, dueAt }) => [targetId, state, dueAt]),
        [2, 3, 1].map((targetId) => [targetId, 'PENDING', null]),
      );
      assert.deepEqual((await exchange({ claim: CLAIM })).claimed, []);
      const next = await exchange({ requests: [job(5, { targetId: 2 })], claim: CLAIM });
      const second = claimed.find(({ targetId }) => targetId === 2)!;
      assert.deepEqual(
        next.claimed.map(({ id, attempt }) => [id, attempt]),
        [[second.id, 1]],
      );
      await exchange({ cancelled: new Map([1, 3].map((targetId) => [targetId, 'not served'])) });
      const { rows } = await jobs.list('a', { states: ['FAILED'], offset: 0, limit: 9 });
      assert.deepEqual(rows.map(({ targetId, error }) => `${targetId} ${error}`).sort(), [
        `1 ${REPLACED}`,
        '1 not served',
        '3 not served',
      ]);
    }));

  test('a process that dies while another one lives: its jobs are claimed when their lease ends', () =>
    withStore(async ({ jobs }) => {
      const exchange = exchangeOf(jobs);
      const survivor = (ms: number, busy: readonly number[] = []) =>
        exchange({ owner: 'q', now: NOW + ms, claim: { ...CLAIM, leaseMs: 100, busy } });
      const { claimed } = await exchange({
        requests: [1, 2].map((targetId) => job(targetId, { targetId })),
        claim: { ...CLAIM, leaseMs: 50 },
      });
      await exchange({ requests: [job(3, { targetId: 2 })] });
      const before = await survivor(49, [2]);
      assert.deepEqual([before.claimed, before.nextDueAt], [[], NOW + 50], 'it wakes then');
      const taken = await survivor(50);
      assert.deepEqual(
        taken.claimed.map(({ targetId, attempt, dueAt }) => [targetId, attempt, dueAt]),
        [
          [2, 1, NOW + 150],
          [1, 1, NOW + 150],
        ],
      );
      // The first process was only slow: what it did later does not count.
      const late = claimed.map((one) => ({ ...one, state: 'FAILED', finishedAt: NOW }) as const);
      await exchange({ writes: late });
      const list = async (): Promise<string[]> =>
        (await jobs.list('a', { offset: 0, limit: 9 })).rows.map(({ targetId, state, error }) =>
          `${targetId} ${state} ${error ?? ''}`.trim(),
        );
      assert.deepEqual(await list(), ['2 IN_PROGRESS', '1 IN_PROGRESS', `2 FAILED ${REPLACED}`]);
      const done = taken.claimed.map(
        (one) => ({ ...one, state: 'COMPLETED', finishedAt: 1 }) as const,
      );
      await exchange({ owner: 'q', writes: done });
      await exchange({ writes: late });
      assert.deepEqual(await list(), ['2 COMPLETED', `2 FAILED ${REPLACED}`, '1 COMPLETED']);
    }));

  test('the last job of each target, and the state after a start', () =>
    withStore(async ({ jobs }) => {
      await write(jobs, 'a', [
        job(1, { state: 'FAILED' }),
        job(2, { state: 'COMPLETED' }),
        job(3, { targetId: 2, state: 'COMPLETED' }),
        job(4, { targetId: 2, state: 'FAILED', error: 'no' }),
        job(5, { targetId: 3, state: 'IN_PROGRESS' }),
        job(6, { targetId: 3, queue: 'connection-sync', state: 'COMPLETED' }),
      ]);
      await write(jobs, 'b', [job(9, { state: 'FAILED' })]);
      const latest = await jobs.latest('a', 'repo-index', [2, 1, 7]);
      assert.deepEqual(
        latest.map(({ id }) => id),
        ['j4', 'j2'],
      );
      assert.deepEqual(
        (await jobs.release(NAME, NOW)).map(({ id }) => id),
        ['j4', 'j5'],
      );
    }));

  test('pages, newest first; old finished jobs of any instance are removed; open ones stay', () =>
    withStore(async ({ jobs }) => {
      const many = Array.from({ length: 250 }, (_, i) =>
        job(i, { state: i % 2 === 0 ? 'COMPLETED' : 'FAILED', finishedAt: i }),
      );
      await write(jobs, 'a', many);
      const ended = { state: 'FAILED', finishedAt: 2_499 } as const;
      const open = [job(1_001), job(1_002, { targetId: 2, startedAt: 1 })];
      await write(jobs, 'b', [job(1_000, ended), ...open]);
      const states = ['COMPLETED'] as const;
      const page = await jobs.list('a', { states, queue: 'repo-index', offset: 1, limit: 2 });
      assert.deepEqual([page.total, page.rows.map(({ id }) => id)], [125, ['j246', 'j244']]);
      const none = await jobs.list('a', { states, queue: 'connection-sync', offset: 0, limit: 2 });
      assert.deepEqual(none, { total: 0, rows: [] });
      const newest = await jobs.list('b', { offset: 0, limit: 9 });
      assert.deepEqual(
        newest.rows.map(({ id }) => id),
        ['j1002', 'j1001', 'j1000'],
      );
      assert.equal(await jobs.prune(2_500), 251);
      assert.equal((await jobs.list('b', { offset: 0, limit: 9 })).total, 2);
      assert.equal(await jobs.prune(Number.MAX_SAFE_INTEGER), 0);
    }));
});
