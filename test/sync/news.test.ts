// Warnings of jobs are logged once, not with each job that has them; jobs that found nothing changed have few lines.

import assert from 'node:assert/strict';
import test from 'node:test';
import { indexerOf } from '../../daemon/app/instance.ts';
import { commitAll, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { openIndexOf } from './index-of.ts';
import { daemonOn, newRows, recordOf } from './jobs-of.ts';

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

void test('of many repos that did not change one line tells, besides the first ten', async () => {
  const { jobs, attempts, reported, calm } = await daemonOn(await newRows(), { runningMax: 50 });
  const round = async (count: number): Promise<string[]> => {
    const first = attempts.length;
    for (let i = 0; i < count; i++) jobs.request(recordOf(100 + i));
    await calm();
    assert.equal(attempts.length, first + count);
    for (const attempt of attempts.slice(first)) await attempt.end({ isUnchanged: true });
    await calm();
    return reported.splice(0);
  };
  const repos = Array.from({ length: 10 }, (_, i) => `r${100 + i}`);
  const named = (lines: readonly string[]): string[] =>
    lines.map((line) => /repo indexed isUnchanged=true .*repo=(\S+) /.exec(line)?.[1] ?? line);
  assert.deepEqual(named(await round(10)).sort(), repos);
  const lines = await round(11);
  assert.equal(lines.length, 11);
  assert.match(lines.at(-1)!, /repos checked: nothing changed repos=11/);
  await jobs.close();
});
