// Faults of PostgreSQL under load: it restarts, ends connections, falls silent, is locked or read-only. Operations
// succeed or fail with NOT_READY, never partially, and recover by themselves.
// tier: ci (PostgreSQL)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { ReaderSet } from '../../daemon/store/host-readers.ts';
import type { Store } from '../../daemon/store/store.ts';
import { newUser, onPostgres, refuses, type Location } from './harness.ts';
import type { PostgresServer } from './postgres-server.ts';

const GRANT_COUNT = 600;
const WORKER_COUNT = 8;

interface Load {
  readonly acknowledged: Map<string, string>;
  readonly errors: Error[];
  /** Done when that many more users have been acknowledged. */
  progress(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** Writes without end; notes what was acknowledged and every error. */
function startLoad(store: Store): Load {
  const acknowledged = new Map<string, string>();
  const errors: Error[] = [];
  const stopping = new AbortController();
  let count = 0;
  const work = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const email = `load-${count++}@example.com`;
      try {
        const { id } = await store.users.create({ email, role: 'MEMBER' });
        await store.grants.add(
          id,
          Array.from({ length: GRANT_COUNT }, (_, i) => i),
        );
        assert.equal((await store.users.byEmail(email))?.id, id);
        acknowledged.set(email, id);
      } catch (error) {
        assert.ok(error instanceof Error);
        errors.push(error);
        await setTimeout(5);
      }
    }
  };
  const workers = Array.from({ length: WORKER_COUNT }, work);
  return {
    acknowledged,
    errors,
    progress: async (more) => {
      const target = acknowledged.size + more;
      for (let attempt = 0; acknowledged.size < target; attempt++) {
        assert.ok(attempt < 6_000, String(errors.at(-1)));
        await setTimeout(10);
      }
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(workers);
    },
  };
}

async function checkLoad(store: Store, { acknowledged, errors }: Load): Promise<void> {
  for (const error of errors) {
    assert.equal((error as Error & { errorCode?: string }).errorCode, 'NOT_READY', error.stack);
  }
  const users = await store.users.list();
  const ids = new Map(users.map(({ id, email }) => [email, id]));
  for (const [email, id] of acknowledged) assert.equal(ids.get(email), id);
  for (const { id, email } of users) {
    const { length } = await store.grants.repoIdsOf(id);
    const isValid = length === GRANT_COUNT || (length === 0 && !acknowledged.has(email));
    assert.ok(isValid, `${email} has ${length} grants`);
  }
}

async function informed(store: Store): Promise<void> {
  for (let attempt = 0; !store.isInformed && attempt < 6_000; attempt++) await setTimeout(10);
  assert.equal(store.isInformed, true);
}

onPostgres('faults', (world) => {
  const withLoad = (
    run: (server: PostgresServer, load: Load, location: Location) => Promise<void>,
  ): Promise<void> =>
    world.withStore(async (store, location) => {
      const { server } = world;
      assert.ok(server !== undefined);
      const load = startLoad(store);
      try {
        await load.progress(10);
        await run(server, load, location);
        await load.progress(10);
      } finally {
        await load.stop();
      }
      assert.ok(load.errors.length > 0, 'nothing failed');
      await checkLoad(store, load);
      await informed(store);
    });

  for (const mode of ['fast', 'immediate'] as const) {
    test(`restarts under load, ${mode}`, () =>
      withLoad(async (server, load) => {
        for (let round = 0; round < 3; round++) {
          await server.stop(mode);
          await setTimeout(100);
          await server.start();
          await load.progress(10);
        }
        for (let attempt = 0; attempt < 20; attempt++) await load.progress(1);
      }));
  }

  test('connections terminated under load', () =>
    withLoad(async (server, load, location) => {
      for (let round = 0; round < 10; round++) {
        await server.run(
          location.databaseUrl ?? '',
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND pid <> pg_backend_pid()`,
        );
        await load.progress(5);
      }
    }));

  test('silent connections are given up, others continue', () =>
    world.within(async (location) => {
      const { server } = world;
      assert.ok(server !== undefined && location.databaseUrl !== undefined);
      const store = await location.open({
        databaseUrl: `${location.databaseUrl}&query_timeout=2000`,
      });
      const { id } = await newUser(store);
      const backends = await server.run(
        location.databaseUrl,
        'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      );
      const pids = backends.map(({ pid }) => Number(pid));
      assert.ok(pids.length >= 2);
      for (const pid of pids) process.kill(pid, 'SIGSTOP');
      try {
        const error = await refuses(store.users.get(id), 'NOT_READY');
        assert.equal(error.message, 'PostgreSQL cannot be reached');
        assert.equal((await store.users.get(id))?.id, id);
        await newUser(store);
        for (let attempt = 0; store.isInformed && attempt < 6_000; attempt++) await setTimeout(10);
        await informed(store);
        assert.match(location.logged.join(''), /changes by other daemons are not received/);
      } finally {
        for (const pid of pids) process.kill(pid, 'SIGCONT');
      }
    }));

  test('without notifications everything is reported again and again while the store answers', () =>
    world.withStore(async (store, { databaseUrl }) => {
      const { server } = world;
      assert.ok(server !== undefined && databaseUrl !== undefined);
      const database = new URL(databaseUrl).pathname.slice(1);
      const elsewhere = (text: string) =>
        server.run(databaseUrl.replace(`/${database}`, '/postgres'), text);
      const reports: unknown[] = [];
      store.onChange(
        (change) => void ('topic' in change && change.topic === 'all' && reports.push(change)),
      );
      await elsewhere(`ALTER DATABASE ${database} ALLOW_CONNECTIONS false`);
      await elsewhere(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = '${database}' AND query IN ('LISTEN trawl_changes', 'SELECT 1')`,
      );
      const start = performance.now();
      for (let attempt = 0; reports.length < 3 && attempt < 6_000; attempt++) await setTimeout(10);
      assert.equal(store.isInformed, false);
      assert.ok(reports.length >= 3);
      assert.ok(store.uninformedMs < performance.now() - start);
      await elsewhere(`ALTER DATABASE ${database} ALLOW_CONNECTIONS true`);
      await informed(store);
    }));

  test('writers that wait for each other leave connections to readers', () =>
    world.withStore(async (store, { databaseUrl }) => {
      const { server } = world;
      assert.ok(server !== undefined && databaseUrl !== undefined);
      const { id } = await newUser(store);
      const locked = "FROM pg_locks WHERE locktype = 'advisory' AND granted";
      const holding = assert.rejects(
        server.run(
          databaseUrl,
          'BEGIN; SELECT pg_advisory_xact_lock(7243951802116); SELECT pg_sleep(600)',
        ),
      );
      while ((await server.run(databaseUrl, `SELECT 1 ${locked}`)).length === 0);
      const writing = Promise.allSettled(Array.from({ length: 12 }, () => newUser(store)));
      for (let i = 0; i < 5; i++) assert.equal((await store.users.get(id))?.id, id);
      await server.run(databaseUrl, `SELECT pg_cancel_backend(pid) ${locked}`);
      await holding;
      for (const one of await writing)
        if (one.status === 'rejected') assert.equal(one.reason.errorCode, 'NOT_READY');
      await newUser(store);
    }));

  test('a long transaction waits for a lock longer than others', () =>
    world.within(async (location) => {
      const { server } = world;
      const { databaseUrl } = location;
      assert.ok(server !== undefined && databaseUrl !== undefined);
      const store = await location.open({ busyTimeoutMs: 100 });
      const repo = { repoId: 1, name: 'r', visibility: 'private', enforcement: 'all' } as const;
      await store.repos.change(() => ({ changed: [repo], result: null }));
      const locked = "FROM pg_locks WHERE locktype = 'advisory' AND granted";
      const holding = server.run(
        databaseUrl,
        'BEGIN; SELECT pg_advisory_xact_lock(7243951802116); SELECT pg_sleep(1.5); COMMIT',
      );
      while ((await server.run(databaseUrl, `SELECT 1 ${locked}`)).length === 0);
      const short = refuses(newUser(store), 'NOT_READY');
      const readers = new ReaderSet();
      readers.add('1', ['a@example.com']);
      await store.hostReaders.replace({ repoId: 1, connection: 'gh' }, readers, 1);
      await short;
      await holding;
    }));

  test('a permanent lock, and a read-only server, are NOT_READY', () =>
    world.within(async (location) => {
      const { server } = world;
      const { databaseUrl } = location;
      assert.ok(server !== undefined && databaseUrl !== undefined);
      const store = await location.open({ databaseUrl: `${databaseUrl}&statement_timeout=1000` });
      await newUser(store);
      const locked = "FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted";
      const holding = assert.rejects(
        server.run(databaseUrl, 'BEGIN; LOCK users; SELECT pg_sleep(600); COMMIT'),
      );
      while ((await server.run(databaseUrl, `SELECT 1 ${locked}`)).length === 0);
      assert.equal(
        (await refuses(newUser(store), 'NOT_READY')).message,
        'PostgreSQL took too long',
      );
      await server.run(databaseUrl, `SELECT pg_cancel_backend(pid) ${locked}`);
      await holding;
      await newUser(store);
      const name = /\/(trawl_\d+)/.exec(databaseUrl)?.[1];
      await server.run(
        databaseUrl,
        `ALTER DATABASE ${name} SET default_transaction_read_only = on`,
      );
      const reader = await location.open({ answerMsMax: 60_000 });
      assert.equal(
        (await refuses(newUser(reader), 'NOT_READY')).message,
        'PostgreSQL is read-only',
      );
      assert.deepEqual([reader.isAway, reader.lastError], [false, 'PostgreSQL is read-only']);
      assert.equal(await reader.users.count(), 2);
      // Each connection begun meanwhile is read-only: it refuses once, and is not used again.
      const other = await server.createDatabase();
      await server.run(other, `ALTER DATABASE ${name} RESET default_transaction_read_only`);
      const connections = 10;
      for (let i = 0; i < connections; i++) await newUser(reader).catch(() => undefined);
      await newUser(reader);
    }));

  test('opening says what the server says, and the remedy', () =>
    world.within(async (location) => {
      const { server } = world;
      const { databaseUrl } = location;
      assert.ok(server !== undefined && databaseUrl !== undefined);
      await server.run(databaseUrl, 'CREATE ROLE guest LOGIN');
      const url = new URL(databaseUrl);
      const opening = async (part: 'username' | 'pathname', value: string): Promise<string> => {
        const changed = new URL(url);
        changed[part] = value;
        return (await refuses(location.open({ databaseUrl: changed.href }), 'NOT_READY')).message;
      };
      assert.match(await opening('pathname', '/none'), /; create it,.*: database "none" does not/);
      assert.match(
        await opening('username', 'nobody'),
        /; correct TRAWL_DATABASE_URL,.*: role "nob/,
      );
      assert.match(await opening('username', 'guest'), /; make it the owner .*: permission denied/);
      await server.run(databaseUrl, 'DROP ROLE guest');
    }));
});
