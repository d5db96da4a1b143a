// Users: what is kept, what is refused, what goes with a user, on both engines.
// tier: ci (long)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newHash, newToken, newUser, onBothEngines, refuses } from './harness.ts';

onBothEngines('users', ({ withStore, within }) => {
  test('a user is kept with all that was given, and found by id and e-mail', () =>
    within(async (place) => {
      const store = await place.open({ now: () => 1_700_000_000_123 });
      const made = await store.users.create({
        email: '  Ada.Lovelace@Example.COM ',
        name: 'Ada',
        role: 'OWNER',
        passwordHash: '$argon2id$x',
      });
      assert.deepEqual(
        { ...made, id: '' },
        {
          id: '',
          email: 'ada.lovelace@example.com',
          name: 'Ada',
          role: 'OWNER',
          passwordHash: '$argon2id$x',
          suspendedAt: null,
          createdAt: 1_700_000_000_123,
          updatedAt: 1_700_000_000_123,
          lastActivityAt: null,
          requestsPerDay: null,
        },
      );
      assert.match(made.id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      assert.deepEqual(await store.users.get(made.id), made);
      assert.deepEqual(await store.users.byEmail(' ADA.lovelace@example.com'), made);
      assert.equal(await store.users.get('none'), undefined);
      assert.equal(await store.users.byEmail('none@example.com'), undefined);
      await store.close();
      const again = await place.open();
      assert.deepEqual(await again.users.get(made.id), made);
    }));

  test('an e-mail is taken whatever its case', () =>
    withStore(async ({ users }) => {
      await users.create({ email: 'a@example.com', role: 'OWNER' });
      await refuses(
        users.create({ email: 'A@EXAMPLE.com ', role: 'MEMBER' }),
        'USER_ALREADY_EXISTS',
      );
      assert.equal(await users.count(), 1);
    }));

  test('users are listed as they were made, also those of one millisecond and very many', () =>
    within(async (place) => {
      const store = await place.open({ now: () => 5 });
      const made = [];
      for (let i = 0; i < 603; i++) made.push((await newUser(store)).id);
      assert.deepEqual(
        (await store.users.list()).map(({ id }) => id),
        made,
      );
    }));

  test('only what is named changes', () =>
    within(async (place) => {
      let now = 10;
      const store = await place.open({ now: () => now });
      await newUser(store, 'OWNER');
      const made = await newUser(store);
      now = 20;
      let expected = { ...made, updatedAt: 20 };
      const steps = [
        { name: 'B' },
        { role: 'OWNER' },
        { suspendedAt: 15 },
        { passwordHash: 'h' },
        { requestsPerDay: 0 },
        { requestsPerDay: 'unlimited' },
        { requestsPerDay: 2 ** 50 },
        { name: null, role: 'MEMBER', suspendedAt: null, passwordHash: null, requestsPerDay: null },
      ] as const;
      for (const step of steps) {
        expected = { ...expected, ...step };
        assert.deepEqual(await store.users.update(made.id, step), expected);
        assert.deepEqual(await store.users.get(made.id), expected);
      }
      assert.equal(await store.users.update('none', { name: 'x' }), undefined);
    }));

  test('activity is noted and never goes back', () =>
    withStore(async (store) => {
      const { id } = await newUser(store);
      const noted = async (at: number) => {
        await store.users.touch(id, at);
        return (await store.users.get(id))?.lastActivityAt;
      };
      assert.equal(await noted(50), 50);
      assert.equal(await noted(40), 50);
      assert.equal(await noted(60), 60);
      await store.users.touch('none', 1);
    }));

  test('the last active owner stays one', () =>
    withStore(async (store) => {
      const { users } = store;
      const first = await newUser(store, 'OWNER');
      const second = await newUser(store, 'OWNER');
      await newUser(store);
      await users.update(second.id, { suspendedAt: 1 });
      await refuses(users.update(first.id, { role: 'MEMBER' }), 'LAST_OWNER_CANNOT_BE_DEMOTED');
      await refuses(users.update(first.id, { suspendedAt: 1 }), 'LAST_OWNER_CANNOT_BE_REMOVED');
      await refuses(
        users.update(first.id, { role: 'MEMBER', suspendedAt: 1 }),
        'LAST_OWNER_CANNOT_BE_DEMOTED',
      );
      await refuses(users.remove(first.id), 'LAST_OWNER_CANNOT_BE_REMOVED');
      assert.deepEqual(await users.get(first.id), first);
      // A suspended owner is no active one.
      assert.equal((await users.update(second.id, { role: 'MEMBER' }))?.role, 'MEMBER');
      await users.update(second.id, { role: 'OWNER', suspendedAt: null });
      assert.equal(await users.remove(first.id), true);
      await refuses(users.remove(second.id), 'LAST_OWNER_CANNOT_BE_REMOVED');
    }));

  test('an owner who was only invited is not the last active one', () =>
    withStore(async (store) => {
      const { users } = store;
      const entered = await newUser(store, 'OWNER');
      await users.touch(entered.id, 1);
      const invited = await newUser(store, 'OWNER');
      await refuses(users.remove(entered.id), 'LAST_OWNER_CANNOT_BE_REMOVED');
      await refuses(users.update(entered.id, { role: 'MEMBER' }), 'LAST_OWNER_CANNOT_BE_DEMOTED');
      assert.equal(await users.remove(invited.id), true);
      const next = await newUser(store, 'OWNER');
      await users.update(next.id, { passwordHash: 'x' });
      assert.equal(await users.remove(entered.id), true);
      await refuses(users.remove(next.id), 'LAST_OWNER_CANNOT_BE_REMOVED');
    }));

  test('no more active users than seats', () =>
    withStore(async (store) => {
      const { users } = store;
      const seatMax = 2;
      const owner = await users.create({ email: 'o@example.com', role: 'OWNER' }, { seatMax });
      const member = await users.create({ email: 'm@example.com', role: 'MEMBER' }, { seatMax });
      const third = { email: 'x@example.com', role: 'MEMBER' } as const;
      await refuses(users.create(third, { seatMax }), 'ORG_SEAT_COUNT_REACHED');
      await refuses(
        users.create({ ...third, email: 'm@example.com' }, { seatMax }),
        'USER_ALREADY_EXISTS',
      );
      await users.update(member.id, { suspendedAt: 7 });
      assert.deepEqual([await users.count(), await users.countActive()], [2, 1]);
      await users.create(third, { seatMax });
      await refuses(
        users.update(member.id, { suspendedAt: null }, { seatMax }),
        'ORG_SEAT_COUNT_REACHED',
      );
      // What does not take a seat goes on when there are too many.
      await users.update(owner.id, { name: 'x', suspendedAt: null }, { seatMax: 1 });
      await users.update(member.id, { suspendedAt: 8, name: 'y' }, { seatMax: 1 });
      await users.create({ ...third, email: 'y@example.com' });
      assert.deepEqual([await users.count(), await users.countActive()], [4, 3]);
    }));

  test('a removed user leaves nothing behind', () =>
    withStore(async (store) => {
      await newUser(store, 'OWNER');
      const possessions = async (userId: string) => {
        const [session, link] = [newHash(), newHash()];
        await store.sessions.create({ hash: session, userId, createdAt: 1, expiresAt: 2 });
        await store.setupLinks.create({ hash: link, userId, createdAt: 1, expiresAt: null });
        await store.grants.add(userId, [1, 2, 3]);
        return { session, link, token: await newToken(store, userId) };
      };
      const [gone, other] = [await newUser(store), await newUser(store)];
      const [lost, kept] = [await possessions(gone.id), await possessions(other.id)];
      assert.equal(await store.users.remove(gone.id), true);
      assert.equal(await store.users.remove(gone.id), false);
      assert.equal(await store.users.get(gone.id), undefined);
      for (const [{ session, link, token }, isThere] of [
        [lost, false],
        [kept, true],
      ] as const) {
        assert.equal((await store.sessions.byHash(session)) !== undefined, isThere);
        assert.equal((await store.scopedTokens.byHash(token.hash)) !== undefined, isThere);
        assert.equal((await store.apiKeys.get(token.keyId)) !== undefined, isThere);
        assert.equal((await store.setupLinks.take(link, 5)) !== undefined, isThere);
      }
      assert.deepEqual(await store.grants.repoIdsOf(gone.id), []);
      assert.equal((await store.grants.listOfRepo(1, { offset: 0, limit: 9 })).total, 1);
    }));

  test('suspension ends sessions and scoped tokens for good, keys only as long as it lasts', () =>
    withStore(async (store) => {
      await newUser(store, 'OWNER');
      const { id } = await newUser(store);
      const hash = newHash();
      const session = { hash, userId: id, createdAt: 1, expiresAt: 2 };
      await store.sessions.create(session);
      const token = await newToken(store, id);
      await store.users.update(id, { suspendedAt: 3 });
      assert.equal(await store.sessions.byHash(hash), undefined);
      assert.equal(await store.scopedTokens.byHash(token.hash), undefined);
      await refuses(store.sessions.create(session), 'NOT_FOUND');
      await refuses(newToken(store, id), 'NOT_FOUND');
      await store.users.update(id, { suspendedAt: null });
      assert.equal(await store.sessions.byHash(hash), undefined);
      assert.notEqual(await store.apiKeys.get(token.keyId), undefined);
      await store.sessions.create(session);
    }));

  test('any text can be a name; what cannot be stored is replaced', () =>
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
