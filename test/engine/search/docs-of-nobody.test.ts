// Docs of a shard that are of no repo any more are found by nothing, in a shard that one repo is left of too.

import assert from 'node:assert/strict';
import test from 'node:test';
import { Engine, buildSharedShard, repoRecord } from '../host/harness.ts';

void test('of a shard that one repo is left of, only the docs of that one are found', async () => {
  const engine = await Engine.open();
  const docs = [{ path: 'a', bytes: Buffer.from('plum\n') }];
  const repos = [repoRecord(1, 'host/a'), repoRecord(2, 'host/b')];
  const sharers = repos.map(({ repoId, name }) => ({ repoId, name, docs }));
  const shared = buildSharedShard(engine.module, engine.folder, sharers);
  engine.publish([shared], repos);
  assert.equal((await engine.search('plum')).files.length, 2);
  engine.publish([{ ...shared, parts: shared.parts.slice(1) }], repos.slice(1));
  const { files, stats } = await engine.search('plum');
  assert.deepEqual(
    [files.map(({ repository }) => repository), stats['fileCount']],
    [['host/b'], 1],
  );
  await engine.close();
});
