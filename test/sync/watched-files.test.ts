// Files on disk of one repo: jobs that notices of the file system bring about, and those without any.

import assert from 'node:assert/strict';
import fs, { appendFileSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '../../daemon/base/log.ts';
import type { RepoRecord } from '../../daemon/repos/records.ts';
import { listDisk } from '../../daemon/sources/docs/source-disk.ts';
import { SeenFiles } from '../../daemon/sync/seen-files.ts';
import { WatchedFiles } from '../../daemon/sync/watched-files.ts';
import { eventually } from '../e2e/daemon.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';

interface Watched {
  readonly folder: string;
  /** What was told to each job; undefined: all. */
  readonly jobs: (readonly string[] | undefined)[];
  readonly warnings: string[];
}

async function watched(t: TestContext): Promise<Watched> {
  const folder = temporaryFolder();
  writeFileSync(path.join(folder, 'a.txt'), 'plum\n');
  const record: RepoRecord = {
    repoId: 1,
    name: 'local/a',
    codeHostType: 'genericGitHost',
    isFork: false,
    isArchived: false,
    visibility: 'unknown',
    source: { kind: 'folder', path: folder },
    defaultRevision: 'HEAD',
  };
  const jobs: (readonly string[] | undefined)[] = [];
  const warnings: string[] = [];
  const seenFiles = new SeenFiles();
  const index = async (): Promise<boolean> => {
    jobs.push(seenFiles.take(1));
    const { states } = await listDisk(record.source);
    seenFiles.remember(1, '', states, []);
    return true;
  };
  await index();
  const log = createLog({ level: 'warn', format: 'text', write: (line) => warnings.push(line) });
  const files = new WatchedFiles({ seenFiles, index, log }, record);
  await files.open();
  jobs.length = 0;
  t.after(() => files.close());
  return { folder, jobs, warnings };
}

void test('notices are gathered, and told by path', async (t) => {
  const { folder, jobs, warnings } = await watched(t);
  await sleep(300);
  assert.equal(jobs.length, 0, 'nothing has changed');
  for (let i = 0; i < 5; i++) appendFileSync(path.join(folder, 'a.txt'), 'pear\n');
  writeFileSync(path.join(folder, 'b.txt'), 'pear\n');
  await eventually(() => Promise.resolve(jobs.length > 0));
  await sleep(300);
  assert.deepEqual(
    jobs.map((told) => told?.toSorted()),
    [['a.txt', 'b.txt']],
  );
  assert.deepEqual(warnings, []);
});

void test('a file that is written all the time is indexed now and then', async (t) => {
  const { folder, jobs } = await watched(t);
  await sleep(300);
  const startMs = performance.now();
  let restCount = 0;
  for (let i = 0; i < 60; i++) {
    appendFileSync(path.join(folder, 'a.txt'), 'pear\n');
    const beforeMs = performance.now();
    await sleep(20);
    // On a machine that has much else to do: so long that the file counts as written.
    if (performance.now() - beforeMs > 50) restCount++;
  }
  const most = restCount + 3 * ((performance.now() - startMs) / 300);
  assert.ok(jobs.length >= 2 && jobs.length <= most, `${jobs.length} jobs, of ${most}`);
});

void test('without watches all files are looked at', async (t) => {
  t.mock.method(fs, 'watch', () => {
    throw Object.assign(new Error('ENOSPC: no more watches'), { code: 'ENOSPC' });
  });
  syncBuiltinESMExports();
  const { folder, jobs, warnings } = await watched(t);
  t.mock.restoreAll();
  syncBuiltinESMExports();
  assert.match(warnings.join(), /looked at now and then, not watched.*ENOSPC/);
  await eventually(() => Promise.resolve(jobs.length > 0));
  await sleep(2500);
  const before = jobs.length;
  writeFileSync(path.join(folder, 'b.txt'), 'pear\n');
  await eventually(() => Promise.resolve(jobs.length > before));
  assert.deepEqual(jobs.at(-1), undefined, 'all files');
});
