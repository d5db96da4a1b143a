// A process that indexes and merges is killed at random moments while branches move: the next one finds a valid
// published state without extra files, and reaches the state of a fresh build. TRAWL_KILLS: how many;
// TRAWL_TEST_SEED.
// tier: ci (kills and full disks)

import assert from 'node:assert/strict';
import test from 'node:test';
import { temporaryFolder } from '../engine/host/harness.ts';
import { everythingOf, History, randomOf, workAndKill } from './history.ts';
import { openIndexOf } from './index-of.ts';
import { EAGER, NEVER } from '../index/merge-limits.ts';
import { checkFiles } from './check-files.ts';
import { SEED } from '../seed.ts';

/** Shards that a killed process searched are checked at the next start. */
const AFTER_A_CRASH = 'the last process crashed; checking the shards that it searched';
const KILLS = Number(process.env['TRAWL_KILLS'] ?? 4);
const REPOS = 3;
const PROGRAM = new URL('./killed-child.js', import.meta.url);

void test(`killed while it indexes and merges, seed ${SEED}`, { timeout: 7_200_000 }, async () => {
  const random = randomOf(SEED);
  const histories = Array.from({ length: REPOS }, (_, i) => new History(SEED + i));
  const repos = histories.map(({ repo }) => repo);
  const dataDir = temporaryFolder();
  const anewDir = temporaryFolder();
  for (let kill = 0; kill < KILLS; kill++) {
    const message = `seed ${SEED}, kill ${kill}`;
    await workAndKill(PROGRAM, [dataDir, ...repos], 1200 * random(), () =>
      histories[Math.floor(random() * REPOS)]!.change(),
    );
    await using index = await openIndexOf(dataDir, { findsSymbols: true, mergeLimits: EAGER });
    await checkFiles(index, message);
    const { jobs, merger } = index.instance.indexer;
    await index.index(repos, undefined, 'commits');
    await index.instance.symbols!.run();
    await merger.run();
    await jobs.whenIdle();
    await using anew = await openIndexOf(anewDir, { findsSymbols: true, mergeLimits: NEVER });
    await anew.index(repos, undefined, 'commits');
    await anew.instance.indexer.jobs.indexAll(anew.instance.served.records, true);
    await anew.instance.symbols!.run();
    assert.deepEqual(await everythingOf(index), await everythingOf(anew), message);
    await checkFiles(index, message);
    const faults = index.warnings.filter(
      (one) => /shard|symbols|revision file|catalog/.test(one) && !one.startsWith(AFTER_A_CRASH),
    );
    assert.deepEqual(faults, [], message);
  }
});
