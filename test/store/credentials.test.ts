// Sessions, set-up links, API keys and scoped tokens on both engines.
// tier: ci (long)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newHash, newToken, newUser, onBothEngines, refuses } from './harness.ts';

onBothEngines('sessions', ({ withStore }) => {
  test('a session is kept until it is removed; renewing moves its end', () =>
    withStore(async (store) => {
      const { id: userId } = await newUser(store);
      const session = { hash: newHash(), userId, createdAt: 10, expiresAt: 20 };
      await store.sessions.create(session);
      assert.deepEqual(await store.sessions.byHash(session.hash), session);
      assert.equal(await store.sessions.renew(session.hash, 99), true);
      assert.deepEqual(await store.sessions.byHash(session.hash), { ...session, expiresAt: 99 });
      assert.equal(await store.sessions.remove(session.hash), true);
      assert.equal(await store.sessions.remove(session.hash), false);
      assert.equal(await store.sessions.renew(session.hash, 99), false);
      assert.equal(await store.sessions.byHash(session.hash), undefined);
      await refuses(store.sessions.create({ ...session, userId: 'none' }), 'NOT_FOUND');
    }));

  test('all sessions of a user end but one; those of others stay', () =>
    withStore(async (store) => {
      const [user, other] = [await newUser(store), await newUser(store)];
      const hashes: string[] = [];
      for (const { id: userId } of [user, user, user, other]) {
        const hash = newHash();
        hashes.push(hash);
        await store.sessions.create({ hash, userId, createdAt: 1, expiresAt: 2 });
      }
      const left = async () => {
        const found = await Promise.all(hashes.map((hash) => store.sessions.byHash(hash)));
        return found.map((session) => session !== undefined);
      };
      assert.equal(await store.sessions.removeAllOf(user.id, hashes[1]), 2);
      assert.deepEqual(await left(), [false, true, false, true]);
      assert.equal(await store.sessions.removeAllOf(user.id), 1);
      assert.equal(await store.sessions.removeAllOf(user.id), 0);
      assert.deepEqual(await left(), [false, false, false, true]);
    }));

  test('pruning removes what has expired, to the millisecond', () =>
    withStore(async (store) => {
      const { id: userId } = await newUser(store);
      for (const expiresAt of [99, 100, 101]) {
        await store.sessions.create({ hash: newHash(), userId, createdAt: 1, expiresAt });
      }
      assert.equal(await store.sessions.prune(100), 2);
      assert.equal(await store.sessions.removeAllOf(userId), 1);
    }));
});

onBothEngines('set-up links', ({ withStore }) => {
  test('a link is taken once, and only before its end', () =>
    withStore(async (store) => {
      const { setupLinks } = store;
      const { id: userId } = await newUser(store);
      const [forUser, forOwner, old] = [newHash(), newHash(), newHash()];
      await setupLinks.create({ hash: forUser, userId, createdAt: 1, expiresAt: 100 });
      await setupLinks.create({ hash: forOwner, userId: null, createdAt: 1, expiresAt: null });
      await setupLinks.create({ hash: old, userId, createdAt: 1, expiresAt: 100 });
      assert.deepEqual(await setupLinks.take(forUser, 99), { userId });
      assert.equal(await setupLinks.take(forUser, 99), undefined);
      assert.equal(await setupLinks.take(old, 100), undefined);
      assert.equal(await setupLinks.take(old, 99), undefined);
      assert.equal(await setupLinks.take('none', 1), undefined);
      assert.deepEqual(await setupLinks.take(forOwner, 2 ** 52), { userId: null });
      const link = { hash: newHash(), userId: 'none', createdAt: 1, expiresAt: 2 };
      await refuses(setupLinks.create(link), 'NOT_FOUND');
    }));

  test('links for the first owner go together, others stay; pruning removes the expired', () =>
    withStore(async (store) => {
      const { setupLinks } = store;
      const { id: userId } = await newUser(store);
      const hashes = [newHash(), newHash(), newHash(), newHash()] as const;
      await setupLinks.create({ hash: hashes[0], userId: null, createdAt: 1, expiresAt: null });
      await setupLinks.create({ hash: hashes[1], userId: null, createdAt: 1, expiresAt: 5 });
      await setupLinks.create({ hash: hashes[2], userId, createdAt: 1, expiresAt: 5 });
      await setupLinks.create({ hash: hashes[3], userId, createdAt: 1, expiresAt: null });
      assert.equal(await setupLinks.removeFirstOwnerLinks(), 2);
      assert.equal(await setupLinks.prune(5), 1);
      assert.equal(await setupLinks.take(hashes[0], 1), undefined);
      assert.deepEqual(await setupLinks.take(hashes[3], 1), { userId });
    }));
});

onBothEngines('API keys', ({ withStore, within }) => {
  test('a key is kept, listed in order, and named once a user', () =>
    within(async (place) => {
      const store = await place.open({ now: () => 7 });
      const { apiKeys } = store;
      const [user, other] = [await newUser(store), await newUser(store)];
      const hash = newHash();
      const key = await apiKeys.create({ userId: user.id, name: 'ci', hash });
      const { id } = key;
      const expected = { id, userId: user.id, name: 'ci', hash, createdAt: 7, lastUsedAt: null };
      assert.deepEqual(key, expected);
      assert.deepEqual(await apiKeys.get(id), expected);
      assert.deepEqual(await apiKeys.byHash(hash), expected);
      assert.equal(await apiKeys.get('none'), undefined);
      assert.equal(await apiKeys.byHash(newHash()), undefined);
      const again = { userId: user.id, name: 'ci', hash: newHash() };
      await refuses(apiKeys.create(again), 'API_KEY_ALREADY_EXISTS');
      await refuses(apiKeys.create({ ...again, userId: 'none' }), 'NOT_FOUND');
      const second = await apiKeys.create({ ...again, name: 'CI' });
      const third = await apiKeys.create({ userId: other.id, name: 'ci', hash: newHash() });
      assert.deepEqual(await apiKeys.list(user.id), [expected, second]);
      assert.deepEqual(await apiKeys.list(), [expected, second, third]);
      assert.deepEqual(await apiKeys.list('none'), []);
    }));

  test('use is noted and never goes back', () =>
    withStore(async (store) => {
      const { id: userId } = await newUser(store);
      const { id } = await store.apiKeys.create({ userId, name: 'k', hash: newHash() });
      for (const [at, noted] of [
        [50, 50],
        [40, 50],
        [60, 60],
      ] as const) {
        await store.apiKeys.touch(id, at);
        assert.equal((await store.apiKeys.get(id))?.lastUsedAt, noted);
      }
    }));

  test('a removed key takes its scoped tokens along; only its user may remove it', () =>
    withStore(async (store) => {
      const { id: userId } = await newUser(store);
      const [first, second] = [await newToken(store, userId), await newToken(store, userId)];
      assert.equal(await store.apiKeys.remove(first.keyId, 'another'), false);
      assert.equal(await store.apiKeys.remove('none'), false);
      assert.equal(await store.apiKeys.remove(first.keyId, userId), true);
      assert.equal(await store.apiKeys.remove(first.keyId, userId), false);
      assert.equal(await store.scopedTokens.byHash(first.hash), undefined);
      assert.notEqual(await store.scopedTokens.byHash(second.hash), undefined);
      assert.equal(await store.apiKeys.remove(second.keyId), true);
    }));

  test('the bootstrap key stays as it is until its value or user changes', () =>
    withStore(async (store) => {
      const { apiKeys } = store;
      const [user, other] = [await newUser(store), await newUser(store)];
      const [hash, next] = [newHash(), newHash()];
      const plain = await apiKeys.create({ userId: user.id, name: 'k', hash: newHash() });
      const key = await apiKeys.replaceBootstrap(user.id, hash);
      assert.equal(key.name, 'bootstrap');
      assert.deepEqual(await apiKeys.replaceBootstrap(user.id, hash), key);
      const replaced = await apiKeys.replaceBootstrap(user.id, next);
      assert.notEqual(replaced.id, key.id);
      assert.equal(await apiKeys.byHash(hash), undefined);
      const moved = await apiKeys.replaceBootstrap(other.id, next);
      assert.equal(moved.userId, other.id);
      assert.deepEqual(await apiKeys.list(), [plain, moved]);
      await refuses(apiKeys.replaceBootstrap('none', newHash()), 'NOT_FOUND');
      // One value is one key, whatever it was called.
      assert.equal((await apiKeys.replaceBootstrap(user.id, plain.hash)).name, 'bootstrap');
      assert.equal((await apiKeys.list(user.id)).length, 1);
    }));
});

onBothEngines('scoped tokens', ({ withStore }) => {
  test('a token is kept with its repos in their order, also very many', () =>
    withStore(async (store) => {
      const { id: userId } = await newUser(store);
      const repoIds = Array.from({ length: 10_000 }, (_, i) => 2 ** 40 - i * 7);
      const { id, hash, keyId } = await newToken(store, userId, { repoIds, expiresAt: 9 });
      const expected = { id, hash, userId, apiKeyId: keyId, repoIds, createdAt: 1, expiresAt: 9 };
      assert.deepEqual(await store.scopedTokens.byHash(hash), expected);
      assert.deepEqual(await store.scopedTokens.listActive(userId, 8), [expected]);
      assert.deepEqual(await store.scopedTokens.listActive(userId, 9), []);
      assert.deepEqual(await store.scopedTokens.listActive('none', 8), []);
    }));

  test('tokens are listed in the order they were made, expired ones not', () =>
    withStore(async (store) => {
      const { id: userId } = await newUser(store);
      const made: string[] = [];
      for (const [createdAt, expiresAt] of [
        [3, 50],
        [1, 60],
        [2, 40],
      ] as const) {
        made.push((await newToken(store, userId, { createdAt, expiresAt })).id);
      }
      const ids = async (now: number) =>
        (await store.scopedTokens.listActive(userId, now)).map(({ id }) => id);
      assert.deepEqual(await ids(0), [made[1], made[2], made[0]]);
      assert.deepEqual(await ids(40), [made[1], made[0]]);
      assert.equal(await store.scopedTokens.prune(50), 2);
      assert.deepEqual(await ids(0), [made[1]]);
    }));

  test('revoking works once, for the user of the token, before it expires', () =>
    withStore(async (store) => {
      const { scopedTokens } = store;
      const { id: userId } = await newUser(store);
      const { id, hash } = await newToken(store, userId, { expiresAt: 100 });
      assert.equal(await scopedTokens.revoke(id, 'another', 1), false);
      assert.equal(await scopedTokens.revoke(id, userId, 100), false);
      assert.notEqual(await scopedTokens.byHash(hash), undefined);
      assert.equal(await scopedTokens.revoke(id, userId, 99), true);
      assert.equal(await scopedTokens.revoke(id, userId, 99), false);
      assert.equal(await scopedTokens.byHash(hash), undefined);
    }));

  test('a token needs its key', () =>
    withStore(async (store) => {
      const { id: userId } = await newUser(store);
      const token = { id: 't', hash: newHash(), userId, repoIds: [1], createdAt: 1, expiresAt: 2 };
      await refuses(store.scopedTokens.create({ ...token, apiKeyId: 'none' }), 'NOT_FOUND');
    }));
});
