// The background integrity check: finds damage anywhere, pauses during searches, resumes after a restart, and repeats
// when due.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
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

class Progress {
  text: string | undefined;

  read(): string | undefined {
    return this.text;
  }

  async write(text: string): Promise<void> {
    this.text = text;
  }
}

interface World {
  readonly pass: IntegrityPass;
  readonly damage: string[];
}

async function openPass(
  shards: readonly LiveShard[],
  options: Partial<IntegrityPassOptions> & Pick<IntegrityPassOptions, 'progress'>,
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
  const progress = new Progress();
  const { pass, damage } = await openPass(shards, { progress });
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

void test('a pass resumes where it was, and pauses when complete', async () => {
  const shards = makeShards(await coreModule('release'), 5);
  const progress = new Progress();
  let isBusy = false;
  // Busy from the third shard on.
  const first = await openPass(shards, {
    progress,
    isBusy: () => isBusy || first.pass.checkedCount === 2,
  });
  first.pass.run();
  await eventually(async () => first.pass.checkedCount === 2);
  isBusy = true;
  await first.pass.close();
  assert.equal(first.pass.checkedCount, 2);
  const second = await openPass(shards, { progress });
  second.pass.run();
  await eventually(async () => second.pass.checkedCount >= 3);
  await second.pass.close();
  assert.equal(second.pass.checkedCount, 3);
  // Through, and the next one is not due.
  const third = await openPass(shards, { progress });
  third.pass.run();
  await third.pass.close();
  assert.equal(third.pass.checkedCount, 0);
  // Due again at once.
  const fourth = await openPass(shards, { progress, intervalMs: 0 });
  fourth.pass.run();
  await eventually(async () => fourth.pass.checkedCount >= 6);
  await fourth.pass.close();
  assert.deepEqual(fourth.damage, []);
});

void test('a pass dated in the future was dated by a wrong clock: the next one starts at once', async () => {
  const shards = makeShards(await coreModule('release'), 2);
  const progress = new Progress();
  const startedAt = Date.now() + 365 * 24 * 3600 * 1000;
  const checkedAfter = async (state: object): Promise<number> => {
    progress.text = JSON.stringify({ startedAt, ...state });
    const { pass } = await openPass(shards, { progress });
    pass.run();
    // What is kept at the end is of this clock.
    const isThrough = (): boolean => {
      const kept = JSON.parse(progress.text ?? '') as { startedAt: number; isDone: boolean };
      return kept.isDone && kept.startedAt <= Date.now();
    };
    await eventually(async () => isThrough());
    await pass.close();
    return pass.checkedCount;
  };
  assert.equal(await checkedAfter({ shardId: '', isDone: true }), 2);
  const [first] = shards.map(({ shardId }) => shardId).sort();
  assert.equal(await checkedAfter({ shardId: first, isDone: false }), 1);
});

void test('an unreadable state only costs a repeated pass', async () => {
  const shards = makeShards(await coreModule('release'), 2);
  const progress = new Progress();
  progress.text = '{"startedAt": "never"}';
  const { pass } = await openPass(shards, { progress });
  pass.run();
  await eventually(async () => pass.checkedCount === 2);
  await pass.close();
});
