// Counts of requests in the store: reports that arrive twice, leases of several holders, rows of many users
// in one transaction, old days, on both engines.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { UsageNotice } from '../../../daemon/accounts/store/engine.ts';
import type { Store } from '../../../daemon/accounts/store/store.ts';
import type { UsageAnswer, UsageRequest } from '../../../daemon/accounts/store/usage-exchange.ts';
import { newUser, onBothEngines, onEmbedded, onPostgres } from './harness.ts';

const DAY = '2026-06-01';

/** A request that asks for and reports nothing, with what is given. */
function request(given: Partial<UsageRequest>): UsageRequest {
  return {
    userId: 'u',
    holder: 'a',
    total: 0,
    baseline: 0,
    need: 0,
    keep: 0,
    want: 0,
    limit: 100,
    isReturn: false,
    isFinal: false,
    ...given,
  };
}

async function ask(store: Store, given: Partial<UsageRequest>, day = DAY): Promise<UsageAnswer> {
  const [answer] = await store.usage.exchange(day, [request(given)]);
  assert.ok(answer !== undefined);
  return answer;
}

onBothEngines('usage', (world) => {
  test('what is admitted and reported counts, by user and day', () =>
    world.withStore(async (store) => {
      assert.equal(await store.usage.read('u', DAY), 0);
      const first = await ask(store, { need: 3 });
      assert.equal(first.used, 3);
      assert.equal(first.admitted, 3);
      assert.equal((await ask(store, { total: 8, baseline: 3 })).used, 8);
      assert.equal((await ask(store, { userId: 'v', need: 1 })).used, 1);
      assert.equal((await ask(store, { need: 1 }, '2026-06-02')).used, 1);
      assert.equal(await store.usage.read('u', DAY), 8);
      assert.equal(await store.usage.read('v', DAY), 1);
      assert.equal(await store.usage.read('u', '2026-06-02'), 1);
    }));

  test('a report that arrives twice counts once, and what was not admitted is taken back', () =>
    world.withStore(async (store) => {
      await ask(store, { need: 2 });
      await ask(store, { total: 7, baseline: 2 });
      assert.equal((await ask(store, { total: 7, baseline: 7 })).used, 7);
      // Its answer is lost: nothing was admitted.
      assert.equal((await ask(store, { total: 7, baseline: 7, need: 4 })).used, 11);
      assert.equal((await ask(store, { total: 7, baseline: 7 })).used, 7);
      // A last report whose answer is lost, and its repetition.
      assert.equal((await ask(store, { total: 9, baseline: 7, isFinal: true })).used, 9);
      assert.equal((await ask(store, { total: 9, baseline: 9, isFinal: true })).used, 9);
    }));

  test('no more than the limit is admitted and leased', () =>
    world.withStore(async (store) => {
      const a = await ask(store, { need: 10, want: 1_000 });
      assert.equal(a.admitted, 10);
      assert.ok(a.size > 0 && a.size <= 90);
      const b = await ask(store, { holder: 'b', need: 100 });
      assert.equal(b.leasedByOthers, a.size);
      assert.equal(b.admitted, 90 - a.size);
      assert.equal(b.isWanted, true);
      const back = await ask(store, { total: 10, baseline: 10, isFinal: true });
      assert.equal(back.size, 0);
      const again = await ask(store, {
        holder: 'b',
        total: b.admitted,
        baseline: b.admitted,
        need: 100,
      });
      assert.equal(again.admitted, a.size);
      assert.equal(again.used, 100);
      assert.equal((await ask(store, { holder: 'c', need: 1 })).admitted, 0);
      assert.equal((await ask(store, { holder: 'c', need: 1, limit: 101 })).admitted, 1);
    }));

  test('who lacks numbers is heard, and who gives some back', () =>
    world.within(async (place) => {
      const store = await place.open();
      const other = place.kind === 'postgres' ? await place.open() : store;
      const heard: UsageNotice[] = [];
      const stop = other.usage.onNotice((notice) => void heard.push(notice));
      const changes: unknown[] = [];
      store.onChange((change) => void changes.push(change));
      await ask(store, { need: 1, want: 100 });
      await ask(store, { holder: 'b', need: 100 });
      await ask(store, { total: 1, baseline: 1, isReturn: true });
      const deadlineMs = Date.now() + 5_000;
      while (heard.length < 2 && Date.now() < deadlineMs) await sleep(5);
      assert.deepEqual(heard, [
        { usageOf: 'u', holder: 'b', kind: 'wanted' },
        { usageOf: 'u', holder: 'a', kind: 'returned' },
      ]);
      assert.deepEqual(changes, []);
      stop();
    }));

  test('many users in one transaction, answers in their order', () =>
    world.withStore(async (store) => {
      const requests = Array.from({ length: 300 }, (_, i) =>
        request({ userId: `u${(i * 7) % 300}`, need: (i % 5) + 1 }),
      );
      const answers = await store.usage.exchange(DAY, requests);
      assert.deepEqual(
        answers.map(({ admitted }) => admitted),
        requests.map(({ need }) => need),
      );
      for (const { userId, need } of requests.slice(0, 20)) {
        assert.equal(await store.usage.read(userId, DAY), need);
      }
    }));

  test('numbers without a limit stay exact', () =>
    world.withStore(async (store) => {
      const limit = Number.MAX_SAFE_INTEGER;
      const { size } = await ask(store, { need: 1, want: limit, limit });
      assert.ok(Number.isSafeInteger(size));
      const b = await ask(store, { holder: 'b', need: 5, limit });
      assert.equal(b.admitted, size === limit - 1 ? 0 : 5);
      assert.equal(b.leasedByOthers, size);
    }));

  test('the last eight days that have counts stay', () =>
    world.withStore(async (store) => {
      const days = Array.from(
        { length: 20 },
        (_, i) => `2026-05-${String(i + 1).padStart(2, '0')}`,
      );
      // A clock that was wrong for a day does not push out the others.
      for (const day of [...days, '2099-01-01']) {
        for (const userId of ['u', 'v']) await ask(store, { userId, need: 1 }, day);
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

  test('pruning takes all old rows, however many', () =>
    world.withStore(async (store) => {
      const requests = Array.from({ length: 600 }, (_, i) => request({ userId: `u${i}`, need: 1 }));
      await store.usage.exchange('2026-01-01', requests);
      await store.usage.exchange('2026-01-02', requests);
      for (let i = 1; i <= 8; i++) await ask(store, { need: 1 }, `2026-02-0${i}`);
      await store.usage.prune();
      for (const userId of ['u0', 'u300', 'u599']) {
        assert.equal(await store.usage.read(userId, '2026-01-01'), 0);
        assert.equal(await store.usage.read(userId, '2026-01-02'), 0);
      }
      assert.equal(await store.usage.read('u', '2026-02-01'), 1);
    }));

  test('a user takes its counts along', () =>
    world.withStore(async (store) => {
      await newUser(store, 'OWNER');
      const { id } = await newUser(store);
      await ask(store, { userId: id, need: 4 });
      assert.equal(await store.users.remove(id), true);
      assert.equal(await store.usage.read(id, DAY), 0);
    }));

  test('a closed store is not ready', () =>
    world.within(async (place) => {
      const store = await place.open();
      await store.close();
      await assert.rejects(ask(store, { need: 1 }), { errorCode: 'NOT_READY' });
    }));
});

onEmbedded('usage', (world) => {
  test('leases of an earlier run are gone, what was reported stays', () =>
    world.within(async (place) => {
      const first = await place.open();
      assert.equal(first.usage.leaseMs, Infinity);
      await ask(first, { need: 2, want: 1_000 });
      await ask(first, { total: 10, baseline: 2, keep: 90 });
      await first.close();
      const second = await place.open();
      const answer = await ask(second, { holder: 'b', need: 200 });
      assert.deepEqual(answer, {
        used: 100,
        admitted: 90,
        size: 0,
        leasedByOthers: 0,
        isWanted: false,
      });
    }));
});

onPostgres('usage', (world) => {
  test('a lease ends by the clock of the server unless it is renewed', () =>
    world.within(async (place) => {
      const store = await place.open({ leaseMs: 300 });
      assert.equal(store.usage.leaseMs, 300);
      const { size } = await ask(store, { need: 1, want: 50 });
      assert.ok(size > 0);
      assert.equal((await ask(store, { holder: 'b' })).leasedByOthers, size);
      for (let i = 0; i < 4; i++) {
        await sleep(100);
        assert.equal((await ask(store, { total: 1, baseline: 1, keep: size })).size, size);
      }
      assert.equal((await ask(store, { holder: 'b' })).leasedByOthers, size);
      await sleep(320);
      assert.equal((await ask(store, { holder: 'b', need: 99 })).admitted, 99);
      // What it kept meanwhile may not be used any more, but a late report counts.
      const late = await ask(store, { total: 3, baseline: 1, keep: size - 2 });
      assert.equal(late.size, 0);
      assert.equal(late.used, 102);
    }));

  test('daemons that ask for the same users at once do not disturb each other', () =>
    world.within(async (place) => {
      const stores = [await place.open(), await place.open(), await place.open()];
      const userIds = Array.from({ length: 40 }, (_, i) => `u${i}`);
      const ask = async (store: Store, holder: string, rounds: number): Promise<number> => {
        let admitted = 0;
        const totals = new Map<string, number>();
        for (let round = 0; round < rounds; round++) {
          const order = round % 2 === 0 ? userIds : userIds.toReversed();
          const requests = order.slice(0, 30).map((userId) => {
            const total = totals.get(userId) ?? 0;
            return request({ userId, holder, total, baseline: total, need: 2, limit: 21 });
          });
          const answers = await store.usage.exchange(DAY, requests);
          for (const [i, answer] of answers.entries()) {
            const { userId = '', total = 0 } = requests[i] ?? {};
            totals.set(userId, total + answer.admitted);
            admitted += answer.admitted;
          }
        }
        return admitted;
      };
      const counts = await Promise.all(stores.map((store, i) => ask(store, `h${i}`, 12)));
      assert.equal(
        counts.reduce((sum, count) => sum + count, 0),
        40 * 21,
      );
    }));
});
