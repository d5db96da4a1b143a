// Memory of a core instance returns to the system when it is released, not when garbage is collected: V8 does not
// count shared memory, so it may not collect for long.

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { HEADER_SIZE } from '../../../core/shared/format.ts';
import {
  mergeSegments,
  SegmentBuilder,
  type SegmentFile,
} from '../../../daemon/engine/host/builder.ts';
import { privateSizeOfProcess } from '../../../daemon/engine/host/heap.ts';
import { dropCore, instantiateCore } from '../../../daemon/engine/host/core.ts';
import { canMap, isBrief } from '../../../daemon/engine/host/mapping.ts';
import { sumPagesOf } from '../../../daemon/engine/host/page-check.ts';
import { Space } from '../../../daemon/engine/host/space.ts';
import { SymbolsFileBuilder } from '../../../daemon/engine/shards/symbols-builder.ts';
import { verifyShardFile, verifySymbolsFile } from '../../../daemon/engine/host/verify.ts';
import { buildShard, coreModule, REPO, temporaryFolder } from './harness.ts';

const ROUNDS = 8;
/** Bytes of content: its shard is read in, not mapped. */
const SIZE = 5 << 20;

/** The coded segment of a content, in a file. */
function segmentOf(module: WebAssembly.Module, bytes: Uint8Array, file: string): SegmentFile {
  const builder = new SegmentBuilder(module);
  builder.begin();
  assert.equal(builder.add(builder.stage(bytes)!, bytes.length, 0), 'added');
  const [segment] = builder.close().segments;
  writeFileSync(file, segment!);
  return { path: file, size: segment!.length };
}

void test('memory of released instances is freed at once', { skip: !canMap() }, async () => {
  const module = await coreModule('release');
  const folder = temporaryFolder();
  const lines = Array.from({ length: SIZE / 30 }, (_, one) => hash('sha1', String(one), 'base64'));
  const bytes = Buffer.from(lines.join('\n'));
  const shard = buildShard(module, folder, REPO, [
    { path: 'a.c', bytes, symbols: [{ start: 1, size: 12, kind: 5 }] },
  ]);
  assert.ok(isBrief(shard.size));
  const segment = segmentOf(module, bytes, path.join(folder, 'segment'));
  const uses: Record<string, () => void> = {
    'its pages are summed': () => void sumPagesOf(module, shard.path, shard.size, HEADER_SIZE),
    'segments are merged': () => void mergeSegments(module, [segment], () => {}),
    'a shard is verified': () => assert.equal(verifyShardFile(module, shard.path), undefined),
    'symbols are verified': () =>
      assert.equal(verifySymbolsFile(module, shard.path, shard.symbols!.path), undefined),
    'symbols are built': () => {
      const builder = new SymbolsFileBuilder(module, shard.path);
      builder.addBlob(0, [{ start: 1, size: 12, kind: 5 }]);
      builder.drop();
    },
    'a shard is read in': () => {
      const space = new Space(module, { wantsRead: true });
      assert.ok(space.open(shard));
      space.drop();
    },
  };
  for (const [name, use] of Object.entries(uses)) {
    use();
    const before = privateSizeOfProcess();
    for (let round = 0; round < ROUNDS; round++) use();
    const grown = privateSizeOfProcess() - before;
    // Kept, it would be the content in each round.
    assert.ok(grown < (ROUNDS * SIZE) / 3, `${name}: ${grown >> 20} MB more`);
  }
});

void test('the next instance alone gets the memory, zeroed', { skip: !canMap() }, async () => {
  const module = await coreModule('release');
  const first = instantiateCore(module);
  const pointer = first.heapStart + 100;
  new Uint8Array(first.memory.buffer)[pointer] = 7;
  dropCore(first);
  dropCore(first);
  const [next, other] = [instantiateCore(module), instantiateCore(module)];
  assert.equal(next.memory, first.memory);
  assert.notEqual(other.memory, first.memory);
  assert.equal(new Uint8Array(next.memory.buffer)[pointer], 0);
  dropCore(next, true);
  const last = instantiateCore(module);
  assert.notEqual(last.memory, next.memory, 'others may still look at it');
  dropCore(last);
  dropCore(other);
});
