// Work lost with a dead thread is repeated: this pool does its work and then loses all of it, so that the units
// behind the limit are missing as well.

import assert from 'node:assert/strict';
import test from 'node:test';
import { SearchControl, unitMaxOf } from '../../../daemon/engine/host/control.ts';
import { SearchLoop } from '../../../daemon/engine/host/search-loop.ts';
import type { SearchDone, SearchMessage } from '../../../daemon/engine/host/search-messages.ts';
import { Searcher } from '../../../daemon/engine/host/searcher.ts';
import { type RunOutcome, runSearch } from '../../../daemon/engine/search/run.ts';
import { totalsOfRun } from '../../../daemon/engine/search/totals.ts';
import { buildShard, coreModule, temporaryFolder } from '../host/harness.ts';
import { encodePlan } from '../query/at-once.ts';

const REPO = { repoId: 1, name: 'host/repo' };
const PLAN = encodePlan({ kind: 'text', text: 'common' }, false);

void test('units finished and lost by a thread run again, with and without a limit', async () => {
  const module = await coreModule('release');
  const folder = temporaryFolder();
  const shards = [0, 1, 2].map((number) => {
    const docs = Array.from({ length: 1300 }, (_, doc) => ({
      path: `s${number}/d${doc}`,
      bytes: Buffer.from(`common ${number} ${doc}\n`),
    }));
    return buildShard(module, folder, REPO, docs);
  });
  const searcher = new Searcher(module);
  const other = new Searcher(module);
  for (const one of [searcher, other]) assert.deepEqual(one.setShards(shards), []);
  const controlShards = shards.map(unitMaxOf);

  /** A thread that drains the search as far as it goes, and dies before it tells. */
  function searchAndDie(message: Omit<SearchMessage, 'kind' | 'id'>): Promise<SearchDone[]> {
    const control = new SearchControl(controlShards, message.control);
    const loop = new SearchLoop(
      other,
      message.encodedPlan,
      message.shardIds,
      message.limit,
      control,
    );
    while (loop.step());
    assert.ok(loop.units.length > 0);
    return Promise.resolve([]);
  }

  async function run(limit: number, inlineNs: bigint, unit?: number): Promise<RunOutcome> {
    const { signal } = new AbortController();
    const options = { shards, encodedPlan: PLAN, limit, timeoutMs: 0, signal, inlineNs };
    const pool = { size: 1, search: searchAndDie, searchOn: searchAloneAndDie };
    return runSearch(searcher, pool, options, unit);
  }

  /** The same for a thread that searches alone. */
  async function searchAloneAndDie(
    _: number,
    message: Omit<SearchMessage, 'kind' | 'id'>,
  ): Promise<undefined> {
    await searchAndDie(message);
  }

  for (const limit of [100, 1000, 1500, Infinity]) {
    const lost = await run(limit, 0n);
    const alone = await run(limit, 0n, 0);
    const whole = await run(limit, 10n ** 12n);
    const [found, foundAlone, expected] = [lost, alone, whole].map((outcome) =>
      totalsOfRun(shards, [], outcome, limit),
    );
    assert.deepEqual(found!.counts, expected!.counts, `limit ${limit}`);
    assert.deepEqual(foundAlone!.counts, expected!.counts, `limit ${limit}, one thread`);
    assert.equal(found!.isOverLimit, limit !== Infinity);
    const names = lost.units.map(({ shard, unit }) => `${shard}:${unit}`);
    assert.equal(new Set(names).size, names.length, 'each unit once');
  }
});
