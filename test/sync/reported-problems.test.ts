// Reported problems of an index, and for how long: failed repos, warnings of jobs, shards out of service.

import assert from 'node:assert/strict';
import { cpSync, renameSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { nextTimeSlice } from '../../daemon/base/next-time-slice.ts';
import { FailedJobs } from '../../daemon/sync/jobs/job-runner.ts';
import { commitFiles, git, makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { indexOf, openIndexOf } from './index-of.ts';

/** Symbols are found behind a job: nobody waits for them here. */
function messagesOf({ degradations }: { readonly degradations: readonly string[] }): string[] {
  return degradations.filter((words) => !words.startsWith('symbols of '));
}

void test('a failing repo is named until it is indexed', async () => {
  const repo = makeRepo({ 'a.txt': 'plum\n' });
  await using index = await openIndexOf(temporaryFolder());
  const { served } = index.instance;
  const indexer = index.instance.indexer;
  await index.index([repo], {}, 'commits');
  assert.deepEqual(messagesOf(indexer), []);
  const { name, repoId } = served.records[0]!;
  const objects = path.join(repo, '.git', 'objects');
  renameSync(objects, `${objects}.away`);
  const [failed] = await index.index([repo], {}, 'commits');
  const reported = failed ?? (await indexer.jobs.indexAll(served.records, true))[0];
  assert.equal(reported?.state, 'FAILED');
  assert.equal(indexer.jobs.failed.reasonOf(repoId), reported?.error);
  assert.deepEqual(messagesOf(indexer), [`${name} could not be indexed: ${reported?.error}`]);
  renameSync(`${objects}.away`, objects);
  await index.index([repo], {}, 'commits');
  assert.equal(indexer.jobs.failed.reasonOf(repoId), undefined);
  assert.deepEqual(messagesOf(indexer), []);
});

void test('a repo whose path has another one is hidden until its own is back', async () => {
  const repo = makeRepo({ 'a.txt': 'plum mine\n' });
  git(repo, 'remote', 'add', 'origin', 'https://host.example/mine.git');
  const other = makeRepo({ 'a.txt': 'plum other\n' });
  git(other, 'remote', 'add', 'origin', 'https://host.example/other.git');
  await using index = await openIndexOf(temporaryFolder());
  const indexer = index.instance.indexer;
  const { served, parts } = index.instance;
  await index.index([repo], {}, 'commits');
  const job = async (): Promise<string> =>
    (await indexer.jobs.indexAll(served.records, false))[0]!.state;
  const visibleIds = async (): Promise<number[]> => [
    (await index.search('plum')).files.length,
    parts.snapshots.current.repos.length,
  ];
  assert.deepEqual(await visibleIds(), [1, 1]);
  renameSync(repo, `${repo}.away`);
  renameSync(other, repo);
  assert.equal(await job(), 'FAILED');
  // What files are read for is the list of repos: what lies there is not shown as files of this one.
  assert.deepEqual(await visibleIds(), [0, 0]);
  assert.equal(messagesOf(indexer).length, 2);
  assert.match(messagesOf(indexer).join(), /holds a different source.*1 repository is hidden/);
  renameSync(repo, other);
  renameSync(`${repo}.away`, repo);
  assert.equal(await job(), 'COMPLETED');
  assert.deepEqual(await visibleIds(), [1, 1]);
  assert.deepEqual(messagesOf(indexer), []);
});

void test('many are counted, long reasons are cut', () => {
  const failed = new FailedJobs({ targets: 'repositories', done: 'indexed' });
  for (let i = 10; i < 30; i++) failed.note(i, `r${i}`, i === 10 ? 'x'.repeat(2_000) : 'gone');
  const sentences = failed.sentences((name) => name !== 'r12');
  assert.equal(sentences.length, 11);
  assert.equal(sentences[0], `r10 could not be indexed: ${'x'.repeat(500)}…`);
  assert.equal(sentences[2], 'r13 could not be indexed: gone');
  assert.equal(sentences[10], '9 more repositories could not be indexed');
});

void test('until the repos of all sources are known the number of unchecked sources is reported', async () => {
  const sources = Array.from({ length: 3 }, () => makeRepo({ 'a.txt': 'plum\n' }));
  const dataDir = temporaryFolder();
  for (const isIndexed of [false, true]) {
    await using index = await openIndexOf(dataDir);
    const indexer = index.instance.indexer;
    // Those of the catalog are doubtful where another folder lies at their path.
    for (const source of isIndexed ? sources : [])
      cpSync(source, `${source}.new`, { recursive: true });
    for (const source of isIndexed ? sources : []) {
      renameSync(source, path.join(temporaryFolder(), 'old'));
      renameSync(`${source}.new`, source);
    }
    const looking = isIndexed ? indexer.sources.confirm() : indexer.sources.add(sources, undefined);
    const over = looking.then(() => true);
    const reported: string[] = [];
    do reported.push(messagesOf(indexer).join());
    while (!(await Promise.race([over, nextTimeSlice()])));
    assert.equal(reported[0], '3 sources have not been checked yet');
    // The last sample may be of the turn in which it ended.
    for (const one of reported.slice(0, -1))
      assert.match(one, /^(?:1 source has|[23] sources have) not been checked/);
    assert.equal(indexer.sources.unseenCount, 0);
    if (!isIndexed) await index.index(sources);
  }
});

void test('a repository that is committed to warns once', async () => {
  const repo = makeRepo({ '.trawlignore': 'gen*\n', 'a.txt': 'plum\n' });
  for (let i = 0; i < 5; i++) commitFiles(repo, { [`gen${i}.txt`]: 'plum\n' });
  await using index = await openIndexOf(temporaryFolder());
  for (let i = 0; i < 3; i++) {
    commitFiles(repo, { 'a.txt': `plum ${i}\n` });
    const [job] = await index.index([repo], { branches: ['none-such'] }, 'commits');
    assert.equal(job?.warnings.length, 2, 'the job itself tells all');
  }
  const { jobFacade } = index.instance.indexer;
  const counted = (): number => jobFacade.counts(index.instance.served.records).warned;
  assert.equal(counted(), 1);
  const counts = ['only ', 'no branch matches'].map(
    (text) => index.warnings.filter((line) => line.startsWith(text)).length,
  );
  assert.deepEqual(counts, [1, 1]);
  commitFiles(repo, { '.trawlignore': '' });
  const [doubtful] = await index.index([repo], {}, 'commits');
  assert.deepEqual([doubtful?.warnings, counted()], [['no branch matches: none-such'], 1]);
  await index.index([repo], { branches: [] }, 'commits');
  assert.equal(counted(), 0);
});

void test('out-of-service parts stay so until they are rebuilt', async () => {
  const dataDir = temporaryFolder();
  const repo = makeRepo({ 'a.txt': 'plum\n' });
  await using first = await indexOf(dataDir, repo);
  const [shard] = first.instance.catalog.repos[0]!.shards;
  // Why closed before: it would be built again at once.
  await first.instance.indexer.close();
  first.instance.served.quarantine(shard!.shardId, 'for the test');
  await first.close();
  await using again = await openIndexOf(dataDir);
  assert.ok(again.instance.served.isOut(shard!.shardId));
  assert.deepEqual((await again.search('plum')).incompleteReasons, ['shard_quarantined']);
  const [{ reason } = {}] = again.instance.parts.snapshots.current.quarantined;
  assert.equal(reason, 'for the test');
  assert.deepEqual(messagesOf(again.instance.indexer), [
    '1 repository is searched without a damaged shard, which is built again',
  ]);
  await again.index([repo], {}, 'commits');
  assert.equal((await again.search('plum')).files.length, 1);
  await again.close();
  await using last = await openIndexOf(dataDir);
  assert.equal(last.instance.served.quarantinedCount, 0);
  assert.equal((await last.search('plum')).isSearchExhaustive, true);
});
