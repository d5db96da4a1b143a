// Snapshots: a running search keeps its snapshot, and its shards stay open to the end.

import assert from 'node:assert/strict';
import test from 'node:test';
import { Engine, repoRecord } from '../host/harness.ts';
import { printSnapshot } from './print-snapshot.ts';

const [A, B] = [repoRecord(1, 'host/a'), repoRecord(2, 'host/b')];
const DOCS = ['x', 'y'].map((path) => ({ path, bytes: Buffer.from('plum\n') }));

void test('a running search keeps its snapshot; unused shards are closed', async () => {
  await using engine = await Engine.open();
  const own = engine.shardOf(A, DOCS);
  const broken = { ...engine.shardOf(A, DOCS), reason: 'cut off' };
  const shared = engine.sharedShardOf([
    { ...A, docs: DOCS },
    { ...B, docs: DOCS },
  ]);
  engine.publish([own, shared], [A, B], [broken]);
  const kept = engine.snapshots.acquire();
  const same = engine.snapshots.acquire();
  engine.publish([shared], [A, B]);
  assert.equal(
    printSnapshot(kept),
    `${own.shardId}(host/a 0-2); ${shared.shardId}(host/a 0-2, host/b 2-4); ${broken.shardId}(host/a 0-2): cut off`,
  );
  assert.equal(
    printSnapshot(engine.snapshots.current),
    `${shared.shardId}(host/a 0-2, host/b 2-4)`,
  );
  assert.equal(engine.searcher.has(own.shardId), true);
  engine.snapshots.release(kept);
  assert.equal(engine.searcher.has(own.shardId), true);
  engine.snapshots.release(same);
  assert.equal(engine.searcher.has(own.shardId), false);
});

void test('of a shard with one remaining repo only the docs of that repo are found', async () => {
  await using engine = await Engine.open();
  const shared = engine.sharedShardOf([A, B].map((repo) => ({ ...repo, docs: DOCS })));
  engine.publish([shared], [A, B]);
  assert.equal((await engine.search('plum')).files.length, 4);
  engine.publish([{ ...shared, parts: shared.parts.slice(1) }], [B]);
  const { files, stats } = await engine.search('plum');
  assert.deepEqual(
    files.map(({ repository }) => repository),
    [B.name, B.name],
  );
  assert.equal(stats['fileCount'], 2);
});
