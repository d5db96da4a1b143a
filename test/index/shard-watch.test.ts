// What the watch says of files of shards that somebody changes: wrong sizes at once, others after a check, and nothing of
// what the daemon does itself.

import assert from 'node:assert/strict';
import {
  closeSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type { LiveShard } from '../../daemon/engine/search/snapshot.ts';
import { ShardWatch } from '../../daemon/index/upkeep/shard-watch.ts';
import { createLog } from '../../daemon/base/log.ts';
import { eventually } from '../e2e/daemon.ts';
import { buildShard, coreModule, repoRecord, temporaryFolder } from '../engine/host/harness.ts';

void test('changes of others are told, cuts at once', async () => {
  const module = await coreModule('release');
  const folder = temporaryFolder();
  const repo = repoRecord(1, 'host/repo');
  const shards: LiveShard[] = [0, 1, 2].map((number) =>
    buildShard(module, folder, repo, [
      {
        path: `d${number}`,
        bytes: Buffer.from('some text\n'.repeat(2000)),
        symbols: [{ start: 0, size: 4, kind: 8 }],
      },
    ]),
  );
  const checked: string[] = [];
  const damage: string[] = [];
  const watch = new ShardWatch({
    folder,
    shards: () => shards,
    check: async ({ shardId }) => void checked.push(shardId),
    onDamage: (shardId, reason, fault) => damage.push(`${shardId} ${fault}: ${reason}`),
    log: createLog({ level: 'error', format: 'text', write: () => {} }),
  });
  // What the daemon does: a new file under its name, one that goes.
  writeFileSync(path.join(folder, 'new.next'), 'bytes');
  renameSync(path.join(folder, 'new.next'), path.join(folder, 'new.shard'));
  rmSync(path.join(folder, 'new.shard'));
  truncateSync(shards[0]!.path, 4096);
  truncateSync(shards[1]!.symbols!.path, 100);
  const handle = openSync(shards[2]!.path, 'r+');
  writeSync(handle, Uint8Array.of(1), 0, 1, 9000);
  closeSync(handle);
  await eventually(async () => damage.length === 2 && checked.length === 1);
  assert.deepEqual(damage, [
    `${shards[0]!.shardId} damaged: its file has 4096 bytes instead of ${shards[0]!.size}`,
    `${shards[1]!.shardId} symbols: its file has 100 bytes instead of ${shards[1]!.symbols!.size}`,
  ]);
  assert.deepEqual(checked, [shards[2]!.shardId]);
  await watch.close();
});

void test('files that are gone are told once, and stay in service', async () => {
  const module = await coreModule('release');
  const folder = path.join(temporaryFolder(), 'shards');
  mkdirSync(folder);
  const repo = repoRecord(1, 'host/repo');
  let shards: LiveShard[] = [0, 1].map((number) =>
    buildShard(module, folder, repo, [{ path: `d${number}`, bytes: Buffer.from('some text\n') }]),
  );
  const [first, second] = shards as [LiveShard, LiveShard];
  const lines: string[] = [];
  const watch = new ShardWatch({
    folder,
    shards: () => shards,
    check: async () => assert.fail('nothing is to be checked'),
    onDamage: () => assert.fail('nothing is damaged'),
    log: createLog({ level: 'error', format: 'text', write: (line) => void lines.push(line) }),
  });
  const goneCount = (count: number) => [
    `${count} files of shards are gone: they are searched until the daemon stops`,
  ];
  const aside = `${first.path}.aside`;
  renameSync(first.path, aside);
  await eventually(async () => lines.length === 1);
  assert.match(lines[0]!, /a file of a shard is gone/);
  assert.ok(lines[0]!.includes(path.basename(first.path)));
  assert.deepEqual(watch.degradations, goneCount(1));
  // Back again: nothing is missing.
  renameSync(aside, first.path);
  assert.deepEqual(watch.degradations, []);
  // What the daemon removes is out of service by then.
  shards = [first];
  rmSync(second.path);
  // All of them, with their folder.
  renameSync(folder, `${folder}.gone`);
  await eventually(async () => lines.length === 2);
  assert.ok(lines[1]!.includes(path.basename(first.path)));
  assert.deepEqual(watch.degradations, goneCount(1));
  await watch.close();
});
