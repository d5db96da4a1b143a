// Many users, grants and audit records, and texts of any kind, on both engines. Single operations: model.test.ts.
// tier: ci (long)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newRecord, newUser, onBothEngines } from './harness.ts';

const ALL = { offset: 0, limit: 1_000 };

function range(start: number, end: number): number[] {
  return Array.from({ length: end - start }, (_, i) => start + i);
}

onBothEngines('users', ({ withStore, within }) => {
  test('users are listed in order of creation, also within a millisecond and in large numbers', () =>
    within(async (location) => {
      const store = await location.open({ now: () => 5 });
      const made = [];
      for (let i = 0; i < 603; i++) made.push((await newUser(store)).id);
      assert.deepEqual(
        (await store.users.list()).map(({ id }) => id),
        made,
      );
    }));

  test('any text can be a name; invalid characters are replaced', () =>
    withStore(async (store) => {
      const names = [
        '',
        ' x ',
        "'; drop table users; --",
        '名前 🙂',
        '\n\t\u007f',
        '%_\\',
        'a\0b\ud800c',
      ];
      for (const name of names) {
        const { id } = await newUser(store);
        const updated = await store.users.update(id, { name });
        assert.equal(updated?.name, name.replaceAll(/[\0\p{Surrogate}]/gu, '\ufffd'));
        assert.equal((await store.users.get(id))?.name, updated?.name);
      }
    }));
});

onBothEngines('names with the character NUL', ({ withStore }) => {
  test('nothing is found by them', () =>
    withStore(async (store) => {
      const { users, apiKeys, scopedTokens, oauthClients, grants, audit } = store;
      await newUser(store);
      const found = [
        await users.get('\0'),
        await users.update('a\0b', { name: 'x' }),
        await users.remove('a\0b'),
        await apiKeys.remove('a\0b'),
        await scopedTokens.revoke('a\0b', 'c\0d', 1),
        await oauthClients.get('\0'),
        (await grants.listOfUser('\0', ALL)).total,
        (await audit.list({ ...ALL, action: '\0', actorId: '\0' })).total,
      ];
      assert.deepEqual(found.filter(Boolean), []);
    }));
});

onBothEngines('settings', ({ withStore }) => {
  test('several are set all or none', () =>
    withStore(async (store) => {
      await store.settings.set('a', '1');
      const values = [
        ['a', '2'],
        ['b', '2'],
      ] as const;
      // No text: refused.
      const invalid = ['c', null as unknown as string] as const;
      await assert.rejects(store.settings.setAll(new Map([...values, invalid])));
      assert.deepEqual(await store.settings.all(), new Map([['a', '1']]));
      await store.settings.setAll(new Map(values));
      assert.deepEqual(await store.settings.all(), new Map(values));
      await store.settings.setAll(new Map([['a', undefined]]));
      assert.deepEqual(await store.settings.all(), new Map(values.slice(1)));
    }));
});

onBothEngines('grants', ({ withStore }) => {
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
});

onBothEngines('audit', ({ withStore }) => {
  test('a record keeps all its members', () =>
    withStore(async ({ audit }) => {
      const metadata = { source: 'web\0', list: [1, null, { deep: 'ü🙂' }] };
      const full = newRecord(2 ** 41, { metadata, targetId: 'a\0b', actorType: 'api_key' });
      await audit.append([full]);
      const { total, rows } = await audit.list(ALL);
      assert.equal(total, 1);
      assert.match(rows[0]?.id ?? '', /^[0-9a-f-]{36}$/);
      assert.deepEqual(rows, [{ ...full, id: rows[0]?.id, targetId: 'a\ufffdb' }]);
    }));

  test('pruning removes older records, in any number', () =>
    withStore(async ({ audit }) => {
      await audit.append(range(0, 2_500).map((at) => newRecord(at)));
      assert.equal(await audit.prune(2_400), 2_400);
      assert.equal(await audit.prune(2_400), 0);
      assert.equal((await audit.list({ offset: 0, limit: 1 })).total, 100);
    }));

  test('records of an action, of a group of actions, of an actor: more than one batch', () =>
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
