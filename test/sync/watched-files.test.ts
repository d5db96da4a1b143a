// Files on disk of one repo: jobs caused by file system notices, and jobs without any.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import fs, { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { deferred } from '../../daemon/base/deferred.ts';
import { createLog } from '../../daemon/base/log.ts';
import type { RepoRecord } from '../../daemon/repos/records.ts';
import { FileList } from '../../daemon/sources/docs/file-list.ts';
import { FileStates } from '../../daemon/sources/docs/file-states.ts';
import { listDisk } from '../../daemon/sources/docs/source-disk.ts';
import { FileTracker } from '../../daemon/sync/watch/file-tracker.ts';
import { WatchedFiles } from '../../daemon/sync/watch/watched-files.ts';
import { eventually } from '../e2e/daemon.ts';
import { repoRecord } from '../repos/record.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';

interface Watched {
  readonly folder: string;
  /** What was told to each job; undefined: all. */
  readonly jobs: (readonly string[] | undefined)[];
  readonly warnings: string[];
  /** Resolves when the files are found to be as they were indexed: from then on notices are all that changes. */
  readonly compared: Promise<void>;
}

const FILES_MAX = 10;

/** A folder, indexed once before it is watched. @param otherCount  files of another repo that was indexed between */
async function watched(t: TestContext, fileCount = 1, otherCount = 0): Promise<Watched> {
  const folder = temporaryFolder();
  for (let i = 0; i < fileCount; i++) writeFileSync(path.join(folder, `${i}.txt`), 'plum\n');
  const { indexedAt: _, ...unindexed } = repoRecord(1, 'local/a');
  const record: RepoRecord = { ...unindexed, source: { kind: 'folder', path: folder } };
  const jobs: (readonly string[] | undefined)[] = [];
  const warnings: string[] = [];
  const fileTracker = new FileTracker(FILES_MAX);
  const index = async (): Promise<boolean> => {
    jobs.push(fileTracker.take(1));
    const { states } = await listDisk(record.source);
    fileTracker.remember(1, '', states, []);
    return true;
  };
  await index();
  const others = Array.from({ length: otherCount }, (_, i) => ({
    path: `${i}`,
    size: 0,
    isSymlink: false,
  }));
  const states = others.map(() => '');
  fileTracker.remember(2, '', FileStates.of(FileList.of(others), states, ''), []);
  const { promise: compared, resolve } = deferred();
  const confirm = fileTracker.confirm.bind(fileTracker);
  t.mock.method(fileTracker, 'confirm', (...call: Parameters<typeof confirm>) => {
    resolve();
    return confirm(...call);
  });
  const log = createLog({ level: 'warn', format: 'text', write: (line) => warnings.push(line) });
  const files = new WatchedFiles({ fileTracker, index, log }, record);
  jobs.length = 0;
  await files.open();
  t.after(() => files.close());
  return { folder, jobs, warnings, compared };
}

void test('notices are batched, and reported by path', async (t) => {
  const { folder, jobs, warnings, compared } = await watched(t);
  await compared;
  await sleep(300);
  assert.equal(jobs.length, 0, 'nothing has changed');
  for (let i = 0; i < 5; i++) appendFileSync(path.join(folder, '0.txt'), 'pear\n');
  writeFileSync(path.join(folder, 'b.txt'), 'pear\n');
  await eventually(() => Promise.resolve(jobs.length > 0));
  await sleep(300);
  assert.deepEqual(
    jobs.map((reported) => reported?.toSorted()),
    [['0.txt', 'b.txt']],
  );
  assert.deepEqual(warnings, []);
});

void test('a constantly written file is indexed from time to time', async (t) => {
  const { folder, jobs } = await watched(t);
  await sleep(300);
  const startMs = performance.now();
  let restCount = 0;
  // Where a job takes long its repo rests for long: the second one comes later.
  for (let i = 0; i < 60 || (i < 3000 && jobs.length < 2); i++) {
    const beforeMs = performance.now();
    appendFileSync(path.join(folder, '0.txt'), 'pear\n');
    await sleep(20);
    // On a machine that has much else to do: so long that the file counts as written.
    if (performance.now() - beforeMs > 50) restCount++;
  }
  const most = restCount + 3 * ((performance.now() - startMs) / 300);
  assert.ok(jobs.length >= 2 && jobs.length <= most, `${jobs.length} jobs, of ${most}`);
});

void test('without watches all files are checked', async (t) => {
  t.mock.method(fs, 'watch', () => {
    throw Object.assign(new Error('ENOSPC: no more watches'), { code: 'ENOSPC' });
  });
  syncBuiltinESMExports();
  const { folder, jobs, warnings } = await watched(t);
  t.mock.restoreAll();
  syncBuiltinESMExports();
  assert.match(warnings.join(), /cannot be watched, and are polled instead.*ENOSPC/);
  await eventually(() => Promise.resolve(jobs.length > 0));
  await sleep(2500);
  const before = jobs.length;
  writeFileSync(path.join(folder, 'b.txt'), 'pear\n');
  await eventually(() => Promise.resolve(jobs.length > before));
});

void test('when watches run out, earlier notices do not count as complete', async (t) => {
  const { watch } = fs;
  t.mock.method(fs, 'watch', (...args: Parameters<typeof watch>) => {
    if (path.basename(String(args[0])) === 'new')
      throw Object.assign(new Error('ENOSPC: no more watches'), { code: 'ENOSPC' });
    return watch(...args);
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  const { folder, jobs, warnings, compared } = await watched(t);
  await compared;
  appendFileSync(path.join(folder, '0.txt'), 'pear\n');
  await eventually(() => Promise.resolve(jobs.length > 0));
  assert.deepEqual(jobs, [['0.txt']]);
  await sleep(100);
  mkdirSync(path.join(folder, 'new'));
  await eventually(() => Promise.resolve(jobs.length > 1));
  assert.match(warnings.join(), /cannot be watched, and are polled instead.*ENOSPC/);
  assert.deepEqual(jobs[1], undefined, 'all files');
});

for (const [what, target, more] of [
  ['a folder that is replaced while rules change', 'd', '.gitignore'],
  ['the folder of the repo', '', 'b.txt'],
] as const)
  void test(`${what} is watched after it was replaced`, async (t) => {
    const { folder, jobs } = await watched(t);
    mkdirSync(path.join(folder, 'd'));
    await eventually(() => Promise.resolve(jobs.length > 0));
    await sleep(500);
    jobs.length = 0;
    rmSync(path.join(folder, target), { recursive: true });
    mkdirSync(path.join(folder, target, 'sub'), { recursive: true });
    writeFileSync(path.join(folder, more), 'out/\n');
    await eventually(() => Promise.resolve(jobs.length > 0));
    await sleep(500);
    jobs.length = 0;
    writeFileSync(path.join(folder, target, 'sub', 'c.txt'), 'pear\n');
    await eventually(() => Promise.resolve(jobs.length > 0));
    assert.deepEqual(jobs, [[path.join(target, 'sub', 'c.txt')]]);
  });

for (const [what, fileCount, otherCount] of [
  ['more files than are remembered', FILES_MAX + 1, 0],
  ['files that are forgotten for those of another repo', FILES_MAX, 1],
] as const)
  void test(`${what} are compared by a job, and a save is followed by another`, async (t) => {
    const { folder, jobs } = await watched(t, fileCount, otherCount);
    await eventually(() => Promise.resolve(jobs.length > 0));
    assert.deepEqual(jobs, [undefined]);
    await sleep(300);
    appendFileSync(path.join(folder, '0.txt'), 'pear\n');
    await eventually(() => Promise.resolve(jobs.length > 1));
    assert.deepEqual(jobs, [undefined, ['0.txt']]);
  });

void test('a watch that ends before its first job ends at once', async () => {
  const fileTracker = new FileTracker();
  const scanned = fileTracker.watch(1);
  fileTracker.unwatch(1);
  await scanned;
});
