// An idle searcher releases the memory of its requests; running and later searches are not affected.

import assert from 'node:assert/strict';
import test from 'node:test';
import { SearchControl, unitMaxOf } from '../../../daemon/engine/host/control.ts';
import { SearchLoop } from '../../../daemon/engine/host/search-loop.ts';
import type { UnitFinding } from '../../../daemon/engine/host/search-messages.ts';
import { Searcher } from '../../../daemon/engine/host/searcher.ts';
import type { EncodedPlan } from '../../../daemon/engine/host/encoded-plan.ts';
import { buildShard, coreModule, encodedPlan, REPO, temporaryFolder } from './harness.ts';

const NEVER_MS = 1_000_000;
const USED_OFFSET = 16 << 20;

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

/** Reads a byte far behind what small searches use: 0 once it was given back. */
function usedByteOf(searcher: Searcher, shardId: string): { isUsed: boolean; use: () => void } {
  const { core, outputStart } = searcher.spaceOf(shardId);
  const bytes = new Uint8Array(core.memory.buffer, outputStart + USED_OFFSET, 1);
  return {
    get isUsed() {
      return bytes[0] !== 0;
    },
    use: () => void bytes.fill(1),
  };
}

void test('memory is released while idle, and during a search', async () => {
  const module = await coreModule('release');
  const docs = Array.from({ length: 4000 }, (_, doc) => ({
    path: `d${doc}.txt`,
    bytes: Buffer.from(`common plum${doc % 89} doc ${doc}\n`.repeat(1 + (doc % 50))),
  }));
  const shard = buildShard(module, temporaryFolder(), REPO, docs);
  let unitCount = 0;
  for (const text of ['common', 'plum7', 'pl.m[1-4]+ doc', 'common -plum8', '(?i)DOC \\d+3$']) {
    const plan = encodedPlan(text, true, [shard]);
    const find = async (restMs: number): Promise<UnitFinding[]> => {
      const searcher = new Searcher(module, { restMs });
      assert.deepEqual(searcher.setShards([shard]), []);
      const control = new SearchControl([unitMaxOf(shard)]);
      const loop = new SearchLoop(searcher, plan, [shard.shardId], Infinity, control);
      const memory = usedByteOf(searcher, shard.shardId);
      let restedCount = 0;
      for (let hasMore = true; hasMore;) {
        hasMore = loop.step();
        memory.use();
        if (restMs === NEVER_MS || loop.units.length === restedCount) continue;
        restedCount = loop.units.length;
        while (memory.isUsed) await pause(1);
      }
      return loop.units;
    };
    const expected = await find(NEVER_MS);
    unitCount += expected.length;
    assert.deepEqual(await find(2), expected, text);
  }
  assert.ok(unitCount > 15, `${unitCount} units`);
});

void test('memory is released while other searches run, except for a long one', async () => {
  const module = await coreModule('release');
  const docs = [{ path: 'd.txt', bytes: Buffer.from('common\n') }];
  const shard = buildShard(module, temporaryFolder(), REPO, docs);
  const newPlan = (): EncodedPlan => encodedPlan('common', false, [shard]);
  const searcher = new Searcher(module, { restMs: 100 });
  assert.deepEqual(searcher.setShards([shard]), []);
  const memory = usedByteOf(searcher, shard.shardId);

  const bind = async (): Promise<void> => {
    searcher.bind(shard.shardId);
    await pause(1);
  };
  memory.use();
  while (memory.isUsed) {
    searcher.beginPlan(newPlan());
    await bind();
  }

  // One search all the time: when it is seen for the first time it may be short.
  searcher.beginPlan(newPlan());
  memory.use();
  while (memory.isUsed) await bind();
  memory.use();
  // Timers fire in order of their due times: the searcher has polled at least once before this one.
  const end = AbortSignal.timeout(250);
  while (!end.aborted) await bind();
  assert.equal(memory.isUsed, true);
});
