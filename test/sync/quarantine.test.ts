// Shards out of service stay so over a restart, with the reason, until their repos are built again.

import assert from 'node:assert/strict';
import test from 'node:test';
import { indexerOf } from '../../daemon/app/instance.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { indexOf, openIndexOf } from './index-of.ts';

void test('what is out of service stays so until it is built again', async () => {
  const dataDir = temporaryFolder();
  const repo = makeRepo({ 'a.txt': 'plum\n' });
  await using first = await indexOf(dataDir, repo);
  const [shard] = first.instance.catalog.repos[0]!.shards;
  // Why closed before: it would be built again at once.
  await indexerOf(first.instance).close();
  first.instance.served.quarantine(shard!.shardId, 'for the test');
  await first.close();
  await using again = await openIndexOf(dataDir);
  assert.ok(again.instance.served.isOut(shard!.shardId));
  assert.deepEqual((await again.search('plum')).incompleteReasons, ['shard_quarantined']);
  const [{ reason } = {}] = again.instance.parts.snapshots.current.quarantined;
  assert.equal(reason, 'for the test');
  await again.index([repo], {}, 'commits');
  assert.equal((await again.search('plum')).files.length, 1);
  await again.close();
  await using last = await openIndexOf(dataDir);
  assert.equal(last.instance.served.quarantinedCount, 0);
  assert.equal((await last.search('plum')).isSearchExhaustive, true);
});
