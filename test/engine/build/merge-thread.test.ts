// Merges in their thread: aborted at any moment they leave no file and a living process; many of them, failed ones
// too, leave no mapping.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { MergeOrder } from '../../../daemon/engine/build/merge.ts';
import { MergeThread } from '../../../daemon/engine/build/merge-thread.ts';
import {
  buildShard,
  cannotCountMappings,
  coreModule,
  countMappings,
  REPO,
  temporaryFolder,
} from '../host/harness.ts';

const ROUNDS = 16;

async function orderOfThree(): Promise<{ order: MergeOrder; module: WebAssembly.Module }> {
  const module = await coreModule('release');
  const folder = temporaryFolder();
  const docs = [0, 1, 2].map((number) => ({ path: `${number}.c`, bytes: Buffer.from('plum\n') }));
  const sources = docs.map((doc) => buildShard(module, folder, REPO, [doc]));
  const repo = {
    ...REPO,
    docs: sources.map((_, source) => ({ source, docIds: Uint32Array.of(0) })),
  };
  const target = temporaryFolder();
  const order = {
    sources,
    repos: [repo],
    path: path.join(target, 'new.shard'),
    symbolsPath: path.join(target, 'new.tags'),
  };
  return { order, module };
}

void test('a merge can be aborted at any moment', async () => {
  const { order, module } = await orderOfThree();
  const folder = path.dirname(order.path);
  let abortedCount = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const thread = new MergeThread(module);
    const stop = new AbortController();
    const state = { isOver: false };
    const merge = thread
      .run(order, stop.signal)
      .catch((error: unknown) => error)
      .finally(() => (state.isOver = true));
    // A thread is some 60 ms old when it has loaded what it needs; every other one writes already.
    if (round % 2 === 0) await sleep(6 * round);
    else while (!state.isOver && readdirSync(folder).length === 0) await setImmediate();
    stop.abort(new Error('given up'));
    const outcome = await merge;
    if (outcome instanceof Error) {
      abortedCount++;
      assert.match(outcome.message, /given up/);
      assert.deepEqual(readdirSync(folder), []);
    }
    // The next one gets another thread.
    if (round % 4 === 0)
      assert.equal((await thread.run(order, new AbortController().signal)).docCount, 3);
    await thread.close();
    rmSync(order.path, { force: true });
  }
  assert.ok(abortedCount > 0);
});

void test('merges, also failed ones, leave no mapping', { skip: cannotCountMappings }, async () => {
  const { order, module } = await orderOfThree();
  const [first, ...others] = order.sources;
  const damaged = path.join(temporaryFolder(), 'damaged.shard');
  const bytes = readFileSync(first!.path);
  bytes[bytes.length >> 1]! ^= 1;
  writeFileSync(damaged, bytes);
  const failing = { ...order, sources: [{ ...first!, path: damaged }, ...others] };
  const thread = new MergeThread(module);
  const { signal } = new AbortController();
  const run = async (): Promise<void> => {
    assert.equal((await thread.run(order, signal)).docCount, 3);
    await assert.rejects(thread.run(failing, signal), /^Error: shard \w+: /);
    assert.deepEqual(readdirSync(path.dirname(order.path)), []);
  };
  for (let i = 0; i < 20; i++) await run();
  const before = countMappings();
  const counts: number[] = [];
  for (let i = 0; i < 40; i++) {
    await run();
    counts.push(countMappings() - before);
  }
  const more = Math.min(...counts.slice(-6));
  await thread.close();
  // The number of heap mappings varies by some twenty; a thread for each of the 80 merges left three.
  assert.ok(more < 60, `${more} mappings more`);
});
