// Warnings of jobs are logged once, not with each job that has them.

import assert from 'node:assert/strict';
import test from 'node:test';
import { indexerOf } from '../../daemon/app/instance.ts';
import { commitAll, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { openIndexOf } from './index-of.ts';

void test('a repository that is committed to warns once', async () => {
  const repo = makeRepo({ '.trawlignore': 'gen*\n', 'a.txt': 'plum\n' });
  for (let i = 0; i < 5; i++) writeFiles(repo, { [`gen${i}.txt`]: 'plum\n' });
  commitAll(repo);
  await using index = await openIndexOf(temporaryFolder());
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
});
