// Warnings of jobs are given once, not with each job that has them; of very many that do nothing one line tells.

import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { indexerOf } from '../../daemon/app/instance.ts';
import { NewWarnings } from '../../daemon/sync/jobs/new-warnings.ts';
import { commitAll, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { openIndexOf } from './index-of.ts';
import { daemonOn, emptyRows, recordOf, turns } from './jobs-of.ts';

void test('what the job before warned of is no news, whatever its numbers; what came back is', () => {
  const news = new NewWarnings();
  const fresh = (repoId: number, ...texts: string[]): string[] => news.fresh(repoId, texts);
  assert.deepEqual(fresh(1, 'only 2 files', 'no branch'), ['only 2 files', 'no branch']);
  assert.deepEqual(fresh(1, 'only 3 files', 'no tag'), ['no tag']);
  assert.deepEqual(fresh(2, 'only 3 files'), ['only 3 files']);
  assert.deepEqual(fresh(1), []);
  assert.deepEqual(fresh(1, 'only 3 files'), ['only 3 files']);
});

void test('a repository that is committed to warns once', async () => {
  const repo = makeRepo({ '.trawlignore': 'gen*\n', 'a.txt': 'plum\n' });
  for (let i = 0; i < 5; i++) writeFiles(repo, { [`gen${i}.txt`]: 'plum\n' });
  commitAll(repo);
  const index = await openIndexOf(temporaryFolder());
  for (let i = 0; i < 3; i++) {
    writeFiles(repo, { 'a.txt': `plum ${i}\n` });
    commitAll(repo);
    const [job] = await index.index([repo], { branches: ['none-such'] }, 'commits');
    assert.equal(job?.warnings.length, 2, 'the job itself tells all');
  }
  const { jobFacade } = indexerOf(index.instance);
  const counted = (): number => jobFacade.counts(index.instance.served.records).warned;
  assert.equal(counted(), 1);
  const counts = ['only ', 'no branch matches'].map(
    (text) => index.warnings.filter((line) => line.startsWith(text)).length,
  );
  assert.deepEqual(counts, [1, 1]);
  writeFiles(repo, { '.trawlignore': '' });
  commitAll(repo);
  const [doubtful] = await index.index([repo], {}, 'commits');
  assert.deepEqual([doubtful?.warnings, counted()], [['no branch matches: none-such'], 1]);
  await index.index([repo], { branches: [] }, 'commits');
  assert.equal(counted(), 0);
  await index.close();
});

void test('of many repos that did not change one line tells', async () => {
  const { jobs, attempts, told } = await daemonOn(emptyRows(), { runningMax: 50 });
  const round = async (count: number): Promise<string[]> => {
    const first = attempts.length;
    for (let i = 0; i < count; i++) jobs.request(recordOf(100 + i));
    while (attempts.length < first + count) await turns();
    for (const attempt of attempts.slice(first)) await attempt.end({ isUnchanged: true });
    while (told.length === 0) await sleep(5);
    return told.splice(0);
  };
  const few = await round(10);
  assert.deepEqual(
    few.map((line) => /repo indexed isUnchanged=true .*repo=(\S+) /.exec(line)?.[1] ?? '').sort(),
    Array.from({ length: 10 }, (_, i) => `r${100 + i}`),
  );
  const [line, ...others] = await round(11);
  assert.match(line!, /repos checked: nothing changed repos=11/);
  assert.deepEqual(others, []);
  await jobs.close();
});
