// Jobs requested before a change: they use the state at their start, and keep concurrent changes.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import { nextTimeSlice } from '../../daemon/base/next-time-slice.ts';
import type { RepoRecord } from '../../daemon/repos/records.ts';
import type { RepoChange } from '../../daemon/index/register/change-repo.ts';
import { commitFiles, git, makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { type IndexOf, openIndexOf } from './index-of.ts';

const ALL = { branches: ['**'], tags: [] };

async function openWith(repo: string, selection: RepoChange): Promise<IndexOf> {
  const index = await openIndexOf(temporaryFolder());
  await index.index([repo], selection, 'commits');
  return index;
}

/** Runs a job of repos as they were when it was asked for. */
async function run({ instance }: IndexOf, records: readonly RepoRecord[]): Promise<void> {
  const [result] = await instance.indexer.jobs.indexAll(records, false);
  assert.equal(result!.error, undefined);
}

void test('a job sees the revisions found by the previous job', async () => {
  const repo = makeRepo({ 'a.txt': 'plum\n' });
  git(repo, 'branch', 'dev');
  git(repo, 'branch', 'old');
  commitFiles(repo, { 'b.txt': 'pear\n' });
  await using index = await openWith(repo, ALL);
  const before = index.instance.served.records;
  git(repo, 'branch', '-D', 'dev');
  git(repo, 'branch', '-D', 'old');
  await run(index, before);
  git(repo, 'branch', 'dev');
  git(repo, 'branch', 'old', 'HEAD~1');
  await run(index, before);
  assert.deepEqual(index.instance.served.records[0]!.revisions?.length, 3);
  assert.equal((await index.search('pear rev:dev')).files.length, 1);
  assert.equal((await index.search('plum rev:old')).files.length, 1);
  assert.equal((await index.search('plum rev:main')).files.length, 1);
});

void test('a job sees the default branch found by the previous job', async () => {
  const repo = makeRepo({ 'a.txt': 'plum\n' });
  await using index = await openWith(repo, {});
  const before = index.instance.served.records;
  git(repo, 'branch', 'dev');
  git(repo, 'symbolic-ref', 'HEAD', 'refs/heads/dev');
  await run(index, before);
  assert.equal(index.instance.served.records[0]!.defaultRevision, 'refs/heads/dev');
  git(repo, 'symbolic-ref', 'HEAD', 'refs/heads/main');
  await run(index, before);
  assert.equal(index.instance.served.records[0]!.defaultRevision, 'refs/heads/main');
});

void test('rules changed during a build are kept', async () => {
  await using index = await openWith(makeRepo({ 'a.txt': 'plum\n' }), ALL);
  const { served, catalog } = index.instance;
  const { jobs, rules } = index.instance.indexer;
  const [record] = served.records;
  const building = jobs.indexAll([record!], true);
  await rules.change(new Set([record!.repoId]), { enforcement: 'restricted', tags: ['v1'] });
  const [result] = await building;
  assert.equal(result!.isUnchanged, false);
  const { enforcement, selection } = catalog.repo(record!.repoId)!.record;
  assert.deepEqual(
    { enforcement, selection },
    { enforcement: 'restricted', selection: { ...ALL, tags: ['v1'] } },
  );
});

void test('pending rebuilds are done by the next process', async () => {
  const repos = Array.from({ length: 10 }, (_, i) => makeRepo({ 'a.txt': `plum ${i}\n` }));
  await using index = await openIndexOf(temporaryFolder());
  await index.index(repos, {}, 'commits');
  const { jobs } = index.instance.indexer;
  const all = jobs.indexAll(index.instance.served.records, true);
  const stopped = assert.rejects(all, /being closed/);
  while (jobs.open.length === 0) await nextTimeSlice();
  await index.close();
  await stopped;
  await using next = await openIndexOf(index.dataDir);
  const reasons = async () => (await next.index(repos, {}, 'commits')).map(({ reason }) => reason);
  const unfinished = 'requested, and not finished';
  // Eight at most had begun.
  assert.ok((await reasons()).filter((reason) => reason === unfinished).length > 8);
  assert.deepEqual(new Set(await reasons()), new Set([undefined]));
});

void test('where pending rebuilds cannot be stored the log says so, and all are done now', async (t) => {
  await using index = await openWith(makeRepo({ 'a.txt': 'plum\n' }), {});
  const { catalog, served } = index.instance;
  const full = (): Promise<never> => Promise.reject(new Error('no room'));
  t.mock.method(catalog, 'commit', full, { times: 1 });
  const [result] = await index.instance.indexer.jobs.indexAll(served.records, true);
  assert.equal(result!.reason, 'requested');
  assert.deepEqual(index.warnings, ['a requested rebuild of repos could not be stored']);
});
