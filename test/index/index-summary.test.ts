// The summary of an index is correct, and announces the merge that is done next.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import test from 'node:test';
import { MERGE_LIMITS } from '../../daemon/index/merge/merge-plan.ts';
import { type IndexSummary, summaryOf } from '../../daemon/index/merge/index-summary.ts';
import { git, makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { type IndexOf, openIndexOf } from '../sync/index-of.ts';
import { EAGER, NEVER } from './merge-limits.ts';

const DOCS = 6;
const SIZE = 20;

function makeSmallRepo(index: number): string {
  const docs = Array.from({ length: DOCS }, (_, doc) => [
    `${doc}.txt`,
    `plum ${index} ${doc}`.padEnd(SIZE),
  ]);
  return makeRepo(Object.fromEntries(docs));
}

function summary({ instance }: IndexOf, outOfService = new Map<string, string>()): IndexSummary {
  return summaryOf(instance.catalog, outOfService, EAGER);
}

/** Changes a doc, which leaves one that no revision holds. */
function change(repo: string): void {
  writeFileSync(`${repo}/0.txt`, 'pear'.padEnd(SIZE));
  git(repo, 'commit', '-q', '-a', '-m', 'pear');
}

void test('living docs, dead docs, and the next merge', async () => {
  const repos = [0, 1, 2].map(makeSmallRepo);
  const index = await openIndexOf(temporaryFolder(), { mergeLimits: NEVER });
  await index.index(repos, undefined, 'commits');
  assert.deepEqual(
    summary(index).shards.map(({ docCount, deadCount, deadSize, repos: names, level }) => ({
      docCount,
      deadCount,
      deadSize,
      names: names.length,
      level,
    })),
    repos.map(() => ({ docCount: DOCS, deadCount: 0, deadSize: 0, names: 1, level: 1 })),
  );
  change(repos[0]!);
  await index.index(repos, undefined, 'commits');
  const before = summary(index);
  assert.deepEqual(
    [before.repoCount, before.docCount, before.deadCount, before.deadSize],
    [3, 3 * DOCS + 1, 1, SIZE],
  );
  assert.equal(before.contentSize, before.docCount * SIZE);
  assert.deepEqual(before.nextMerge, {
    shardIds: before.shards.map(({ shardId }) => shardId),
    docCount: 3 * DOCS,
    contentSize: 3 * DOCS * SIZE,
    droppedCount: 1,
  });
  assert.ok(before.shards.every(({ isMergedNext }) => isMergedNext));
  // Sixteen of a level are not there.
  assert.equal(summaryOf(index.instance.catalog, new Map(), MERGE_LIMITS).nextMerge, null);
  const [first, ...others] = before.shards;
  const out = summary(index, new Map([[first!.shardId, 'damaged']]));
  assert.equal(out.shards[0]!.outOfService, 'damaged');
  assert.deepEqual(
    out.nextMerge?.shardIds,
    others.map(({ shardId }) => shardId),
  );
  await index.close();

  const again = await openIndexOf(index.dataDir, { mergeLimits: EAGER });
  await again.instance.indexer.merger.run();
  const after = summary(again);
  assert.deepEqual(
    after.shards.map(({ docCount, contentSize, deadCount }) => ({
      docCount,
      contentSize,
      deadCount,
    })),
    [{ docCount: 3 * DOCS, contentSize: 3 * DOCS * SIZE, deadCount: 0 }],
  );
  assert.equal(after.nextMerge, null);
  // Docs of nobody are of no revision either.
  const { catalog } = again.instance;
  await catalog.commit(() => ({ removed: [catalog.repos[0]!.record.repoId] }));
  const { deadCount, shards } = summary(again);
  assert.equal(deadCount, DOCS);
  assert.equal(shards[0]!.repos.length, 2);
  await again.close();
});
