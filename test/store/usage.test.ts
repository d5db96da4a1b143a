// Request counts in the store: limits, repeated reports, rows of many users in one transaction, concurrent daemons,
// old days, on both engines.
// tier: ci (PostgreSQL)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Store } from '../../daemon/store/store.ts';
import type { UsageAnswer, UsageRequest } from '../../daemon/store/usage.ts';
import { newUser, onBothEngines, onPostgres } from './harness.ts';

const DAY = '2026-06-01';

/** A request that asks for and reports nothing, with what is given. */
function request(changes: Partial<UsageRequest>): UsageRequest {
  return { userId: 'u', day: DAY, uncounted: 0, need: 0, limit: 100, ...changes };
}

async function countOne(store: Store, changes: Partial<UsageRequest>): Promise<UsageAnswer> {
  const [answer] = await store.usage.count([request(changes)]);
  assert.ok(answer !== undefined);
  return answer;
}

onBothEngines('usage', (world) => {
  const EXACT = Number.MAX_SAFE_INTEGER;
  /** Requests in their order: given, used then, admitted; each user's counts begin at none. */
  const REQUESTS: readonly [Partial<UsageRequest>, number, number][] = [
    [{ need: 3 }, 3, 3],
    [{ uncounted: 5 }, 8, 0],
    [{ userId: 'v', need: 1 }, 1, 1],
    [{ need: 1, day: '2026-06-02' }, 1, 1],
    [{ need: 0 }, 8, 0],
    // No more than the limit is admitted; what is owed counts beyond it.
    [{ userId: 'w', need: 70 }, 70, 70],
    [{ userId: 'w', need: 70 }, 100, 30],
    [{ userId: 'w', need: 1 }, 100, 0],
    [{ userId: 'w', need: 3, limit: 101 }, 101, 1],
    [{ userId: 'w', uncounted: 4, need: 1 }, 105, 0],
    [{ userId: 'w', need: 1, limit: 3 }, 105, 0],
    [{ userId: 'x', need: 1, limit: EXACT }, 1, 1],
    [{ userId: 'x', uncounted: EXACT - 10, need: 5, limit: EXACT }, EXACT - 4, 5],
  ];

  test('admitted and uncounted requests count, by user and day', () =>
    world.withStore(async (store) => {
      assert.equal(await store.usage.read('u', DAY), 0);
      for (const [changes, used, admitted] of REQUESTS) {
        assert.deepEqual(
          await countOne(store, changes),
          { used, admitted },
          JSON.stringify(changes),
        );
        const { userId, day } = request(changes);
        assert.equal(await store.usage.read(userId, day), used);
      }
    }));

  test('many users in one transaction, answers in order', () =>
    world.withStore(async (store) => {
      const requests = Array.from({ length: 300 }, (_, i) =>
        request({ userId: `u${(i * 7) % 300}`, need: (i % 5) + 1 }),
      );
      const answers = await store.usage.count(requests);
      assert.deepEqual(
        answers.map(({ admitted }) => admitted),
        requests.map(({ need }) => need),
      );
      for (const { userId, need } of requests.slice(0, 20)) {
        assert.equal(await store.usage.read(userId, DAY), need);
      }
    }));

  test('the last eight days with counts stay', () =>
    world.withStore(async (store) => {
      const days = Array.from(
        { length: 20 },
        (_, i) => `2026-05-${String(i + 1).padStart(2, '0')}`,
      );
      // A clock that was wrong for a day does not push out the others.
      for (const day of [...days, '2099-01-01']) {
        for (const userId of ['u', 'v']) await countOne(store, { userId, need: 1, day });
      }
      await store.usage.prune();
      const kept: string[] = [];
      for (const day of [...days, '2099-01-01']) {
        if ((await store.usage.read('v', day)) > 0) kept.push(day);
      }
      assert.deepEqual(kept, [...days.slice(-7), '2099-01-01']);
      await store.usage.prune();
      assert.equal(await store.usage.read('u', '2099-01-01'), 1);
    }));

  test('pruning removes all old rows, in any number', () =>
    world.withStore(async (store) => {
      for (const day of ['2026-01-01', '2026-01-02'])
        await store.usage.count(
          Array.from({ length: 600 }, (_, i) => request({ userId: `u${i}`, need: 1, day })),
        );
      for (let i = 1; i <= 8; i++) await countOne(store, { need: 1, day: `2026-02-0${i}` });
      await store.usage.prune();
      for (const userId of ['u0', 'u300', 'u599']) {
        assert.equal(await store.usage.read(userId, '2026-01-01'), 0);
        assert.equal(await store.usage.read(userId, '2026-01-02'), 0);
      }
      assert.equal(await store.usage.read('u', '2026-02-01'), 1);
    }));

  test('removing a user removes its counts', () =>
    world.withStore(async (store) => {
      await newUser(store, 'OWNER');
      const { id } = await newUser(store);
      await countOne(store, { userId: id, need: 4 });
      assert.equal(await store.users.remove(id), true);
      assert.equal(await store.usage.read(id, DAY), 0);
    }));
});

onPostgres('usage', (world) => {
  test('daemons with concurrent requests of the same users admit the limit together', () =>
    world.within(async (location) => {
      const stores = [await location.open(), await location.open(), await location.open()];
      const userIds = Array.from({ length: 40 }, (_, i) => `u${i}`);
      const countMany = async (store: Store, rounds: number): Promise<number> => {
        let admitted = 0;
        for (let round = 0; round < rounds; round++) {
          const order = round % 2 === 0 ? userIds : userIds.toReversed();
          const requests = order
            .slice(0, 30)
            .map((userId) => request({ userId, need: 2, limit: 21 }));
          for (const answer of await store.usage.count(requests)) admitted += answer.admitted;
        }
        return admitted;
      };
      const counts = await Promise.all(stores.map((store) => countMany(store, 12)));
      assert.equal(
        counts.reduce((sum, count) => sum + count, 0),
        40 * 21,
      );
    }));
});
