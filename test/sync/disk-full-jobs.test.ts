// Jobs without disk space: all jobs pause, as none could succeed, and resume by themselves once there is space.

import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { type Daemon, daemonOn, mockTimers, newRows, recordOf } from './jobs-of.ts';

function diskFull(): Error {
  return Object.assign(new Error("ENOSPC: no space left on device, write '/d/x'"), {
    code: 'ENOSPC',
  });
}

const startedIds = ({ attempts }: Daemon): number[] => attempts.map(({ repoId }) => repoId);

async function daemonWith(
  t: TestContext,
  attemptsMax: number,
): Promise<{ daemon: Daemon; pass: (ms: number) => Promise<void> }> {
  const rows = await newRows();
  const pass = mockTimers(t);
  const daemon = await daemonOn(rows, { runningMax: 1, attemptsMax });
  t.after(() => daemon.jobs.close());
  return { daemon, pass };
}

void test('a daemon pauses all jobs, tries one, and resumes all when that found disk space', async (t) => {
  const { daemon, pass } = await daemonWith(t, 2);
  const { jobs, attempts } = daemon;
  const results = jobs.indexAll([1, 2, 3].map(recordOf), false);
  await daemon.calm();
  attempts[0]!.context.onProgress({
    phase: 'reading',
    filesDone: 0,
    filesTotal: 1,
    bytesDone: 0,
    bytesTotal: 30_000,
    skipped: 0,
  });
  await attempts[0]!.end(diskFull());
  assert.deepEqual(startedIds(daemon), [1]);
  assert.match(
    jobs.failed.reasonOf(1)!,
    /'\/d\/x' \(the contents alone take 30000 bytes there\); free space there, or move the data directory/,
  );
  await pass(1_999);
  assert.deepEqual(startedIds(daemon), [1], 'whoever asks');
  await pass(1);
  assert.deepEqual(startedIds(daemon), [1, 2], 'each in its turn');
  await attempts[1]!.end(diskFull());
  await pass(3_999);
  assert.deepEqual(startedIds(daemon), [1, 2]);
  await pass(1);
  await attempts[2]!.end();
  assert.deepEqual(startedIds(daemon), [1, 2, 3, 1]);
  await attempts[3]!.end();
  await attempts[4]!.end();
  assert.deepEqual(startedIds(daemon), [1, 2, 3, 1, 2]);
  await jobs.whenIdle();
  assert.deepEqual(
    jobs.failed.sentences(() => true),
    [],
  );
  assert.deepEqual(
    (await results).map(({ state }) => state),
    ['FAILED', 'FAILED', 'COMPLETED'],
  );
  // It has begun anew; a disk that stays full is asked once a minute.
  for (const pauseMs of [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
    if (jobs.open.length === 0) jobs.request(recordOf(1));
    await daemon.calm();
    const count = attempts.length;
    await attempts.at(-1)!.end(diskFull());
    await pass(pauseMs - 1);
    assert.equal(attempts.length, count, `${pauseMs}`);
    await pass(1);
    assert.equal(attempts.length, count + 1);
  }
});

void test('without a wait for disk space the other jobs are not started, and say why', async (t) => {
  const { daemon } = await daemonWith(t, 1);
  const { jobs, attempts } = daemon;
  const results = jobs.indexAll([1, 2, 3].map(recordOf), false);
  await daemon.calm();
  await attempts[0]!.end();
  await attempts[1]!.end(diskFull());
  assert.deepEqual(startedIds(daemon), [1, 2]);
  assert.deepEqual(
    (await results).map(({ error = '' }) => error.split(';')[0]),
    [
      '',
      "ENOSPC: no space left on device, write '/d/x'",
      'not started, as there was no room for r2',
    ],
  );
  await jobs.whenIdle();
});
