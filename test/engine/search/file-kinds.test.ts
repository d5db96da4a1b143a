// Kinds of files that are shown: each path is read once for a shard, and shards do not share what was told.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileKindsOf } from '../../../daemon/engine/search/file-kinds.ts';

function shardOf(shardId: string, paths: readonly string[]) {
  const requested: number[] = [];
  const tables = {
    docCount: paths.length,
    pathOf: (docId: number) => {
      requested.push(docId);
      return Buffer.from(paths[docId]!);
    },
  };
  const kinds = (...docs: [docId: number, tier: number][]) =>
    docs.map(([docId, tier]) => fileKindsOf(shardId, tables)(docId, tier));
  return { requested, kinds };
}

test('a kind is told from the path once, and the same the next time', () => {
  const one = shardOf('one', ['src/a.ts', 'docs/b.md', 'vendor/c.go', 'a.pb.go', 'a.test.ts']);
  const expected = ['docs', 'code', 'vendored', 'generated', 'test'];
  for (let round = 0; round < 2; round++)
    assert.deepEqual(one.kinds([1, 0], [0, 0], [2, 2], [3, 2], [4, 1]), expected);
  assert.deepEqual(one.requested, [1, 0, 2, 3, 4]);
  const other = shardOf('other', ['README.md']);
  assert.deepEqual(other.kinds([0, 0]), ['docs']);
});
