// Shard files in memory: mapped pages belong to the file and stay clean, read ones and several spaces give the same
// answers; memories keep their size, ranges are reused, and a shard is closed only when no search needs it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { canMap, isInMemory } from '../../../daemon/engine/host/mapping.ts';
import type { Searcher } from '../../../daemon/engine/host/searcher.ts';
import { Space } from '../../../daemon/engine/host/space.ts';
import type { LiveShard } from '../../../daemon/engine/search/snapshot.ts';
import { buildShard, coreModule, Engine, REPO, temporaryFolder } from './harness.ts';

const skip = canMap() ? false : 'files cannot be mapped here';

function makeShards(module: WebAssembly.Module, count: number): LiveShard[] {
  const folder = temporaryFolder();
  return Array.from({ length: count }, (_, shard) =>
    buildShard(
      module,
      folder,
      REPO,
      Array.from({ length: 60 }, (_, doc) => ({
        path: `shard${shard}/doc${doc}.txt`,
        bytes: Buffer.from(
          `line of doc ${doc}\nneedle ${shard} ${doc % 7}\n`.repeat(1 + (doc % 5)),
        ),
      })),
    ),
  );
}

interface MappedArea {
  readonly size: number;
  readonly dirty: number;
  readonly permissions: string;
}

/** What /proc/self/smaps says of the areas that map `path`; sizes in KiB. */
function areasOf(path: string): MappedArea[] {
  const text = readFileSync('/proc/self/smaps', 'utf8');
  return text.split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m).flatMap((area) => {
    const [head = ''] = area.split('\n', 1);
    if (!head.endsWith(path)) return [];
    const field = (name: string): number =>
      Number(new RegExp(`^${name}: +(\\d+) kB`, 'm').exec(area)?.[1]);
    return [
      { size: field('Size'), dirty: field('Private_Dirty'), permissions: head.split(' ')[1]! },
    ];
  });
}

void test('a shard is mapped from its file and no page of it is copied', { skip }, async () => {
  const module = await coreModule('release');
  const [shard] = makeShards(module, 1);
  await using engine = new Engine(module);
  engine.publish([shard!], [REPO]);
  // Whole contents are rendered by the pool.
  const { stats } = await engine.search('needle', { whole: true });
  assert.ok(stats['totalMatchCount']! > 0);
  // The searcher's and the pool thread's.
  const areas = areasOf(shard!.path);
  assert.equal(areas.length, 2);
  for (const { size, dirty, permissions } of areas) {
    assert.equal(dirty, 0);
    assert.equal(size, Math.ceil(shard!.size / 4096) * 4);
    assert.equal(permissions, 'r--p');
  }
  assert.equal(engine.searcher.spaceOf(shard!.shardId).kindOf(shard!.shardId), 'mapped');
  engine.publish([], [REPO]);
  assert.equal(engine.searcher.has(shard!.shardId), false);
  await engine.close();
  assert.equal(areasOf(shard!.path).length, 0);
});

const QUERIES = ['needle', 'needle 3', 'doc or ne', 'file:doc1 line', '-needle', 'o'];

async function answersOf(engine: Engine): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const query of QUERIES) {
    for (const matches of [3, 100_000]) {
      const { stats, ...answer } = await engine.search(query, { matches, contextLines: 1 });
      const { duration, wait, matchTreeConstruction, matchTreeSearch, ...counts } = stats;
      assert.ok(duration! >= wait! && matchTreeConstruction! + matchTreeSearch! >= 0);
      answers.push({ counts, ...answer });
    }
  }
  return answers;
}

function memorySizes(searcher: Searcher, shards: readonly LiveShard[]): number[] {
  return shards.map(({ shardId }) => searcher.spaceOf(shardId).core.memory.buffer.byteLength);
}

void test('read shards, and shards in three spaces, answer like mapped ones in one space', async () => {
  const module = await coreModule('release');
  const shards = makeShards(module, 6);
  const capacityForTwo = 2 * Math.ceil(Math.max(...shards.map(({ size }) => size)) / 4096) * 4096;
  const all: unknown[] = [];
  for (const options of [{}, { wantsRead: true }, { capacity: capacityForTwo }]) {
    await using engine = new Engine(module, options);
    engine.publish(shards, [REPO]);
    const before = memorySizes(engine.searcher, shards);
    all.push(await answersOf(engine));
    assert.deepEqual(memorySizes(engine.searcher, shards), before);
    assert.equal(before[0], 4 * 2 ** 30);
    assert.equal(engine.searcher.spaceCount, 'capacity' in options ? 3 : 1);
    const kind = engine.searcher.spaceOf(shards[0]!.shardId).kindOf(shards[0]!.shardId);
    assert.equal(kind, 'wantsRead' in options || !canMap() ? 'read' : 'mapped');
  }
  assert.deepEqual(all[1], all[0]);
  assert.deepEqual(all[2], all[0]);
});

void test('ranges of closed shards are reused', async () => {
  const module = await coreModule('release');
  const shards = makeShards(module, 3);
  const size = Math.ceil(Math.max(...shards.map((shard) => shard.size)) / 4096) * 4096;
  const space = new Space(module, { capacity: 2 * size });
  for (let round = 0; round < 300; round++) {
    const [first, second, third] = [0, 1, 2].map((i) => shards[(i + round) % 3]!);
    assert.ok(space.open(first!) && space.open(second!));
    assert.equal(space.open(third!), false);
    assert.equal(Buffer.compare(space.bytesOf(second!.shardId), readFileSync(second!.path)), 0);
    space.close(first!.shardId);
    assert.ok(space.open(third!));
    space.close(second!.shardId);
    space.close(third!.shardId);
    assert.equal(space.shardCount, 0);
  }
  for (const shard of shards) if (canMap()) assert.equal(areasOf(shard.path).length, 0);
});

test('an untouched page is not in memory, a read one is', { skip }, () => {
  const pages = 64;
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const address = (pages / 2) * 65536;
  assert.equal(isInMemory(memory, address), false);
  new Uint8Array(memory.buffer)[address + 5] = 1;
  assert.equal(isInMemory(memory, address + 7), true);
  assert.equal(isInMemory(memory, address + 65536), false);
});
