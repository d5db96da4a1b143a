// OAuth clients authorized by users, on both engines: concurrent use by two daemons, cascading removal, and limits on
// records that anybody can create.
// tier: ci (long)

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { Change } from '../../daemon/store/engine.ts';
import type { Store } from '../../daemon/store/store.ts';
import { newHash, newRecord, newUser, onBothEngines, refuses } from './harness.ts';
import { consentOf, newClient, newConsent, nextTokens, requestFor } from './oauth-rows.ts';

const ROUNDS = 6;

async function auditCount(store: Store): Promise<number> {
  return (await store.audit.list({ offset: 0, limit: 1 })).total;
}

onBothEngines('OAuth', ({ within, withStore }) => {
  const withTwo = (run: (one: Store, two: Store) => Promise<void>) =>
    within(async (location) => run(await location.open(), await location.open()));

  test('of concurrent uses of a code, a refresh token or a request one succeeds', () =>
    withTwo(async (one, two) => {
      const { id: userId } = await newUser(one);
      const clientId = await newClient(one);
      const stores = [one, two, one, two];
      const succeeded = async (run: (store: Store) => Promise<boolean>) =>
        (await Promise.all(stores.map(run))).filter(Boolean).length;
      for (let round = 0; round < ROUNDS; round++) {
        const request = requestFor(userId, clientId);
        await one.oauthConsents.addRequest(request, 100);
        const allowed = await succeeded(({ oauthConsents }) =>
          oauthConsents.allow(request.hash, consentOf(request, round), 100),
        );
        assert.equal(allowed, 1);
        const { id } = await newConsent(one, userId, clientId);
        const before = await auditCount(one);
        const family = newHash();
        const tokens = stores.map(() => nextTokens());
        const redeemed = await Promise.all(
          stores.map((store, i) => store.oauthConsents.redeem(id, family, tokens[i]!)),
        );
        assert.equal(redeemed.filter(Boolean).length, 1);
        assert.equal(await auditCount(one), before + 1);
        const first = tokens[redeemed.indexOf(true)]!;
        const consent = await two.oauthConsents.byFamily(family);
        assert.equal(consent?.refreshHash, first.refreshHash);
        const rotated = await succeeded(({ oauthConsents }) =>
          oauthConsents.rotate(id, first.refreshHash, nextTokens()),
        );
        assert.equal(rotated, 1);
        const ended = await succeeded(({ oauthConsents }) =>
          oauthConsents.remove(id, userId, [newRecord(1)]),
        );
        assert.equal(ended, 1);
        assert.equal(await one.oauthConsents.token(first.token.hash), undefined);
      }
    }));

  test('a user suspended meanwhile gets nothing', () =>
    withTwo(async (one, two) => {
      const clientId = await newClient(one);
      for (let round = 0; round < ROUNDS; round++) {
        const { id: userId } = await newUser(one);
        const waiting = requestFor(userId, clientId);
        await one.oauthConsents.addRequest(waiting, 100);
        const { id } = await newConsent(one, userId, clientId);
        const next = nextTokens();
        await Promise.all([
          one.oauthConsents.redeem(id, newHash(), next),
          one.oauthConsents.allow(waiting.hash, consentOf(waiting), 100),
          two.users.update(userId, { suspendedAt: 1 }),
        ]);
        assert.equal(await two.oauthConsents.token(next.token.hash), undefined);
        await two.users.update(userId, { suspendedAt: null });
        assert.deepEqual(await one.oauthConsents.list(userId, 0), []);
        const late = consentOf(waiting);
        assert.equal(await one.oauthConsents.allow(waiting.hash, late, 100), false);
      }
    }));

  test('a change of tokens is reported to its user', () =>
    withStore(async (store) => {
      const { id: userId } = await newUser(store);
      const clientId = await newClient(store);
      const reported: Change[] = [];
      store.onChange((change) => reported.push(change));
      // On PostgreSQL a change may be told more than once.
      const notifies = async (run: () => Promise<boolean>): Promise<boolean> => {
        reported.length = 0;
        assert.equal(await run(), true);
        return reported.some((change) => 'userId' in change && change.userId === userId);
      };
      const { id } = await newConsent(store, userId, clientId);
      const next = nextTokens();
      await store.oauthConsents.redeem(id, newHash(), next);
      const { hash } = next.token;
      assert.ok(await notifies(() => store.oauthConsents.removeToken(hash, [])));
      assert.equal(await store.oauthConsents.removeToken(hash, []), false);
      assert.equal(await store.oauthConsents.remove(id, randomUUID(), []), false);
      assert.ok(await notifies(() => store.oauthConsents.remove(id, userId, [])));
    }));

  test('records that anybody can create are limited: the newest and the used ones stay', () =>
    withStore(async (store) => {
      const { id: userId } = await newUser(store);
      const used = await newClient(store, 1, 3);
      await newConsent(store, userId, used);
      const ids: string[] = [];
      for (let at = 2; at < 8; at++) ids.push(await newClient(store, at, 3));
      const kept = await Promise.all(ids.map((id) => store.oauthClients.get(id)));
      assert.deepEqual(
        kept.map((client) => client?.createdAt),
        [undefined, undefined, undefined, 5, 6, 7],
      );
      assert.ok((await store.oauthClients.get(used)) !== undefined);
      const requests = Array.from({ length: 5 }, (_, i) => requestFor(userId, used, 100 + i));
      for (const request of requests) await store.oauthConsents.addRequest(request, 2);
      const found = await Promise.all(
        requests.map(({ hash }) => store.oauthConsents.request(hash, userId, 0)),
      );
      assert.deepEqual(
        found.map((request) => request?.expiresAt),
        [undefined, undefined, undefined, 103, 104],
      );
      const last = requests.at(-1)!;
      const consent = consentOf(last, 9);
      assert.equal(await store.oauthConsents.allow(last.hash, consent, 1), true);
      assert.ok((await store.oauthConsents.byCode(consent.codeHash)) !== undefined);
      await refuses(store.oauthConsents.addRequest(requestFor(userId, 'nobody'), 9), 'NOT_FOUND');
      await refuses(store.oauthConsents.addRequest(requestFor('nobody', used), 9), 'NOT_FOUND');
    }));

  test('expired records are removed; an unauthorized client long after its last use', () =>
    withStore(async (store) => {
      const { id: userId } = await newUser(store);
      const clientId = await newClient(store, 5);
      const { id } = await newConsent(store, userId, clientId, 10);
      const next = nextTokens(20);
      await store.oauthConsents.redeem(id, newHash(), next);
      assert.equal(await store.users.pruneExpired(119), 0);
      assert.equal(await store.users.pruneExpired(120), 1);
      assert.equal(await store.oauthConsents.token(next.token.hash), undefined);
      assert.equal(await store.oauthClients.prune(5000), 0);
      assert.equal(await store.users.pruneExpired(1020), 1);
      assert.equal(await store.oauthClients.prune(19), 0);
      assert.equal(await store.oauthClients.prune(20), 1);
      assert.equal(await store.oauthClients.get(clientId), undefined);
    }));
});
