// Change notifications: every operation that affects caches reports it before it completes, also to other daemons on
// the same PostgreSQL; and lost connections.
// tier: ci (PostgreSQL)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Store } from '../../daemon/store/store.ts';
import { newHash, newToken, newUser, onBothEngines, onPostgres } from './harness.ts';

type ChangeNames = (string | undefined)[];

/** Gathers changes as `user:<id>`, `list:<repoId>` or their topic. */
function record(store: Store): ChangeNames {
  const reported: ChangeNames = [];
  store.onChange((change) =>
    reported.push(
      'userId' in change
        ? `user:${change.userId}`
        : 'list' in change
          ? `list:${change.list.repoId}`
          : change.topic,
    ),
  );
  return reported;
}

async function until(isSo: () => boolean): Promise<void> {
  for (let attempt = 0; !isSo(); attempt++) {
    assert.ok(attempt < 6_000, 'it never came about');
    await setTimeout(10);
  }
}

async function newSession(store: Store, userId: string): Promise<string> {
  const hash = newHash();
  await store.sessions.create({ hash, userId, createdAt: 1, expiresAt: 2 });
  return hash;
}

/** Every operation that must be told, with what it needs first. */
const OPERATIONS: Readonly<
  Record<string, (store: Store, userId: string) => Promise<() => Promise<unknown>>>
> = {
  'users.update': async (store, id) => () => store.users.update(id, { name: 'x' }),
  'users.remove': async (store, id) => () => store.users.remove(id),
  'sessions.renew': async (store, userId) => {
    const hash = await newSession(store, userId);
    return () => store.sessions.renew(hash, 3);
  },
  'sessions.remove': async (store, userId) => {
    const hash = await newSession(store, userId);
    return () => store.sessions.remove(hash);
  },
  'apiKeys.create': async (store, userId) => () =>
    store.apiKeys.create({ userId, name: 'k', hash: newHash() }),
  'apiKeys.remove': async (store, userId) => {
    const { keyId } = await newToken(store, userId);
    return () => store.apiKeys.remove(keyId);
  },
  'apiKeys.replaceBootstrap': async (store, userId) => () =>
    store.apiKeys.replaceBootstrap(userId, newHash()),
  'scopedTokens.revoke': async (store, userId) => {
    const { id } = await newToken(store, userId);
    return () => store.scopedTokens.revoke(id, userId, 1);
  },
  'grants.add': async (store, userId) => () => store.grants.add(userId, [1]),
  'grants.remove': async (store, userId) => {
    await store.grants.add(userId, [1]);
    return () => store.grants.remove(userId, [1]);
  },
};

onBothEngines('changes', ({ within, withStore }) => {
  for (const [name, prepare] of Object.entries(OPERATIONS)) {
    test(`${name} is reported before it completes`, () =>
      within(async (location) => {
        const store = await location.open();
        await newUser(store, 'OWNER');
        const { id } = await newUser(store);
        const run = await prepare(store, id);
        const reported = record(store);
        await run();
        assert.ok(reported.includes(`user:${id}`), String(reported));
      }));
  }

  test('settings have their own topic; a new user is reported too', () =>
    withStore(async (store) => {
      const reported = record(store);
      await store.settings.set('a', 'b');
      assert.equal(reported.at(-1), 'settings');
      const { id } = await newUser(store);
      assert.ok(reported.includes(`user:${id}`));
      reported.length = 0;
      assert.equal(await store.settings.remove('a'), true);
      assert.ok(reported.includes('settings'));
    }));

  test('refused and empty changes are not reported', () =>
    within(async (location) => {
      const store = await location.open();
      const { id } = await newUser(store, 'OWNER');
      const key = await store.apiKeys.replaceBootstrap(id, newHash());
      await store.grants.add(id, [1]);
      const other = location.kind === 'postgres' ? await location.open() : undefined;
      const reported = record(store);
      /** What was told. Own changes may come back from the server, in the order of commits: before that of another. */
      const reportedByNow = async (): Promise<ChangeNames> => {
        if (other === undefined) return reported.splice(0);
        const mark = `user:${(await newUser(other)).id}`;
        await until(() => reported.includes(mark));
        const all = reported.splice(0);
        return all.slice(0, all.indexOf(mark));
      };
      await reportedByNow();
      await store.users.remove(id).catch(() => {});
      await store.users.update('none', { name: 'x' });
      await store.apiKeys.remove('none');
      await store.apiKeys.replaceBootstrap(id, key.hash);
      await store.grants.add(id, [1]);
      await store.grants.remove(id, [2]);
      await store.settings.remove('none');
      await store.users.touch(id, 5);
      assert.deepEqual(await reportedByNow(), []);
    }));

  test('a listener can be removed, and a failing one affects nobody', () =>
    withStore(async (store, location) => {
      const end = store.onChange(() => {
        throw new Error('listener of a test');
      });
      const reported = record(store);
      await store.settings.set('a', 'b');
      assert.ok(reported.includes('settings'));
      assert.match(location.logged.join(''), /listener of a test/);
      end();
      location.logged.length = 0;
      await store.settings.set('a', 'c');
      assert.doesNotMatch(location.logged.join(''), /listener of a test/);
    }));
});

onPostgres('changes between daemons', (world) => {
  const { within } = world;

  test('another daemon hears every change, and then reads the new state', () =>
    within(async (location) => {
      const [here, there] = [await location.open(), await location.open()];
      const reported = record(there);
      const { id } = await newUser(here);
      await until(() => reported.includes(`user:${id}`));
      assert.equal((await there.users.get(id))?.id, id);
      await here.settings.set('name', 'value');
      await until(() => reported.includes('settings'));
      assert.equal(await there.settings.get('name'), 'value');
      reported.length = 0;
      await here.grants.add(id, [1, 2, 3]);
      await until(() => reported.includes(`user:${id}`));
      assert.deepEqual(await there.grants.repoIdsOf(id), [1, 2, 3]);
    }));

  test('a rolled back transaction is not reported to others', () =>
    within(async (location) => {
      const [here, there] = [await location.open(), await location.open()];
      const reported = record(there);
      const { id } = await newUser(here, 'OWNER');
      await here.users.remove(id).catch(() => {});
      await here.grants.add('none', [1]).catch(() => {});
      // Told in the order of commits: what came before this one has been told.
      await here.settings.set('a', 'b');
      await until(() => reported.includes('settings'));
      assert.deepEqual(reported, [`user:${id}`, 'settings']);
    }));

  test('a lost connection: not informed until it is back, then everything counts as changed', () =>
    within(async (location) => {
      const { server } = world;
      assert.ok(server !== undefined && location.databaseUrl !== undefined);
      const [here, there] = [await location.open(), await location.open()];
      const reported = record(there);
      await server.run(
        location.databaseUrl,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND query = 'LISTEN trawl_changes'`,
      );
      await until(() => !there.isInformed);
      await until(() => there.isInformed);
      assert.ok(reported.includes('all'));
      assert.match(location.logged.join(''), /changes by other daemons are not received/);
      reported.length = 0;
      const { id } = await newUser(here);
      await until(() => reported.includes(`user:${id}`));
    }));

  test('a server unavailable for long is retried repeatedly', () =>
    within(async (location) => {
      const { server } = world;
      assert.ok(server !== undefined);
      const store = await location.open();
      const reported = record(store);
      await server.stop('immediate');
      await until(() => !store.isInformed);
      await setTimeout(500);
      assert.equal(store.isInformed, false);
      await server.start();
      await until(() => store.isInformed);
      assert.ok(reported.includes('all'));
      assert.equal(typeof (await newUser(store)).id, 'string');
    }));
});
