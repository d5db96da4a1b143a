// Words in paths over shards whose path grams have rows of each size (core/FORMAT.md): the docs found are those whose
// path contains the word. Damaged path grams are detected.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import * as format from '../../core/shared/format.ts';
import { compileCore } from '../../daemon/engine/host/core.ts';
import { Searcher } from '../../daemon/engine/host/searcher.ts';
import { verifyShardFile } from '../../daemon/engine/host/verify.ts';
import type { PlanNode } from '../../daemon/engine/query/plan-tree.ts';
import { ShardTables } from '../../daemon/engine/shards/tables.ts';
import { seededRandom } from '../../bench/samples.ts';
import { buildShard, temporaryFolder } from '../engine/host/harness.ts';
import { sealShard } from '../engine/host/seal.ts';
import { encodePlan } from '../engine/query/at-once.ts';

const PARTS = 'src Kernel mm slab a page_alloc über Жук x.y README q'.split(' ');
const WORDS_OF_A_SHARD = 120;
/** Docs and the bytes of a row that they take. */
const SHARDS = [
  [1, 16],
  [500, 16],
  [9000, 32],
  [70_000, 128],
] as const;

type Random = (below: number) => number;

/** Paths in order, folders of many docs among them. */
function pathsOf(count: number, random: Random): string[] {
  const name = (): string => PARTS[random(PARTS.length)]!;
  const paths = Array.from({ length: count }, (_, index) =>
    [`${name()}${Math.floor(index / 200)}`, name(), `${name()}_${name()}${index}.c`].join('/'),
  );
  return paths.sort();
}

/** A piece of a path, at times in the other case, at times with another end. */
function wordOf(paths: readonly string[], random: Random): string {
  const points = Array.from(paths[random(paths.length)]!);
  const start = random(points.length);
  const word = points.slice(start, start + 1 + random(12)).join('');
  const change = random(4);
  if (change === 0) return word.toUpperCase();
  return change === 1 ? `${word.slice(0, -1)}z` : word;
}

function docsOf(searcher: Searcher, shardId: string, plan: PlanNode, isExact: boolean): number[] {
  searcher.setPlan(encodePlan(plan, isExact));
  const { unitCount } = searcher.bind(shardId);
  const found: number[] = [];
  for (let unit = 0; unit < unitCount; unit++) {
    const { rows } = searcher.searchUnit(unit);
    for (let i = 0; i < rows.length; i += 4) found.push(rows[i]!);
  }
  return found.sort((a, b) => a - b);
}

for (const [count, rowSize] of SHARDS)
  test(`words in the paths of ${count} docs, rows of ${rowSize} bytes`, async () => {
    const module = await compileCore();
    const draw = seededRandom(count);
    const random: Random = (below) => Math.floor(draw() * below);
    const paths = pathsOf(count, random);
    const docs = paths.map((one) => ({ path: one, bytes: Buffer.from('-\n') }));
    const shard = buildShard(module, temporaryFolder(), { repoId: 1, name: 'host/repo' }, docs);
    const tables = new ShardTables(readFileSync(shard.path));
    const [keys, rows] = KINDS.map((kind) => tables.section(kind).size);
    assert.equal(rows! / (keys! / 4), rowSize);
    const searcher = new Searcher(module);
    assert.deepEqual(searcher.setShards([shard]), []);
    for (let i = 0; i < WORDS_OF_A_SHARD; i++) {
      const [text, isExact] = [wordOf(paths, random), random(2) === 0];
      const fold = (one: string): string => (isExact ? one : one.toLowerCase());
      const expected = [...paths.keys()].filter((doc) => fold(paths[doc]!).includes(fold(text)));
      const label = `${JSON.stringify(text)}, ${isExact ? 'exact' : 'folded'}`;
      const word = { kind: 'text', text, isInPath: true } as const;
      assert.deepEqual(docsOf(searcher, shard.shardId, word, isExact), expected, label);
      const literal = { text, anchoredStart: false, anchoredEnd: false };
      const file = { kind: 'path', literal } as const;
      assert.deepEqual(docsOf(searcher, shard.shardId, file, isExact), expected, `file: ${label}`);
    }
  });

const KINDS = [format.SECTION_PATH_GRAM_KEYS, format.SECTION_PATH_GRAM_ROWS] as const;

test('a shard with wrong path grams, otherwise valid', async () => {
  const module = await compileCore();
  const docs = [{ path: 'src/a.c', bytes: Buffer.from('x\n') }];
  const shard = buildShard(module, temporaryFolder(), { repoId: 1, name: 'host/repo' }, docs);
  assert.equal(verifyShardFile(module, shard.path), undefined);
  for (const kind of KINDS) {
    const bytes = Buffer.from(readFileSync(shard.path));
    bytes[new ShardTables(bytes).section(kind).start]! ^= 1;
    sealShard(module, bytes, kind);
    const changed = path.join(temporaryFolder(), 'changed.shard');
    writeFileSync(changed, bytes);
    const problem = `gram keys (section ${format.SECTION_PATH_GRAM_ROWS})`;
    assert.equal(verifyShardFile(module, changed), problem);
  }
});
