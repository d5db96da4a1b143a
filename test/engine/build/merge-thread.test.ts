// A merge that is given up, at whatever moment of its thread: the process lives on, and no file is left behind.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { runMerge } from '../../../daemon/engine/build/merge-thread.ts';
import { buildShard, coreModule, REPO, temporaryFolder } from '../host/harness.ts';

/** A thread is some 60 ms old when it has loaded what it needs, on a machine with nothing else to do. */
const LATEST_MS = 120;

void test('a merge is given up at any moment', { timeout: 120_000 }, async () => {
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
  let givenUp = 0;
  for (let ms = 0; ms < LATEST_MS; ms += 3) {
    const stop = new AbortController();
    const merge = runMerge(module, order, stop.signal).catch((error: unknown) => error);
    await sleep(ms);
    stop.abort(new Error('given up'));
    const outcome = await merge;
    if (!(outcome instanceof Error)) continue;
    givenUp++;
    assert.match(outcome.message, /given up/);
    assert.deepEqual(readdirSync(target), []);
  }
  assert.ok(givenUp > 0);
});
