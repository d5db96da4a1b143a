// Accounts of identity providers and their users, on both engines: one for each issuer, one user each, under
// concurrency.
// tier: ci (long)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import { deferred } from '../../daemon/base/deferred.ts';
import type { Change } from '../../daemon/store/engine.ts';
import { type HostedRepos, ReaderSet } from '../../daemon/store/host-readers.ts';
import { newRecord, newUser, onBothEngines, onPostgres } from './harness.ts';

const ONE = { issuer: 'https://one', subject: '1' };

onBothEngines('accounts of identity providers', ({ within, withStore }) => {
  test('an account belongs to one user, and a user has one for each issuer', () =>
    withStore(async (store) => {
      const { signOnAccounts } = store;
      const ann = (await newUser(store)).id;
      const bob = (await newUser(store)).id;
      assert.equal(await signOnAccounts.userOf(ONE), undefined);
      assert.equal(await signOnAccounts.link(ann, ONE, 5), true);
      assert.equal(await signOnAccounts.link(ann, ONE, 6), true);
      assert.equal(await signOnAccounts.link(bob, ONE, 7), false);
      assert.equal(await signOnAccounts.link(ann, { ...ONE, subject: '2' }, 8), false);
      const two = { issuer: 'https://two', subject: '1' };
      assert.equal(await signOnAccounts.link(bob, two, 9), true);
      assert.equal(await signOnAccounts.userOf(ONE), ann);
      assert.equal(await signOnAccounts.userOf(two), bob);
      assert.deepEqual(await signOnAccounts.of(ann), [ONE]);
      assert.deepEqual((await signOnAccounts.issuers()).toSorted(), [ONE.issuer, two.issuer]);
      assert.deepEqual(await signOnAccounts.ofIssuer(ONE.issuer), [{ userId: ann, subject: '1' }]);
    }));

  test('links end on request and with the user; suspended users get none', () =>
    withStore(async (store) => {
      const { signOnAccounts, users } = store;
      const ann = (await newUser(store)).id;
      const bob = (await newUser(store)).id;
      await signOnAccounts.link(ann, ONE, 5);
      const changes: Change[] = [];
      store.onChange((change) => changes.push(change));
      assert.equal(await signOnAccounts.unlink(ann), 1);
      // Perhaps more than once, and of the link too.
      assert.deepEqual(changes.at(-1), { userId: ann });
      assert.equal(await signOnAccounts.unlink(ann), 0);
      assert.equal(await signOnAccounts.link(bob, ONE, 6), true);
      await users.remove(bob);
      assert.equal(await signOnAccounts.userOf(ONE), undefined);
      assert.equal(await signOnAccounts.link(bob, ONE, 7), false);
      await users.update(ann, { suspendedAt: 8 });
      assert.equal(await signOnAccounts.link(ann, ONE, 9), false);
    }));

  test('of concurrent requests with one account one gets it', () =>
    within(async (location) => {
      const stores = await Promise.all([location.open(), location.open()]);
      const [first] = stores;
      const ids: string[] = [];
      for (let i = 0; i < 6; i++) ids.push((await newUser(first)).id);
      const links = ids.map((id, i) => stores[i % 2]!.signOnAccounts.link(id, ONE, i));
      const won = (await Promise.all(links)).filter(Boolean);
      assert.equal(won.length, 1);
      for (const store of stores) await store.close();
    }));

  test('users affected by a list of readers through an account are reported', () =>
    withStore(async (store) => {
      const ann = (await newUser(store)).id;
      await store.signOnAccounts.link(ann, ONE, 5);
      await store.repos.change(() => ({
        changed: [{ repoId: 1, name: 'r', visibility: 'private', enforcement: 'restricted' }],
        result: undefined,
      }));
      const changes: Change[] = [];
      store.onChange((change) => changes.push(change));
      const reportedOf = async (...accounts: string[]): Promise<boolean> => {
        const readers = new ReaderSet();
        for (const account of accounts) readers.add(account, []);
        await store.hostReaders.replace({ repoId: 1, connection: 'lab' }, readers, 10);
        return changes.splice(0).some((change) => 'userId' in change && change.userId === ann);
      };
      assert.equal(await reportedOf('9', '1'), true);
      const lab = [{ connection: 'lab', accountId: '1' }];
      const hosted = [{ connection: 'lab', repoIds: [1] }];
      assert.deepEqual(await store.hostReaders.reposOf('nobody@x.org', lab), hosted);
      assert.deepEqual(await store.hostReaders.reposOf('nobody@x.org'), []);
      assert.deepEqual(await store.hostReaders.accountsAmong(1, 'lab', ['1', '2']), ['1']);
      assert.equal(await reportedOf('9'), true);
    }));
});

onPostgres('accounts linked meanwhile', ({ withStore }) => {
  test('a user linked while a list is replaced reads the new list', () =>
    withStore(async (store, { databaseUrl }) => {
      const ann = (await newUser(store)).id;
      await store.repos.change(() => ({
        changed: [{ repoId: 1, name: 'r', visibility: 'private', enforcement: 'restricted' }],
        result: undefined,
      }));
      const list = { repoId: 1, connection: 'lab' };
      const readers = new ReaderSet();
      readers.add(ONE.subject, []);
      await store.hostReaders.replace(list, readers, 10);
      // The transaction has found whom to notify when it asks for its records, and then waits to store them.
      const blocker = new Client({ connectionString: databaseUrl });
      await blocker.connect();
      await blocker.query('begin; lock table audit in exclusive mode');
      const isAsked = deferred();
      const replacing = store.hostReaders.replace(list, new ReaderSet(), 20, () => {
        isAsked.resolve();
        return [newRecord(1)];
      });
      await isAsked.promise;
      const read: HostedRepos[] = [];
      const linkAndRead = async (): Promise<void> => {
        await store.signOnAccounts.link(ann, ONE, 5);
        const account = { connection: list.connection, accountId: ONE.subject };
        read.push(...(await store.hostReaders.reposOf('nobody@x.org', [account])));
      };
      const reading = linkAndRead();
      const isWaiting = async (): Promise<boolean> => {
        const text = `select 1 from pg_locks where locktype = 'advisory' and not granted`;
        return (await blocker.query(text)).rows.length > 0;
      };
      while (read.length === 0 && !(await isWaiting())) await setTimeout(5);
      await blocker.query('rollback');
      await blocker.end();
      await replacing;
      await reading;
      assert.deepEqual(read, []);
    }));
});
