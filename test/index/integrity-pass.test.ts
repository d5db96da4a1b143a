// The background integrity check: finds damage anywhere, pauses during searches, and repeats when due.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { LiveShard } from '../../daemon/engine/search/snapshot.ts';
import {
  IntegrityPass,
  type IntegrityPassOptions,
} from '../../daemon/index/upkeep/integrity-pass.ts';
import { buildShard, coreModule, REPO, temporaryFolder } from '../engine/host/harness.ts';
import { eventually } from '../e2e/daemon.ts';
import { createLog } from '../../daemon/base/log.ts';

function makeShards(module: WebAssembly.Module, count: number): LiveShard[] {
  const folder = temporaryFolder();
  return Array.from({ length: count }, (_, shard) => {
    const symbols = [{ start: 0, size: 4, kind: 8 }];
    const bytes = Buffer.from(`name of shard ${shard}\n`.repeat(3000));
    return buildShard(module, folder, REPO, [{ path: `s${shard}`, bytes, symbols }]);
  });
}

interface World {
  readonly pass: IntegrityPass;
  readonly damage: string[];
}

async function openPass(
  shards: readonly LiveShard[],
  options: Partial<IntegrityPassOptions> = {},
): Promise<World> {
  const damage: string[] = [];
  const pass = new IntegrityPass({
    module: await coreModule('release'),
    shards: () => shards,
    isBusy: () => false,
    onDamage: (shardId, reason, fault) => damage.push(`${shardId} ${fault}: ${reason}`),
    log: createLog({ level: 'error', format: 'text', write: () => {} }),
    rate: 1e9,
    ...options,
  });
  return { pass, damage };
}

function changeByte(file: string, offset: number): void {
  const bytes = readFileSync(file);
  bytes[offset]! ^= 0x10;
  writeFileSync(file, bytes);
}

void test('damage is found in contents and symbols', async () => {
  const shards = makeShards(await coreModule('release'), 4);
  changeByte(shards[1]!.path, 4096 + 30_000);
  changeByte(shards[2]!.symbols!.path, 400);
  const { pass, damage } = await openPass(shards);
  pass.run();
  await eventually(async () => pass.checkedCount === 4);
  await pass.close();
  assert.deepEqual(damage, [
    `${shards[1]!.shardId} damaged: page 8 is damaged`,
    `${shards[2]!.shardId} symbols: page 0 is damaged`,
  ]);
  assert.deepEqual(await pass.checkNow(shards.slice(2, 4)), [
    { shardId: shards[2]!.shardId, reason: 'page 0 is damaged', fault: 'symbols' },
  ]);
});

void test('a pass waits while searches run, and is repeated when due', async () => {
  const shards = makeShards(await coreModule('release'), 5);
  let isBusy = true;
  const { pass, damage } = await openPass(shards, { isBusy: () => isBusy, intervalMs: 0 });
  pass.run();
  await setTimeout(100);
  assert.equal(pass.checkedCount, 0);
  isBusy = false;
  await eventually(async () => pass.checkedCount > 5);
  await pass.close();
  assert.deepEqual(damage, []);
});
