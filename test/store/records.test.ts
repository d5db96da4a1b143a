// Grants, audit records and settings on both engines.
// tier: ci (long)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newRecord, newUser, onBothEngines, refuses } from './harness.ts';

const ALL = { offset: 0, limit: 1_000 };

function range(start: number, end: number): number[] {
  return Array.from({ length: end - start }, (_, i) => start + i);
}

onBothEngines('grants', ({ withStore }) => {
  test('grants are counted as they come and go', () =>
    withStore(async (store) => {
      const { grants } = store;
      const { id } = await newUser(store);
      assert.equal(await grants.add(id, [5, 3, 5, 2 ** 50]), 3);
      assert.equal(await grants.add(id, [3, 4]), 1);
      assert.equal(await grants.add(id, []), 0);
      assert.deepEqual(await grants.repoIdsOf(id), [3, 4, 5, 2 ** 50]);
      assert.equal(await grants.remove(id, [4, 4, 9, 2 ** 50]), 2);
      assert.equal(await grants.remove(id, []), 0);
      assert.equal(await grants.remove('none', [3]), 0);
      assert.deepEqual(await grants.repoIdsOf(id), [3, 5]);
      assert.deepEqual(await grants.repoIdsOf('none'), []);
      await refuses(grants.add('none', [1]), 'NOT_FOUND');
      await refuses(grants.add('none', []), 'NOT_FOUND');
    }));

  test('ten thousand at once', () =>
    withStore(async (store) => {
      const { id } = await newUser(store);
      assert.equal(await store.grants.add(id, range(0, 10_000)), 10_000);
      assert.equal(await store.grants.add(id, range(5_000, 15_000)), 5_000);
      assert.deepEqual(await store.grants.repoIdsOf(id), range(0, 15_000));
      assert.equal(await store.grants.remove(id, range(1, 10_001)), 10_000);
      assert.deepEqual(await store.grants.repoIdsOf(id), [0, ...range(10_001, 15_000)]);
      await newUser(store, 'OWNER');
      assert.equal(await store.users.remove(id), true);
      assert.equal((await store.grants.listOfUser(id, ALL)).total, 0);
    }));

  test('pages of a user and of a repo', () =>
    withStore(async (store) => {
      const { grants } = store;
      const users = [await newUser(store), await newUser(store), await newUser(store)];
      for (const { id } of users) await grants.add(id, [1, 2, 3, 4, 5]);
      const userId = users[1]!.id;
      await grants.remove(userId, [2]);
      assert.deepEqual(await grants.listOfUser(userId, { offset: 1, limit: 2 }), {
        total: 4,
        rows: [
          { userId, repoId: 3 },
          { userId, repoId: 4 },
        ],
      });
      const ids = users.map(({ id }) => id).sort();
      assert.deepEqual(await grants.listOfRepo(5, { offset: 1, limit: 9 }), {
        total: 3,
        rows: ids.slice(1).map((id) => ({ userId: id, repoId: 5 })),
      });
      assert.equal((await grants.listOfRepo(2, ALL)).total, 2);
      assert.deepEqual(await grants.listOfRepo(77, ALL), { total: 0, rows: [] });
      assert.deepEqual(await grants.listOfUser(userId, { offset: 9, limit: 9 }), {
        total: 4,
        rows: [],
      });
    }));
});

onBothEngines('audit', ({ withStore }) => {
  test('a record is kept with all its members', () =>
    withStore(async ({ audit }) => {
      const metadata = { source: 'web\0', list: [1, null, { deep: 'ü🙂' }] };
      const full = newRecord(2 ** 41, { metadata, targetId: 'a\0b', actorType: 'api_key' });
      await audit.append([full]);
      const { total, rows } = await audit.list(ALL);
      assert.equal(total, 1);
      assert.match(rows[0]?.id ?? '', /^[0-9a-f-]{36}$/);
      assert.deepEqual(rows, [{ ...full, id: rows[0]?.id, targetId: 'a\ufffdb' }]);
    }));

  test('newest first, in the order of appending within a millisecond, in pages and periods', () =>
    withStore(async ({ audit }) => {
      const times = [10, 20, 20, 20, 30];
      await audit.append(times.slice(0, 3).map((at, i) => newRecord(at, { targetId: String(i) })));
      await audit.append([]);
      await audit.append([newRecord(20, { targetId: '3' })]);
      await audit.append([newRecord(30, { targetId: '4' })]);
      const listed = async (query: Parameters<typeof audit.list>[0]) => {
        const { total, rows } = await audit.list(query);
        return `${total}: ${rows.map(({ targetId }) => targetId).join(' ')}`;
      };
      assert.equal(await listed(ALL), '5: 4 3 2 1 0');
      assert.equal(await listed({ offset: 1, limit: 3 }), '5: 3 2 1');
      assert.equal(await listed({ ...ALL, since: 20 }), '4: 4 3 2 1');
      assert.equal(await listed({ ...ALL, until: 20 }), '1: 0');
      assert.equal(await listed({ ...ALL, since: 11, until: 30 }), '3: 3 2 1');
      assert.equal(await listed({ offset: 5, limit: 3 }), '5: ');
    }));

  test('pruning removes what is older, however much that is', () =>
    withStore(async ({ audit }) => {
      await audit.append(range(0, 2_500).map((at) => newRecord(at)));
      assert.equal(await audit.prune(2_400), 2_400);
      assert.equal(await audit.prune(2_400), 0);
      assert.equal((await audit.list({ offset: 0, limit: 1 })).total, 100);
    }));

  test('records of an action, of a group of actions, of an actor: of more than one step', () =>
    withStore(async ({ audit }) => {
      const every = 1_000;
      await audit.append(
        range(0, 10_500).map((at) =>
          newRecord(at, {
            targetId: String(at),
            action: at % every === 0 ? 'key.made' : 'keys.made',
            actorId: at % 2 === 0 ? 'even' : 'odd',
          }),
        ),
      );
      const chosen = async (query: object, offset = 0, limit = 3) => {
        const { total, rows } = await audit.list({ ...query, offset, limit });
        return [total, ...rows.map(({ targetId }) => Number(targetId))];
      };
      assert.deepEqual(await chosen({ action: 'key' }), [11, 10_000, 9_000, 8_000]);
      assert.deepEqual(await chosen({ action: 'key.made' }, 9), [11, 1_000, 0]);
      assert.deepEqual(await chosen({ action: 'key.made', actorId: 'odd' }), [0]);
      assert.deepEqual(await chosen({ action: 'k_y' }), [0]);
      assert.deepEqual(await chosen({ actorId: 'even', since: 3, until: 9 }), [3, 8, 6, 4]);
      // Over the end of a step: the newest 10,000.
      assert.deepEqual(await chosen({ actorId: 'odd' }, 4_999), [5_250, 501, 499, 497]);
    }));
});

onBothEngines('settings', ({ withStore }) => {
  test('settings are set, replaced, removed', () =>
    withStore(async ({ settings }) => {
      assert.equal(await settings.get('a'), undefined);
      await settings.set('b', '1');
      await settings.set('a', '');
      await settings.set('b', 'x'.repeat(100_000));
      assert.equal(await settings.get('a'), '');
      assert.deepEqual(
        [...(await settings.all())],
        [
          ['a', ''],
          ['b', 'x'.repeat(100_000)],
        ],
      );
      assert.equal(await settings.remove('b'), true);
      assert.equal(await settings.remove('b'), false);
      assert.deepEqual([...(await settings.all()).keys()], ['a']);
    }));
});
