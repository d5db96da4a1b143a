// Search threads hear of added and removed shards, not of all.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { Engine, repoRecord } from './harness.ts';

const REPO = repoRecord(1, 'host/a');

void test('threads hear of a shard once, and keep it until it is removed', async () => {
  await using engine = await Engine.open({ inlineNs: 0n });
  let stampCount = 0;
  const plain = engine.shardOf(REPO, [{ path: 'a', bytes: Buffer.from('plum\n') }]);
  const { size } = plain;
  // A sent shard is read for the copy.
  const watched = {
    ...plain,
    get size() {
      stampCount++;
      return size;
    },
  };
  await engine.pool.ready();
  engine.searcher.setShards([plain]);
  engine.pool.setShards([watched]);
  const first = stampCount;
  assert.ok(first >= engine.pool.size);
  const other = engine.shardOf(REPO, [{ path: 'b', bytes: Buffer.from('pear\n') }]);
  engine.pool.setShards([watched, other]);
  assert.equal(stampCount, first);
  engine.publish([plain, other], [REPO]);
  assert.equal((await engine.search('plum')).files.length, 1);
  assert.equal((await engine.search('pear')).files.length, 1);
  engine.publish([other], [REPO]);
  assert.equal((await engine.search('plum')).files.length, 0);
  assert.equal((await engine.search('pear')).files.length, 1);
});

/** Shard files that this process has mapped, by whatever thread. */
function mappedIn(folder: string): string[] {
  const lines = readFileSync('/proc/self/maps', 'latin1').split('\n');
  const files = lines.flatMap((line) => /\/.*\.shard$/.exec(line) ?? []);
  return [...new Set(files.filter((file) => file.startsWith(folder)))];
}

void test('removed shards are not mapped or open anywhere, after 300 changes', async () => {
  await using engine = await Engine.open({ inlineNs: 0n, workers: 2 });
  const shards = Array.from({ length: 6 }, (_, index) =>
    engine.shardOf(REPO, [{ path: `f${index}`, bytes: Buffer.from('plum\n') }]),
  );
  const [first] = shards;
  const openCount = async (): Promise<number> => {
    engine.publish([first!], [REPO]);
    assert.equal((await engine.search('plum')).files.length, 1);
    return readdirSync('/proc/self/fd').length;
  };
  const before = await openCount();
  assert.deepEqual(mappedIn(engine.folder), [first!.path]);
  for (let change = 0; change < 300; change++) {
    const live = shards.filter((_, index) => (change * 7 + index * index) % 3 !== 0);
    engine.publish(live, [REPO]);
    if (change % 20 > 0) continue;
    assert.equal((await engine.search('plum')).files.length, live.length);
  }
  assert.equal(await openCount(), before);
  assert.deepEqual(mappedIn(engine.folder), [first!.path]);
});
