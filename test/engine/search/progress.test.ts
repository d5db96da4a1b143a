// A blocking search reports its progress to listeners, on any thread; its answer is the same.

import assert from 'node:assert/strict';
import test from 'node:test';
import { search } from '../../../daemon/engine/search/search.ts';
import type { SearchProgress } from '../../../daemon/engine/search/totals.ts';
import { allBytes } from '../../../daemon/base/lazy-bytes.ts';
import { Engine, environmentOf, REPO, requestOf } from '../host/harness.ts';

const REQUEST = requestOf('needle');

for (const inlineNs of [0n, 10n ** 12n])
  void test(`${inlineNs} ns on the main thread`, async () => {
    await using engine = await Engine.open({ inlineNs, workers: 2 });
    const shards = ['a', 'b', 'c'].map((path) =>
      engine.shardOf(REPO, [{ path, bytes: Buffer.from(`needle ${path}\n`) }]),
    );
    engine.publish(shards, [REPO]);
    const reported: SearchProgress[] = [];
    const filesWith = async (onProgress?: (progress: SearchProgress) => void) => {
      const environment = { ...environmentOf(), onProgress };
      const { json } = await search(engine.parts, REQUEST, environment);
      return (JSON.parse(Buffer.from(allBytes(json)).toString()) as { files: unknown }).files;
    };
    assert.deepEqual(await filesWith((progress) => reported.push(progress)), await filesWith());
    assert.ok(reported.length > 0);
    for (const { shardsDone, shardsEligible } of reported) {
      assert.equal(shardsEligible, 3);
      assert.ok(shardsDone >= 0 && shardsDone <= 3);
    }
  });
