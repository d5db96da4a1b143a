// Search threads are told which shards have come and gone, not of all there are.

import assert from 'node:assert/strict';
import test from 'node:test';
import { Engine, repoRecord } from './harness.ts';

const REPO = repoRecord(1, 'host/a');

void test('threads are told of a shard once, and know it until it goes', async () => {
  const engine = await Engine.open({ inlineNs: 0n });
  let toldCount = 0;
  const plain = engine.shardOf(REPO, [{ path: 'a', bytes: Buffer.from('plum\n') }]);
  const { size } = plain;
  // What is told is read to be copied.
  const watched = {
    ...plain,
    get size() {
      toldCount++;
      return size;
    },
  };
  await engine.pool.ready();
  engine.searcher.setShards([plain]);
  engine.pool.setShards([watched]);
  const first = toldCount;
  assert.ok(first >= engine.pool.size);
  const other = engine.shardOf(REPO, [{ path: 'b', bytes: Buffer.from('pear\n') }]);
  engine.pool.setShards([watched, other]);
  assert.equal(toldCount, first);
  engine.publish([plain, other], [REPO]);
  assert.equal((await engine.search('plum')).files.length, 1);
  assert.equal((await engine.search('pear')).files.length, 1);
  engine.publish([other], [REPO]);
  assert.equal((await engine.search('plum')).files.length, 0);
  assert.equal((await engine.search('pear')).files.length, 1);
  await engine.close();
});
