// Jobs over both stores, with a programmable indexer: concurrency and order, one for each repo, attempts, what is
// stored, what a start resumes, and a store that cannot be written.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import type { IndexOutcome } from '../../daemon/sync/jobs/index-repo.ts';
import { JobLines } from '../../daemon/sync/jobs/job-lines.ts';
import { REPLACED } from '../../daemon/store/jobs.ts';
import { onBothEngines } from '../store/harness.ts';
import {
  type Daemon,
  daemonOn,
  mockTimers,
  newRows,
  recordOf,
  NEW_ID,
  NOTHING,
} from './jobs-of.ts';

const repoIdsOf = ({ attempts }: Daemon): number[] => attempts.map(({ repoId }) => repoId);

const ALL = { offset: 0, limit: 100 };

/** `repoId state attempt error` of all jobs, newest first. */
async function displayed({ jobFacade }: Daemon): Promise<string[]> {
  const { items, total } = await jobFacade.list(ALL);
  assert.equal(items.length, total);
  return items.map(({ targetId, state, attempt, error }) =>
    [targetId, state, attempt, error ?? ''].join(' ').trim(),
  );
}

onBothEngines('jobs of the index', ({ withStore }) => {
  test('two repos at a time, one job for each; another request returns the waiting job', () =>
    withStore(async ({ jobs: rows }) => {
      await using daemon = await daemonOn(rows);
      const { jobs, attempts, calm } = daemon;
      const all = jobs.indexAll([1, 2, 3].map(recordOf), false);
      await calm();
      assert.deepEqual(repoIdsOf(daemon), [1, 2]);
      const third = jobs.request(recordOf(3), { isForced: true });
      assert.equal(jobs.request(recordOf(3)), third);
      const again = jobs.request(recordOf(1));
      assert.equal(jobs.request(recordOf(1)), again);
      await attempts[1]!.end();
      assert.deepEqual(repoIdsOf(daemon), [1, 2, 3]);
      assert.equal(attempts[2]!.isForced, true);
      await attempts[2]!.end();
      assert.deepEqual(repoIdsOf(daemon), [1, 2, 3], 'never twice the same repo');
      let isIdle = false;
      const idle = jobs.whenIdle().then(() => (isIdle = true));
      await attempts[0]!.end();
      assert.deepEqual(repoIdsOf(daemon), [1, 2, 3, 1]);
      assert.deepEqual(
        (await all).map(({ repo, state }) => `${repo} ${state}`),
        ['r1 COMPLETED', 'r2 COMPLETED', 'r3 COMPLETED'],
      );
      assert.equal(isIdle, false);
      await attempts[3]!.end();
      await idle;
    }));

  test('by priority, then in order of request', () =>
    withStore(async ({ jobs: rows }) => {
      await using daemon = await daemonOn(rows, { runningMax: 1 });
      const { jobs, attempts } = daemon;
      for (const repoId of [1, 2, 3]) jobs.request(recordOf(repoId));
      await daemon.calm();
      for (const repoId of [NEW_ID, 2]) {
        // Of the second one: as it was before it was indexed.
        const { indexedAt: _, ...unindexed } = recordOf(repoId);
        jobs.request(unindexed);
      }
      const id = await jobs.requestPersisted(recordOf(3));
      assert.equal(await jobs.requestPersisted(recordOf(3)), id);
      for (let i = 0; i < 4; i++) await attempts[i]!.end();
      assert.deepEqual(repoIdsOf(daemon), [1, 3, NEW_ID, 2]);
    }));

  test('stored are jobs with an effect, requested ones, failures, and the end of a failure', () =>
    withStore(async ({ jobs: rows }) => {
      await using daemon = await daemonOn(rows, { attemptsMax: 1 });
      const { jobs, jobFacade, attempts } = daemon;
      const next = async (outcome: Partial<IndexOutcome> | Error): Promise<void> => {
        jobs.request(recordOf(1));
        await daemon.calm();
        await attempts.at(-1)!.end(outcome);
      };
      await next({ isUnchanged: true });
      assert.deepEqual(await displayed(daemon), []);
      jobs.request(recordOf(1));
      await daemon.calm();
      attempts.at(-1)!.context.onWork();
      attempts.at(-1)!.context.warn('left', { apiKey: 'x', note: `svk_${'0'.repeat(64)}` });
      await attempts.at(-1)!.end();
      assert.deepEqual(await displayed(daemon), ['1 COMPLETED 1']);
      const [done] = (await jobFacade.list(ALL)).items;
      assert.equal(done!.result!['docs'], 3);
      assert.deepEqual(done!.result!['skipped'], { binary: 1 });
      const lines = (await jobFacade.lines('repo-index', done!.id))?.lines;
      assert.deepEqual(
        lines!.map(({ message, level, attempt }) => [message, level, attempt]),
        [
          ['left', 'warn', 1],
          ['repo indexed', 'info', 1],
        ],
      );
      assert.deepEqual(lines![0]!.fields, { apiKey: '[redacted]', note: 'svk_[redacted]' });
      assert.equal(await jobFacade.lines('connection-sync', done!.id), undefined);
      assert.equal(await jobFacade.lines('repo-index', 'none'), undefined);
      // The same failure again and again is one job.
      for (let i = 0; i < 3; i++) await next(new Error('no'));
      assert.deepEqual(await displayed(daemon), ['1 FAILED 1 no', '1 COMPLETED 1']);
      assert.deepEqual(jobFacade.counts([recordOf(1)]), { firstTime: 0, failed: 1, warned: 0 });
      await next({ isUnchanged: true });
      assert.deepEqual(await displayed(daemon), [
        '1 COMPLETED 1',
        '1 FAILED 1 no',
        '1 COMPLETED 1',
      ]);
      await next({ isUnchanged: true });
      assert.equal((await displayed(daemon)).length, 3);
    }));

  for (const isKilled of [false, true]) {
    const what = isKilled ? 'a kill' : 'a stop';
    test(`a job interrupted by ${what} is resumed; one of another daemon is not`, () =>
      withStore(async ({ jobs: rows }) => {
        await using before = await daemonOn(rows);
        for (const repoId of [1, 2, 3, 4]) void before.jobs.requestPersisted(recordOf(repoId));
        await before.calm();
        const { items } = await before.jobFacade.list(ALL);
        if (!isKilled) await before.jobs.close();
        await using other = await daemonOn(rows, { instance: 'b' });
        assert.deepEqual(await displayed(other), []);
        await other.jobs.close();
        await using after = await daemonOn(rows);
        assert.deepEqual(
          (await displayed(after)).map((one) => one.split(' ')[1]),
          Array(4).fill('PENDING'),
        );
        const all = after.jobs.indexAll([1, 2, 3].map(recordOf), false);
        await after.calm();
        after.jobs.failUnrequested();
        assert.deepEqual(await displayed(after), [
          '3 PENDING 0',
          '2 IN_PROGRESS 1',
          '1 IN_PROGRESS 1',
          '4 FAILED 0 the repository is not served any more',
        ]);
        assert.equal(after.jobs.failed.reasonOf(4), undefined);
        const idsOf = (jobs: typeof items): string[] => jobs.map(({ id }) => id).sort();
        assert.deepEqual(idsOf((await after.jobFacade.list(ALL)).items), idsOf(items));
        for (const i of [0, 1, 2]) await after.attempts[i]!.end();
        await all;
        assert.deepEqual((await displayed(after)).slice(1), [
          '3 COMPLETED 1',
          '2 COMPLETED 1',
          '1 COMPLETED 1',
        ]);
      }));
  }

  test('the reason of the last failed job is available after a start', () =>
    withStore(async ({ jobs: rows }) => {
      await using before = await daemonOn(rows, { attemptsMax: 1 });
      before.jobs.request(recordOf(1));
      await before.calm();
      await before.attempts[0]!.end(new Error('no disk'));
      await before.jobs.close();
      await using after = await daemonOn(rows);
      assert.equal(after.jobs.failed.reasonOf(1), 'no disk');
      after.jobs.request(recordOf(1));
      await after.calm();
      await after.attempts[0]!.end({ isUnchanged: true });
      await after.jobs.close();
      await using last = await daemonOn(rows);
      assert.equal(last.jobs.failed.reasonOf(1), undefined);
    }));

  test('a clock set back: the latest job is still the last', () =>
    withStore(async ({ jobs: rows }) => {
      await using before = await daemonOn(rows, { attemptsMax: 1 });
      before.jobs.request(recordOf(1));
      await before.calm();
      await before.attempts[0]!.end(new Error('the disk is gone'));
      await before.jobs.close();
      const [row] = (await rows.list('a', { states: ['FAILED'], offset: 0, limit: 1 })).rows;
      const createdAt = Date.now() + 3_600_000;
      const ordinal = createdAt * 1000;
      const failed = { ...row!, id: 'later', createdAt, ordinal, lines: '[]' };
      await rows.exchange({ instance: 'a', queue: 'repo-index' }, { ...NOTHING, writes: [failed] });

      await using after = await daemonOn(rows);
      after.jobs.request(recordOf(1));
      await after.calm();
      await after.attempts[0]!.end({ isUnchanged: true });
      assert.deepEqual(await displayed(after), [
        '1 COMPLETED 1',
        ...Array<string>(2).fill('1 FAILED 1 the disk is gone'),
      ]);
      await after.jobs.close();
      await using last = await daemonOn(rows);
      assert.equal(last.jobs.failed.reasonOf(1), undefined);
    }));
});

void test('a failure is retried after doubling pauses, two attempts for each job; at once when requested', async (t) => {
  const rows = await newRows();
  const pass = mockTimers(t);
  await using daemon = await daemonOn(rows);
  const { jobs, jobFacade, attempts, calm } = daemon;
  const request = async (): Promise<void> => {
    jobs.request(recordOf(1));
    await calm();
  };
  const results = jobs.indexAll([recordOf(1)], false);
  await calm();
  await attempts[0]!.end(new Error('no'));
  assert.equal((await results)[0]!.state, 'FAILED');
  assert.equal(jobs.failed.reasonOf(1), 'no');
  await jobs.whenIdle();
  const pauses = [30, 60, 120, 240, 480, 960, 1920, 3600, 3600];
  for (const [i, seconds] of pauses.entries()) {
    const { state, attempt } = (await jobFacade.latest([1])).get(1)!;
    const isOver = i % 2 === 1;
    assert.deepEqual([state, attempt], isOver ? ['FAILED', 2] : ['PENDING', 1]);
    await pass(1000 * seconds - 1);
    assert.equal(attempts.length, i + 1);
    await pass(1);
    assert.equal(attempts.length, i + 2);
    assert.equal(jobs.open[0]!.row.attempt, isOver ? 1 : 2);
    await attempts[i + 1]!.end(new Error('no'));
  }
  await request();
  assert.equal(attempts.length, 11);
  await attempts[10]!.end();
  assert.equal(jobs.failed.reasonOf(1), undefined);
  await pass(7_200_000);
  assert.equal(attempts.length, 11);
  await request();
  await attempts[11]!.end(new Error('no'));
  await pass(30_000);
  assert.equal(attempts.length, 13, 'what went well begins anew');
});

void test('a change during a failed job or its pause is retried soon; a user request at once', async (t) => {
  const rows = await newRows();
  const pass = mockTimers(t);
  await using daemon = await daemonOn(rows);
  const { jobs, attempts, calm } = daemon;
  const { signal } = new AbortController();
  const fail = (): Promise<void> => attempts.at(-1)!.end(new Error('no'));
  jobs.request(recordOf(1));
  for (const seconds of [0, 30, 60]) {
    await pass(1000 * seconds);
    await fail();
  }
  assert.equal(attempts.length, 3);
  const waiting = jobs.indexChanged(recordOf(1), signal);
  await pass(4_000);
  void jobs.indexChanged(recordOf(1), signal);
  await pass(5_999);
  assert.equal(attempts.length, 3);
  await pass(1);
  assert.equal(attempts.length, 4, 'the first change counts');
  // Whoever hears of a change does not make a job that always fails run all the time.
  const changed = jobs.indexChanged(recordOf(1), signal);
  await calm();
  await fail();
  assert.equal(await waiting, false);
  await pass(9_999);
  assert.equal(attempts.length, 4);
  await pass(1);
  assert.equal(attempts.length, 5);
  await jobs.requestPersisted(recordOf(1));
  await fail();
  assert.deepEqual([await changed, attempts.length], [false, 6]);
  const mended = jobs.indexChanged(recordOf(1), signal);
  await calm();
  await attempts[5]!.end();
  await pass(10_000);
  await attempts[6]!.end();
  assert.equal(await mended, true);
  await pass(7_200_000);
  assert.equal(attempts.length, 7);
});

void test('a failed job is retried whatever the clock of the machine does', async (t) => {
  const rows = await newRows();
  mockTimers(t);
  for (const repoId of [1, 2]) {
    await using daemon = await daemonOn(rows, { instance: `of ${repoId}` });
    const { jobs, attempts, calm } = daemon;
    jobs.request(recordOf(repoId));
    await calm();
    await attempts[0]!.end(new Error('no'));
    t.mock.timers.setTime(Date.now() - 24 * 3_600_000);
    jobs.request(recordOf(repoId + 2));
    await calm();
    assert.equal(attempts.length, 3, 'a time that no pause explains is over');
  }
});

void test('a removed repo is not retried, nor one with a new request at once', async (t) => {
  const stores = [await newRows(), await newRows()];
  const pass = mockTimers(t);
  for (const attemptsMax of [1, 2]) {
    await using daemon = await daemonOn(stores.pop()!, { attemptsMax });
    const { jobs, attempts, calm } = daemon;
    jobs.request(recordOf(1));
    await calm();
    await attempts[0]!.end(new Error('no'));
    if (attemptsMax === 2) jobs.cancel([1]);
    await pass(7_200_000);
    assert.equal(attempts.length, 1);
  }
});

void test('a job over its time limit fails; the job of a removed repo ends', async (t) => {
  const rows = await newRows();
  const pass = mockTimers(t);
  await using daemon = await daemonOn(rows, { attemptsMax: 1, timeoutMs: 1_000 });
  const { jobs, attempts, calm } = daemon;
  const all = jobs.indexAll([1, 2, 3].map(recordOf), false);
  await calm();
  jobs.cancel([2, 3]);
  await calm();
  await pass(1_000);
  assert.deepEqual(
    (await all).map(({ error }) => error),
    [
      'the job took longer than 1000 ms (settings.repoIndexTimeoutMs)',
      'the repository is gone',
      'the repository is gone',
    ],
  );
  assert.equal(attempts.length, 2);
  assert.equal(jobs.failed.reasonOf(2), undefined);
});

void test('exclusive work waits for running jobs, and delays later ones', async () => {
  await using daemon = await daemonOn(await newRows(), { runningMax: 8 });
  const { jobs, attempts, calm } = daemon;
  jobs.request(recordOf(1));
  await calm();
  const done: string[] = [];
  let end = (): void => {};
  const works = [
    jobs.without([1, 2], async () => {
      done.push('begun');
      await new Promise<void>((resolve) => (end = resolve));
      done.push('ended');
    }),
    jobs.without([2, 3], () => Promise.resolve(done.push('second'))),
    jobs.without([4], () => Promise.resolve(done.push('other'))),
  ];
  jobs.request(recordOf(2));
  jobs.request(recordOf(4));
  await calm();
  assert.deepEqual([done, repoIdsOf(daemon)], [['other'], [1, 4]]);
  await attempts[0]!.end();
  assert.deepEqual(
    [done, repoIdsOf(daemon)],
    [
      ['other', 'begun'],
      [1, 4],
    ],
  );
  end();
  await calm();
  assert.deepEqual([done.at(-1), repoIdsOf(daemon)], ['second', [1, 4, 2]]);
  await attempts[2]!.end();
  await Promise.all(works);
});

void test('exclusive work does not wait for long jobs', async (t) => {
  const rows = await newRows();
  const pass = mockTimers(t);
  await using daemon = await daemonOn(rows, { runningMax: 8 });
  const { jobs, attempts, calm } = daemon;
  jobs.request(recordOf(1));
  await calm();
  const found: number[] = [];
  const work = jobs.without([1, 2, 3], (free) => Promise.resolve(found.push(...free)));
  jobs.request(recordOf(2));
  await pass(9_999);
  assert.deepEqual([found, repoIdsOf(daemon)], [[], [1]]);
  await pass(1);
  await work;
  await calm();
  assert.deepEqual(
    [found, repoIdsOf(daemon)],
    [
      [2, 3],
      [1, 2],
    ],
  );
  for (const attempt of attempts) await attempt.end();
});

void test('an unresponsive host blocks only the jobs of its repos', async () => {
  const hostOf = (repoId: number): string => (repoId < 10 ? 'still' : 'fine');
  const fetchHostOf = ({ repoId }: { readonly repoId: number }): string => hostOf(repoId);
  await using daemon = await daemonOn(await newRows(), { fetchHostOf });
  const { jobs, attempts, calm } = daemon;
  for (const repoId of [1, 2, 3, 11, 12, 13]) jobs.request(recordOf(repoId));
  await calm();
  assert.deepEqual(repoIdsOf(daemon), [1, 2, 11, 12], 'two a host');
  await jobs.whenQuiet();
  const started: number[] = [];
  for (const { repoId, context } of attempts.slice(0, 4))
    void context.onFetched().then(() => started.push(repoId));
  await calm();
  assert.deepEqual(started, [1, 2], 'two compute at a time');
  let isQuiet = false;
  void jobs.whenQuiet().then(() => (isQuiet = true));
  await attempts[0]!.end();
  assert.deepEqual(
    [started, repoIdsOf(daemon)],
    [
      [1, 2, 11],
      [1, 2, 11, 12, 3],
    ],
  );
  await attempts[1]!.end();
  assert.deepEqual([started, isQuiet], [[1, 2, 11, 12], false]);
  await attempts[2]!.end();
  await attempts[3]!.end();
  assert.deepEqual([repoIdsOf(daemon), isQuiet], [[1, 2, 11, 12, 3, 13], true]);
});

void test('jobs continue while the store cannot be written, and are stored later; users do not see them meanwhile', async (t) => {
  const rows = await newRows();
  const pass = mockTimers(t);
  await using daemon = await daemonOn(rows);
  const { jobs, jobFacade, attempts, warnings, calm } = daemon;
  rows.error = new Error('the disk is full');
  await assert.rejects(jobs.requestPersisted(recordOf(2)), /the disk is full/);
  for (const repoId of [1, 3, 5]) jobs.request(recordOf(repoId));
  await calm();
  assert.deepEqual(repoIdsOf(daemon), [2, 1], 'two at a time');
  await attempts[0]!.end();
  await attempts[1]!.end({ isUnchanged: true });
  assert.deepEqual(repoIdsOf(daemon).slice(2), [3, 5]);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!, /jobs continue, but cannot be stored now .*the disk is full/);
  rows.error = undefined;
  await pass(5_000);
  await attempts[2]!.end();
  assert.deepEqual(await displayed(daemon), ['2 COMPLETED 1']);
  assert.equal((await jobFacade.latest([5])).get(5), undefined, 'its start was not stored');
});

void test('a job that waited while the store could not be written ends when a later one waits', async (t) => {
  const rows = await newRows();
  const pass = mockTimers(t);
  await using daemon = await daemonOn(rows, { attemptsMax: 3 });
  const { jobs, attempts, calm } = daemon;
  const failOnce = async (): Promise<void> => {
    jobs.request(recordOf(1));
    await calm();
    await attempts.at(-1)!.end(new Error('no'));
  };
  await failOnce();
  rows.error = new Error('locked');
  await failOnce();
  await failOnce();
  assert.equal(attempts.length, 3);
  rows.error = undefined;
  assert.equal(await jobs.flush(), undefined);
  const replaced = `1 FAILED 1 ${REPLACED}`;
  assert.deepEqual(await displayed(daemon), ['1 PENDING 1 no', replaced, replaced]);
  await pass(30_000);
  assert.equal(attempts.length, 4, 'jobs are claimed again');
});

void test('a check without changes stores nothing; an empty job leaves no row', async () => {
  const rows = await newRows();
  const changed = new Set<number>();
  await using daemon = await daemonOn(rows, {
    runningMax: 8,
    unchanged: ({ repoId }) => !changed.has(repoId),
  });
  const { jobs, attempts, reported, calm } = daemon;
  await calm();
  const { exchangeCount } = rows;
  const records = Array.from({ length: 100 }, (_, i) => recordOf(i + 1));
  const results = await jobs.indexAll(records, false);
  assert.ok(results.every(({ isUnchanged, state }) => isUnchanged && state === 'COMPLETED'));
  await calm();
  assert.deepEqual([attempts.length, rows.exchangeCount], [0, exchangeCount]);
  assert.equal(reported.length, 11);
  assert.match(reported.at(-1)!, /repos checked: nothing changed repos=100/);
  for (const { repoId } of records) changed.add(repoId);
  const all = jobs.indexAll(records, false);
  await calm();
  for (let i = 0; i < 100; i++) await attempts[i]!.end({ isUnchanged: true });
  await all;
  assert.equal(reported.length, 22);
  // A user's job is unfinished, a failure is not over: both need a job.
  changed.clear();
  await jobs.requestPersisted(recordOf(1));
  jobs.request(recordOf(2));
  await calm();
  await attempts[101]!.end(new Error('no'));
  const both = jobs.indexAll([1, 2].map(recordOf), false);
  await calm();
  assert.deepEqual(repoIdsOf(daemon).slice(100), [1, 2, 2]);
  await attempts[100]!.end();
  await attempts[102]!.end();
  await attempts[103]!.end();
  assert.deepEqual(
    (await both).map(({ isUnchanged }) => isUnchanged),
    [false, false],
  );
  await jobs.close();
  assert.equal((await rows.list('a', ALL)).total, 2);
});

test('lines of a job: the last 500, and the number of earlier ones, also after a reload', () => {
  const lines = new JobLines();
  for (let i = 0; i < 502; i++) lines.add('info', 1, `line ${i}`);
  for (const one of [lines, new JobLines(lines.toString())]) {
    assert.deepEqual([one.droppedCount, one.lines.length], [2, 500]);
    assert.equal(one.lines[0]!.message, 'line 2');
  }
  const whole = new JobLines('[{"message":"kept before"}]');
  assert.deepEqual([whole.droppedCount, whole.lines.length], [0, 1]);
});
