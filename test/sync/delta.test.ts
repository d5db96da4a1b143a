// Repos whose branches move in every way, indexed incrementally, against fresh builds: answers, numbers and
// exclusions are the same. TRAWL_FUZZ_RUNS sets how many changes.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import type { RepoChange } from '../../daemon/index/register/change-repo.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';
import { everythingOf, History } from './history.ts';
import { indexAgain, openIndexOf } from './index-of.ts';
import { SEED } from '../seed.ts';

const RUNS = Number(process.env['TRAWL_FUZZ_RUNS'] ?? 20);
/** Changes of one repo before the next one. */
const CHANGES_PER_REPO = 10;

void test('an incremental index equals a full build', { timeout: 3_600_000 }, async () => {
  const counts = { delta: 0, anew: 0, shards: 0 };
  for (let run = 0; run < RUNS; run += CHANGES_PER_REPO) {
    const seed = SEED + run;
    const history = new History(seed);
    const hasAll = (run / CHANGES_PER_REPO) % 3 !== 1;
    const selection: RepoChange = hasAll ? { branches: ['**'], tags: ['**'] } : {};
    await using following = await openIndexOf(temporaryFolder(), { findsSymbols: true });
    await using anew = await openIndexOf(temporaryFolder(), { findsSymbols: true });
    await following.index([history.repo], selection, 'commits');
    await anew.index([history.repo], selection, 'commits');
    const done: string[] = [];
    for (let i = 0; i < CHANGES_PER_REPO; i++) {
      done.push(history.change());
      const before = new Set(following.instance.catalog.fileNames);
      await indexAgain(following);
      await indexAgain(anew, true);
      const message = `seed ${seed}: ${done.join('; ')}`;
      assert.deepEqual(await everythingOf(following), await everythingOf(anew), message);
      const { shards } = following.instance.catalog.repos[0]!;
      const stays = shards.some(({ shardId }) => before.has(`${shardId}.shard`));
      counts[stays ? 'delta' : 'anew']++;
      counts.shards = Math.max(counts.shards, shards.length);
    }
    const faults = following.warnings.filter((one) => /shard|symbols|revision file/.test(one));
    assert.deepEqual(faults, []);
  }
  // Of ten changes about six, on average, leave shards in place.
  assert.ok(counts.delta > RUNS / 8, JSON.stringify(counts));
  assert.ok(counts.shards > 1 && counts.shards < 12, JSON.stringify(counts));
});
