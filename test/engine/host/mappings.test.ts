// Mappings of shards: one for each file without gaps; shares of the system limit; shards beyond the share of a search
// thread are mapped in turn and still found, beyond that of the main thread refused; a failed mapping is an error,
// never a private copy.
// tier: ci (kills and full disks)

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { release } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  MappingBudget,
  mappingShares,
  mappingWarning,
} from '../../../daemon/engine/host/mapping-budget.ts';
import { bringIn, canMap, mapFile } from '../../../daemon/engine/host/mapping.ts';
import { Searcher } from '../../../daemon/engine/host/searcher.ts';
import { RangeList, Space } from '../../../daemon/engine/host/space.ts';
import type { LiveShard } from '../../../daemon/engine/search/snapshot.ts';
import { buildShard, coreModule, Engine, REPO, temporaryFolder } from './harness.ts';
import { encodePlan } from '../query/at-once.ts';

const skip = canMap() ? false : 'files cannot be mapped here';

function makeShards(module: WebAssembly.Module, count: number): LiveShard[] {
  const folder = temporaryFolder();
  return Array.from({ length: count }, (_, shard) => {
    const text = `needle${shard} in all\n`;
    const symbols = [{ start: 0, size: 6, kind: 8 }];
    return buildShard(module, folder, REPO, [
      { path: `s${shard}/a.txt`, bytes: Buffer.from(text.repeat(1 + (shard % 400))), symbols },
    ]);
  });
}

/** Areas of the address space of this process, and those that map a file below `folder`. */
function countAreas(folder: string): { all: number; ofFiles: number } {
  const lines = readFileSync('/proc/self/maps', 'utf8').split('\n');
  return { all: lines.length, ofFiles: lines.filter((line) => line.includes(folder)).length };
}

void test('a shard needs one mapping for each file, without gaps', { skip }, async () => {
  const module = await coreModule('release');
  const shards = makeShards(module, 100);
  const folder = shards[0]!.path.slice(0, shards[0]!.path.lastIndexOf('/'));
  const space = new Space(module);
  assert.ok(space.open(shards[0]!));
  const before = countAreas(folder);
  for (const shard of shards.slice(1)) assert.ok(space.open(shard));
  const after = countAreas(folder);
  assert.equal(after.ofFiles - before.ofFiles, 2 * 99);
  // Other threads may map something meanwhile.
  assert.ok(after.all - before.all < 2 * 99 + 60, `${after.all - before.all} areas more`);
});

void test('shards beyond the share of a thread are mapped in turn', { skip }, async () => {
  const module = await coreModule('release');
  const shards = makeShards(module, 260);
  const folder = shards[0]!.path.slice(0, shards[0]!.path.lastIndexOf('/'));
  await using engine = new Engine(module, { workers: 2, inlineNs: 0n, poolMappingMax: 200 });
  engine.publish(shards, [REPO]);
  await engine.pool.ready();
  for (let round = 0; round < 2; round++) {
    const { stats, isSearchExhaustive } = await engine.search('in all', { matches: 1_000_000 });
    assert.equal(isSearchExhaustive, true);
    assert.equal(stats['fileCount'], 260);
    const whole = await engine.search('needle259', { whole: true });
    assert.equal(whole.files.length, 1);
  }
  // All on the main thread, and on two others 72 / 2 that stay and 64 at a time.
  assert.ok(countAreas(folder).ofFiles <= 2 * 260 + 2 * 200);
  engine.publish([], [REPO]);
});

void test('shards beyond the share of the main thread are unmapped', { skip }, async () => {
  const module = await coreModule('release');
  const shards = makeShards(module, 12);
  const searcher = new Searcher(module, { mappingMax: 20 });
  const refused = searcher.setShards(shards);
  assert.deepEqual(
    refused.map(({ shardId, fault }) => [shardId, fault]),
    shards.slice(10).map(({ shardId }) => [shardId, 'unmapped']),
  );
  assert.match(refused[0]!.message, /20 mappings/);
  // Room again.
  assert.deepEqual(searcher.setShards(shards.slice(2)), []);
});

void test('a failed mapping is an error, not a copy', { skip }, () => {
  const file = fileURLToPath(new URL('./mapping-limit-child.js', import.meta.url));
  const { stdout, stderr, status } = spawnSync(process.execPath, [file], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^MappingError: .*could not be mapped \(error 12 of mmap\)\n$/);
});

void test('unreadable pages are reported, not touched', { skip }, () => {
  const file = path.join(temporaryFolder(), 'file');
  writeFileSync(file, Buffer.alloc(65_536, 1));
  const memory = new WebAssembly.Memory({ initial: 3, maximum: 3 });
  mapFile(memory, 65_536, file, 65_536, false);
  assert.equal(bringIn(memory, 65_536, 65_536), 'in');
  truncateSync(file, 8192);
  assert.equal(bringIn(memory, 65_536, 8192), 'in');
  // Linux before 5.14 cannot tell.
  assert.equal(bringIn(memory, 65_536 + 8192, 4096), canReport() ? 'lost' : 'in');
});

function canReport(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}

void test('a shard whose file was truncated is refused at binding', { skip }, async () => {
  const module = await coreModule('release');
  const [shard] = makeShards(module, 1);
  const searcher = new Searcher(module);
  assert.deepEqual(searcher.setShards([shard!]), []);
  truncateSync(shard!.path, 4096);
  searcher.setPlan(encodePlan({ kind: 'text', text: 'needle' }, false));
  // Again and again.
  for (let i = 0; i < 2; i++)
    assert.throws(() => searcher.bind(shard!.shardId), /its file has 4096 bytes instead of/);
});

void test('the share of each thread leaves mappings for the process itself', () => {
  assert.equal(mappingShares(2, undefined) === undefined, false);
  for (const limit of [65_530, 262_144, 10_000]) {
    for (const threads of [1, 2, 16]) {
      const { main, thread } = mappingShares(threads, limit)!;
      if (thread > 128) assert.ok(main + threads * thread <= limit - 4096);
      assert.ok(main > 0 && thread >= 128);
    }
  }
});

void test('too many shards are reported to the operator, with the remedy', { skip }, () => {
  const symbols = { path: '/t', size: 1 };
  const files = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ shardId: `${i}`, path: '/s', size: 1, symbols }));
  assert.equal(mappingWarning(files(1000), 2, 65_530), undefined);
  assert.match(
    mappingWarning(files(12_000), 2, 65_530)!,
    /slower .*sysctl -w vm\.max_map_count=\d+/,
  );
  assert.match(mappingWarning(files(20_000), 2, 65_530)!, /cannot be searched/);
  const suggested = Number(/=(\d+)/.exec(mappingWarning(files(20_000), 2, 65_530)!)![1]);
  assert.equal(mappingWarning(files(20_000), 2, suggested), undefined);
});

void test('the budget evicts the oldest shard', () => {
  const out: string[] = [];
  const budget = new MappingBudget(130, true, (shardId) => out.push(shardId));
  budget.add('stays', 2);
  for (let i = 0; i < 66; i++) budget.add(`v${i}`, 2);
  assert.deepEqual(out, ['v0', 'v1']);
  budget.remove('stays');
  budget.add('v0', 2);
  assert.deepEqual(out, ['v0', 'v1']);
  assert.equal(budget.count, 2);
});

void test('free ranges are merged', () => {
  const list = new RangeList(100, 200);
  const starts = Array.from({ length: 10 }, () => list.take(10)!);
  assert.equal(list.take(1), undefined);
  for (const start of [3, 5, 4, 0, 9, 1, 2, 8, 6, 7].map((i) => starts[i]!)) list.give(start, 10);
  assert.equal(list.take(100), 100);
});
