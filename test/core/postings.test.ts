// Posting lists of real shards against plain sets: every density from one block to all blocks of a segment
// round-trips, and every gram of random shards lists exactly its blocks.

import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { seededRandom } from '../../bench/samples.ts';
import { Space } from '../../daemon/engine/host/space.ts';
import { verifyShardFile } from '../../daemon/engine/host/verify.ts';
import { foldsTogether } from './oracle.ts';
import { buildShard, coreModule, temporaryFolder, type TestDoc } from '../engine/host/harness.ts';

const REPO = { repoId: 1, name: 'host/repo' };
const SEGMENT = 8192;
const DENSITIES = [
  1, 2, 3, 4, 7, 8, 15, 31, 63, 64, 100, 127, 128, 129, 255, 400, 511, 639, 640, 641, 1000, 1023,
  1025, 1500, 2046, 2047, 2048, 2049, 3000, 4095, 5000, 6000, 8000, 8191, 8192,
];

/** `count` of `total` ids: spread evenly at random, or in runs. */
function idsOf(count: number, total: number, isClustered: boolean): Set<number> {
  const random = seededRandom(count * 2 + Number(isClustered));
  const ids = new Set<number>();
  while (ids.size < count) {
    const start = Math.floor(random() * total);
    const size = isClustered ? 1 + Math.floor(random() * 40) : 1;
    for (let id = start; id < Math.min(total, start + size) && ids.size < count; id++) ids.add(id);
  }
  return ids;
}

/** A word of three letters for each density and shape. */
function wordOf(index: number): string {
  const consonants = 'bcdfghjlmnpqrtvw';
  return `${consonants[index >> 4]!}${consonants[index & 15]!}#`;
}

void test('lists of every density round-trip', async () => {
  const module = await coreModule('release');
  const total = SEGMENT + 500;
  const sets = DENSITIES.flatMap((count) =>
    [false, true].map((isClustered) => idsOf(count, SEGMENT, isClustered)),
  );
  // A doc of one line is a block. Beyond the first segment each word stands in a block of every third.
  const docs: TestDoc[] = Array.from({ length: total }, (_, block) => {
    const words = sets.flatMap((ids, index) => {
      const isIn = block < SEGMENT ? ids.has(block) : (block + index) % 3 === 0;
      return isIn ? [wordOf(index)] : [];
    });
    return { path: `d${block}`, bytes: Buffer.from(`${block} ${words.join(' ')}\n`) };
  });
  const folder = temporaryFolder();
  const shard = buildShard(module, folder, REPO, docs);
  assert.equal(verifyShardFile(module, shard.path), undefined);
  const space = new Space(module);
  assert.ok(space.open(shard));
  for (const [index, ids] of sets.entries()) {
    const late = Array.from({ length: 500 }, (_, i) => SEGMENT + i).filter(
      (block) => (block + index) % 3 === 0,
    );
    const expected = [...[...ids].sort((a, b) => a - b), ...late];
    assert.deepEqual(
      space.blocksOfTrigram(shard.shardId, wordOf(index)),
      expected,
      `${ids.size} ids`,
    );
  }
  assert.deepEqual(space.blocksOfTrigram(shard.shardId, 'zz#'), []);
});

const CHARACTERS = Array.from('aAbk\u212asſ \r\n\t"éÉ日本σς\ufffd😀');

void test('every gram of a random shard lists its blocks', async () => {
  const module = await coreModule('debug');
  const folder = temporaryFolder();
  const space = new Space(module);
  const text = fc
    .array(fc.constantFrom(...CHARACTERS), { minLength: 1, maxLength: 60 })
    .map((list) => list.join(''));
  const property = fc.property(fc.uniqueArray(text, { minLength: 1, maxLength: 25 }), (texts) => {
    const docs = texts.map((one, index) => ({ path: `d${index}`, bytes: Buffer.from(one) }));
    const shard = buildShard(module, folder, REPO, docs);
    assert.ok(space.open(shard));
    try {
      checkGrams(space, shard.shardId, texts);
    } finally {
      space.close(shard.shardId);
    }
  });
  fc.assert(property, { numRuns: 25 });
});

/** Each text is one block, as all are small. Lists may name more blocks, where classes are shared. */
function checkGrams(space: Space, shardId: string, texts: readonly string[]): void {
  const blocks = texts.map((text) => gramsOf(`\n${text}${text.endsWith('\n') ? '' : '\n'}`));
  for (const gram of new Set(blocks.flat())) {
    const points = Array.from(gram);
    const listed = space.blocksOfTrigram(shardId, gram);
    const holding = [...blocks.keys()].filter((block) =>
      blocks[block]!.some((other) => isEqualFolded(points, Array.from(other))),
    );
    // Only characters outside of ASCII, and control characters, share gram letters; there are none here.
    const isExact = points.every((point) => point < '\u0080');
    if (isExact) assert.deepEqual(listed, holding, JSON.stringify(gram));
    else for (const block of holding) assert.ok(listed.includes(block), JSON.stringify(gram));
  }
}

/** All grams but those with a newline in their middle, which are never listed. */
function gramsOf(text: string): string[] {
  const points = Array.from(text);
  return points
    .slice(2)
    .map((last, index) => `${points[index]!}${points[index + 1]!}${last}`)
    .filter((gram) => Array.from(gram)[1] !== '\n');
}

function isEqualFolded(a: readonly string[], b: readonly string[]): boolean {
  return a.every((point, index) => foldsTogether(point.codePointAt(0)!, b[index]!.codePointAt(0)!));
}
