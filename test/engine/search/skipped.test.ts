// The list of files known by name only omits a shard whose file was truncated: missing bytes are not touched.

import assert from 'node:assert/strict';
import { truncateSync } from 'node:fs';
import test from 'node:test';
import { SKIP_TOO_LARGE } from '../../../core/shared/format.ts';
import { canMap } from '../../../daemon/engine/host/mapping.ts';
import { listSkipped } from '../../../daemon/engine/search/skipped.ts';
import { Engine, REPO } from '../host/harness.ts';

const skip = canMap() ? false : 'files cannot be mapped here';

void test('a shard whose file was truncated is reported, and skipped', { skip }, async () => {
  await using engine = await Engine.open();
  const shards = ['a', 'b'].map((name) =>
    engine.shardOf(REPO, [
      { path: name, bytes: Buffer.from(''), skipReason: SKIP_TOO_LARGE },
      { path: `${name}.txt`, bytes: Buffer.from(`plum ${name}\n`.repeat(2000)) },
    ]),
  );
  engine.publish(shards, [REPO]);
  const reported: string[] = [];
  const parts = {
    ...engine.parts,
    onShardFailure: (shardId: string) => {
      reported.push(shardId);
      engine.publish(
        shards.filter((shard) => shard.shardId !== shardId),
        [REPO],
      );
    },
  };
  const list = async () =>
    (await listSkipped(parts, 1, { offset: 0, limit: 10 })).items.map(({ path }) => path);
  truncateSync(shards[0]!.path, 4096);
  assert.deepEqual(await list(), ['b']);
  assert.deepEqual(reported, [shards[0]!.shardId]);
});
