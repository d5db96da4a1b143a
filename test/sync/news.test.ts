// Warnings of jobs are logged once, not with each job that has them.

import assert from 'node:assert/strict';
import test from 'node:test';
import { indexerOf } from '../../daemon/app/instance.ts';
import { commitFiles, makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { openIndexOf } from './index-of.ts';

void test('a repository that is committed to warns once', async () => {
  const repo = makeRepo({ '.trawlignore': 'gen*\n', 'a.txt': 'plum\n' });
  for (let i = 0; i < 5; i++) commitFiles(repo, { [`gen${i}.txt`]: 'plum\n' });
  await using index = await openIndexOf(temporaryFolder());
  for (let i = 0; i < 3; i++) {
    commitFiles(repo, { 'a.txt': `plum ${i}\n` });
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
  commitFiles(repo, { '.trawlignore': '' });
  const [doubtful] = await index.index([repo], {}, 'commits');
  assert.deepEqual([doubtful?.warnings, counted()], [['no branch matches: none-such'], 1]);
  await index.index([repo], { branches: [] }, 'commits');
  assert.equal(counted(), 0);
});
