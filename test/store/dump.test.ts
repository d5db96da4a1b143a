// Dumps: the same rows between any engines, a consistent snapshot during writes, loaded completely or not at all.
// tier: ci (PostgreSQL)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DumpError } from '../../daemon/store/error.ts';
import { ReaderSet } from '../../daemon/store/host-readers.ts';
import type { DumpPart } from '../../daemon/store/dump.ts';
import type { Store } from '../../daemon/store/store.ts';
import {
  connectionOf,
  hostOf,
  newHash,
  newRecord,
  newToken,
  newUser,
  onBothEngines,
  onPostgres,
  refuses,
  withEmbeddedLocation,
} from './harness.ts';
import { newClient, newConsent, nextTokens, requestFor } from './oauth-rows.ts';

async function partsOf(store: Store): Promise<DumpPart[]> {
  const parts: DumpPart[] = [];
  for await (const part of store.dump()) parts.push(part);
  return parts;
}

/** Rows by table, whatever parts they came in. */
function tablesOf(parts: readonly DumpPart[]): Map<string, DumpPart['rows'][number][]> {
  const tables = new Map<string, DumpPart['rows'][number][]>();
  for (const { table, rows } of parts) {
    const ids = tables.get(table);
    if (ids === undefined) tables.set(table, [...rows]);
    else ids.push(...rows);
  }
  return tables;
}

async function* stream(parts: readonly DumpPart[]): AsyncGenerator<DumpPart> {
  yield* parts;
}

/** Something in every table that has operations; more than one batch in some. */
async function fill(store: Store): Promise<void> {
  const owner = await newUser(store, 'OWNER');
  const texts = ['', "o'x", 'ü🙂\n', '\\x', '0', 'null'];
  for (const name of texts) {
    const { id } = await newUser(store);
    await store.users.update(id, { name, requestsPerDay: 'unlimited', passwordHash: name });
    await store.users.touch(id, 2 ** 52);
    await store.settings.set(`name ${name}`, name);
    const session = { hash: newHash(), userId: id, createdAt: 1, expiresAt: 2 ** 53 - 1 };
    await store.sessions.create(session);
    await store.setupLinks.create({ hash: newHash(), userId: id, createdAt: 1, expiresAt: 5 });
    await newToken(store, id, { repoIds: [3, 1, 2], expiresAt: 1_000 });
  }
  const link = { hash: newHash(), userId: null, createdAt: 1, expiresAt: null };
  await store.setupLinks.create(link);
  await store.users.update(owner.id, { requestsPerDay: 0 });
  await store.grants.add(
    owner.id,
    Array.from({ length: 1_234 }, (_, i) => i * 3),
  );
  const repoId = await store.repos.change(({ nextRepoId }) => ({
    changed: texts.map((name, index) => ({
      repoId: nextRepoId + index,
      name,
      visibility: 'unknown',
      enforcement: 'none',
      host: hostOf(name),
    })),
    connections: texts.map((name, index) => connectionOf(index + 1, { name })),
    links: texts.map((_, index) => ({
      connectionId: index + 1,
      repoId: nextRepoId + index,
      listing: 2 ** 52,
      missingSince: index === 0 ? null : index,
    })),
    result: nextRepoId,
  }));
  const readers = new ReaderSet();
  for (let i = 0; i < 600; i++) readers.add(`a${i}`, i % 3 === 0 ? [] : [`A${i}@Example.com`]);
  await store.hostReaders.replace({ repoId, connection: 'gh' }, readers, 5);
  await store.hostReaders.replace(
    { repoId: repoId + 1, connection: 'ü x:y' },
    new ReaderSet(),
    2 ** 52,
  );
  const clientId = await newClient(store);
  await store.oauthConsents.addRequest({ ...requestFor(owner.id, clientId), state: 'ü"' }, 10);
  await newConsent(store, owner.id, clientId);
  const { id } = await newConsent(store, owner.id, clientId);
  await store.oauthConsents.redeem(id, newHash(), { ...nextTokens(), keyHash: 'key' });
  const metadata = { a: '\0', b: [1.5, null] };
  await store.audit.append(
    Array.from({ length: 450 }, (_, timestamp) => newRecord(timestamp, { metadata })),
  );
}

/** What callers see, as far as it is not of one row. */
async function summary(store: Store): Promise<unknown> {
  const users = await store.users.list();
  const keys = await store.apiKeys.list();
  return {
    users,
    keys,
    tokens: await Promise.all(users.map(({ id }) => store.scopedTokens.listActive(id, 0))),
    grants: await Promise.all(users.map(({ id }) => store.grants.repoIdsOf(id))),
    audit: (await store.audit.list({ offset: 0, limit: 1_000 })).rows,
    settings: await store.settings.all(),
    lists: await store.hostReaders.lists(),
    hosted: await store.hostReaders.reposOf('a1@example.com'),
    consents: await Promise.all(users.map(({ id }) => store.oauthConsents.list(id, 0))),
  };
}

onBothEngines('dumps', ({ within, withStore }) => {
  test('every row round-trips, in the same order', () =>
    within(async (source) => {
      const from = await source.open();
      await fill(from);
      const parts = await partsOf(from);
      assert.deepEqual(parts[0], { table: 'store', rows: [{ version: '0010' }] });
      await within(async (target) => {
        const to = await target.open();
        await to.load(stream(parts));
        assert.deepEqual(await partsOf(to), parts);
        assert.deepEqual(await summary(to), await summary(from));
        // Later rows come behind those that were loaded.
        const { id } = await newUser(to);
        assert.equal((await to.users.list()).at(-1)?.id, id);
      });
    }));

  test('an empty store has an empty dump, which can be loaded', () =>
    withStore(async (store) => {
      const parts = await partsOf(store);
      assert.deepEqual(
        parts.map(({ table }) => table),
        ['store'],
      );
      await store.load(stream(parts));
      assert.equal(await store.users.count(), 0);
    }));

  test('a dump is one consistent state during writes', () =>
    within(async (location) => {
      const [reader, writer] = [await location.open(), await location.open()];
      for (let i = 0; i < 600; i++) await newUser(writer);
      // Each step adds a user, then ten records: other orders or other counts were no moment.
      let stepCount = 0;
      const stopping = new AbortController();
      const writing = (async () => {
        while (!stopping.signal.aborted) {
          await newUser(stepCount % 2 === 0 ? writer : reader);
          await writer.audit.append(
            Array.from({ length: 10 }, () => newRecord(1, { targetId: String(stepCount) })),
          );
          stepCount++;
        }
      })();
      try {
        for (let round = 0; round < 5; round++) {
          const tables = tablesOf(await partsOf(reader));
          const records = tables.get('audit') ?? [];
          const userCount = (tables.get('users') ?? []).length - 600;
          assert.equal(records.length % 10, 0);
          const lag = userCount - records.length / 10;
          assert.ok(lag === 0 || lag === 1, `${userCount} users, ${records.length} records`);
        }
      } finally {
        stopping.abort();
        await writing;
      }
      assert.ok(stepCount > 0);
    }));

  test('an abandoned dump, or one of a closed store, blocks nothing', () =>
    within(async (location) => {
      const store = await location.open();
      await fill(store);
      for await (const { table } of store.dump()) if (table === 'users') break;
      await newUser(store);
      const dump = store.dump()[Symbol.asyncIterator]();
      await dump.next();
      await dump.next();
      await store.close();
      await refuses(
        (async () => {
          while (!(await dump.next()).done);
        })(),
        'NOT_READY',
      );
    }));

  test('an invalid dump is refused, and nothing of it is stored', () =>
    within(async (location) => {
      const store = await location.open();
      const header = { table: 'store', rows: [{ version: '0010' }] };
      const setting = { table: 'settings', rows: [{ name: 'a', value: 'b' }] };
      const cases: [DumpPart[], RegExp][] = [
        [[], /empty/],
        [[setting], /does not begin with its version/],
        [[{ table: 'store', rows: [{ version: '9999' }] }], /version 9999.* reads 0010/],
        [[header, setting, { table: 'nothing', rows: [] }], /unknown table: nothing/],
        [[header, setting, { table: 'sqlite_master', rows: [{ a: 1 }] }], /unknown table/],
        [[header, setting, { table: 'settings', rows: [{ name: 'c' }] }], /row of settings/],
        [[header, setting, { table: 'settings', rows: [{ name: 'c', other: 'x' }] }], /settings/],
      ];
      for (const [parts, message] of cases) {
        await assert.rejects(store.load(stream(parts)), (error) => {
          assert.ok(error instanceof DumpError, String(error));
          assert.match(error.message, message);
          return true;
        });
      }
      const failing = (async function* (): AsyncGenerator<DumpPart> {
        yield header;
        yield setting;
        throw new Error('the archive is cut off');
      })();
      await assert.rejects(store.load(failing), /the archive is cut off/);
      assert.equal((await store.settings.all()).size, 0);
      await store.load(stream([header, setting]));
      assert.equal(await store.settings.get('a'), 'b');
      await assert.rejects(store.load(stream([header])), /not empty: there are rows in settings/);
    }));

  test('a replaced store uses no id again', () =>
    withStore(async (store) => {
      const addRepo = (name: string): Promise<number> =>
        store.repos.change(({ nextRepoId: repoId }) => ({
          changed: [{ repoId, name, visibility: 'private', enforcement: 'restricted' }],
          result: repoId,
        }));
      assert.equal(await addRepo('kept'), 1);
      const parts = await partsOf(store);
      assert.equal(await addRepo('later'), 2);
      await store.load(stream(parts), { isReplacing: true });
      assert.equal(await addRepo('other'), 3);
      const later = await partsOf(store);
      await store.load(stream(parts), { isReplacing: true });
      await store.load(stream(later), { isReplacing: true });
      assert.deepEqual(await partsOf(store), later);
    }));

  test('a load is reported as a change of everything', () =>
    withStore(async (store) => {
      const reported: unknown[] = [];
      store.onChange((change) => reported.push(change));
      await store.load(stream(await partsOf(store)));
      assert.deepEqual(reported[0], { topic: 'all' });
    }));
});

const HASH = 'a'.repeat(64);

/** One row of a table, by its columns. */
function rowOf(table: string, columns: string, values: readonly (string | number | null)[]) {
  const entries = columns.split(' ').map((name, index) => [name, values[index]!] as const);
  return { table, rows: [Object.fromEntries(entries)] };
}

/** A dump of the first form of the store, a row of each of its tables. */
const FIRST_FORM: readonly DumpPart[] = [
  rowOf('store', 'version', ['0001']),
  rowOf(
    'users',
    'id email name role password_hash suspended_at created_at updated_at last_activity_at requests_per_day ordinal',
    ['u1', 'a@example.com', 'A', 'OWNER', 'x', null, 1, 2, 3, -1, 0],
  ),
  rowOf('sessions', 'hash user_id created_at expires_at', [HASH, 'u1', 1, 9]),
  rowOf('setup_links', 'hash user_id created_at expires_at', [HASH, null, 1, null]),
  rowOf('api_keys', 'id user_id name hash created_at last_used_at ordinal', [
    'k1',
    'u1',
    'k',
    HASH,
    1,
    null,
    0,
  ]),
  rowOf('scoped_tokens', 'id hash user_id api_key_id repo_ids created_at expires_at', [
    't1',
    HASH,
    'u1',
    'k1',
    '[3,7]',
    1,
    9,
  ]),
  rowOf('grants', 'user_id repo_id', ['u1', 7]),
  rowOf('usage', 'user_id day used leases wanted_until', ['u1', '2026-11-20', 5, '[]', 0]),
  rowOf(
    'audit',
    'timestamp ordinal id action actor_id actor_type target_id target_type product_version metadata org_id',
    [1, 0, 'r1', 'user.read', 'u1', 'user', 'u1', 'user', 'v1', '{"a":1}', '1'],
  ),
  rowOf('settings', 'name value', ['a', 'b']),
];

onBothEngines('dumps of the first version', ({ withStore }) => {
  test('every row is there, and no repo gets an id named in a grant', () =>
    withStore(async (store) => {
      await store.load(stream(FIRST_FORM));
      const [, ...tables] = await partsOf(store);
      const rowsOf = (name: string): unknown => tables.find(({ table }) => table === name)?.rows;
      assert.deepEqual(rowsOf('usage'), [{ user_id: 'u1', day: '2026-11-20', used: 5 }]);
      for (const { table, rows } of FIRST_FORM.slice(1))
        if (table !== 'usage') assert.deepEqual(rowsOf(table), rows);
      assert.deepEqual(await store.grants.repoIdsOf('u1'), [7]);
      assert.deepEqual((await store.scopedTokens.listActive('u1', 0))[0]?.repoIds, [3, 7]);
      assert.equal(await store.usage.read('u1', '2026-11-20'), 5);
      const { repos, nextRepoId } = await store.repos.read();
      assert.deepEqual(repos, []);
      assert.equal(nextRepoId, 8);
    }));
});

onPostgres('dumps between engines', ({ within }) => {
  test('from the embedded store to PostgreSQL and back', () =>
    withEmbeddedLocation((first) =>
      within((second) =>
        withEmbeddedLocation(async (third) => {
          const [a, b, c] = [await first.open(), await second.open(), await third.open()];
          await fill(a);
          await b.load(a.dump());
          await c.load(b.dump());
          assert.deepEqual(await summary(b), await summary(a));
          assert.deepEqual(await partsOf(b), await partsOf(a));
          assert.deepEqual(await partsOf(c), await partsOf(a));
        }),
      ),
    ));
});
