// Jobs in the store: written as they go on, of one daemon each, the last of each repo, pages, and their end.
// tier: ci (long)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobWrite } from '../../daemon/store/jobs.ts';
import { onBothEngines } from './harness.ts';

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
    lines: '[]',
    ...more,
  };
}

function asRead(written: JobWrite): Omit<JobWrite, 'lines'> {
  const { lines: _, ...rest } = written;
  return rest;
}

onBothEngines('jobs', ({ withStore }) => {
  test('a job goes on, and is of its instance alone', () =>
    withStore(async ({ jobs }) => {
      await jobs.write('a', [job(1)], []);
      assert.deepEqual(await jobs.byId('a', 'j1'), asRead(job(1)));
      assert.equal(await jobs.byId('b', 'j1'), undefined);
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
      await jobs.write('a', [done], []);
      assert.deepEqual(await jobs.byId('a', 'j1'), asRead(done));
      assert.equal(await jobs.linesOf('a', 'repo-index', 'j1'), '[{"a":1}]');
      assert.equal(await jobs.linesOf('a', 'connection-sync', 'j1'), undefined);
      assert.equal(await jobs.linesOf('b', 'repo-index', 'j1'), undefined);
      assert.equal(await jobs.linesOf('a', 'repo-index', 'j\0'), undefined);
    }));

  test('the last job of each target, and which of them are open', () =>
    withStore(async ({ jobs }) => {
      await jobs.write(
        'a',
        [
          job(1, { state: 'FAILED' }),
          job(2, { state: 'COMPLETED' }),
          job(3, { targetId: 2, state: 'COMPLETED' }),
          job(4, { targetId: 2, state: 'FAILED', error: 'no' }),
          job(5, { targetId: 3, state: 'IN_PROGRESS' }),
          job(6, { targetId: 3, queue: 'connection-sync', state: 'COMPLETED' }),
        ],
        [],
      );
      await jobs.write('b', [job(9, { state: 'FAILED' })], []);
      const latest = await jobs.latest('a', 'repo-index', [2, 1, 7]);
      assert.deepEqual(
        latest.map(({ id }) => id),
        ['j4', 'j2'],
      );
      assert.deepEqual(
        (await jobs.open('a')).map(({ id }) => id),
        ['j4', 'j5'],
      );
    }));

  test('pages, newest first; what ended long ago goes, whose ever it was; what is open stays', () =>
    withStore(async ({ jobs }) => {
      const many = Array.from({ length: 250 }, (_, i) =>
        job(i, { state: i % 2 === 0 ? 'COMPLETED' : 'FAILED', finishedAt: i }),
      );
      await jobs.write('a', many, []);
      const ended = { state: 'FAILED', finishedAt: 2_499 } as const;
      await jobs.write('b', [job(1_000, ended), job(1_001), job(1_002, { startedAt: 1 })], []);
      const states = ['COMPLETED'] as const;
      const page = await jobs.list('a', { states, queue: 'repo-index', offset: 1, limit: 2 });
      assert.deepEqual([page.total, page.rows.map(({ id }) => id)], [125, ['j246', 'j244']]);
      const none = await jobs.list('a', { states, queue: 'connection-sync', offset: 0, limit: 2 });
      assert.deepEqual(none, { total: 0, rows: [] });
      assert.equal(await jobs.prune(2_500), 251);
      assert.deepEqual(
        (await jobs.open('b')).map(({ id }) => id),
        ['j1001', 'j1002'],
      );
      assert.equal(await jobs.prune(Number.MAX_SAFE_INTEGER), 0);
      await jobs.write('b', [], ['j1001', 'j1002']);
      assert.deepEqual(await jobs.open('b'), []);
    }));
});
