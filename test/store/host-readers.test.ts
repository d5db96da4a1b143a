// Lists of the readers of a repo at its host, on both engines: replaced as a whole, with notifications for the
// affected users.
// tier: ci (PostgreSQL)

import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import * as fc from 'fast-check';
import type { NewAuditRecord } from '../../daemon/store/audit.ts';
import type { DumpPart } from '../../daemon/store/dump.ts';
import type { Change } from '../../daemon/store/engine.ts';
import { ReaderSet } from '../../daemon/store/host-readers.ts';
import type { Store } from '../../daemon/store/store.ts';
import { newRecord, newUser, onBothEngines, refuses } from './harness.ts';
import { startChild } from './processes.ts';

const ALL = { offset: 0, limit: 1_000 };

type Members = Readonly<Record<string, readonly string[]>>;

function setOf(members: Members): ReaderSet {
  const readers = new ReaderSet();
  for (const [accountId, emails] of Object.entries(members)) readers.add(accountId, emails);
  return readers;
}

async function makeRepos(store: Store, count: number): Promise<void> {
  await store.repos.change(() => ({
    changed: Array.from({ length: count }, (_, i) => ({
      repoId: i + 1,
      name: `r${i + 1}`,
      visibility: 'private',
      enforcement: 'restricted',
    })),
    result: undefined,
  }));
}

function reported(store: Store): Change[] {
  const changes: Change[] = [];
  store.onChange((change) => changes.push(change));
  return changes;
}

const GH = { repoId: 1, connection: 'gh' };

onBothEngines('lists of readers', ({ kind, within, withStore }) => {
  test('a list is replaced as a whole, and returns the changes', () =>
    withStore(async (store) => {
      await makeRepos(store, 2);
      const { hostReaders } = store;
      const replace = (members: Members, takenAt: number) =>
        hostReaders.replace(GH, setOf(members), takenAt);
      assert.deepEqual(await replace({ a: ['a@x'], b: ['b@x', 'c@x'], d: [] }, 10), {
        added: 3,
        removed: 0,
        altered: 0,
      });
      assert.deepEqual(await replace({ b: ['b@x', 'e@x'], d: [], f: ['a@x'] }, 20), {
        added: 1,
        removed: 1,
        altered: 1,
      });
      assert.deepEqual(await hostReaders.lists(), [{ ...GH, takenAt: 20, readerCount: 3 }]);
      const one = [{ connection: 'gh', repoIds: [1] }];
      for (const email of ['a@x', 'b@x', 'e@x'])
        assert.deepEqual(await hostReaders.reposOf(email), one);
      for (const email of ['c@x', '']) assert.deepEqual(await hostReaders.reposOf(email), []);
      await hostReaders.replace({ repoId: 2, connection: 'gh' }, setOf({ z: ['b@x'] }), 5);
      await hostReaders.replace({ repoId: 1, connection: 'lab' }, setOf({ q: ['b@x'] }), 5);
      assert.deepEqual(await hostReaders.reposOf('b@x'), [
        { connection: 'gh', repoIds: [1, 2] },
        { connection: 'lab', repoIds: [1] },
      ]);
      assert.deepEqual(
        await hostReaders.readersAmong(1, ['c@x', 'e@x', '', 'b@x']),
        [
          { email: 'b@x', connection: 'gh' },
          { email: 'e@x', connection: 'gh' },
          { email: 'b@x', connection: 'lab' },
        ].sort((one, other) => one.email.localeCompare(other.email)),
      );
      assert.equal(await hostReaders.remove(GH), 3);
      assert.equal(await hostReaders.remove(GH), 0);
      assert.deepEqual(await hostReaders.reposOf('e@x'), []);
      await refuses(
        hostReaders.replace({ repoId: 9, connection: 'gh' }, setOf({}), 1),
        'NOT_FOUND',
      );
      assert.equal((await hostReaders.lists()).length, 2);
    }));

  test('addresses ignore the case of A to Z, and only valid ones count', () =>
    withStore(async (store) => {
      await makeRepos(store, 1);
      const emails = [
        ' Ann@Example.COM ',
        '\u212Aate@x',
        'ÄB@x',
        'no address',
        '@',
        'a@b c',
        'nul\0@x',
      ];
      await store.hostReaders.replace(GH, setOf({ a: [...emails, `${'l'.repeat(330)}@x`] }), 1);
      const found: string[] = [];
      for (const email of [
        'ann@example.com',
        'kate@x',
        '\u212Aate@x',
        'äb@x',
        'no address',
        'nul\uFFFD@x',
      ])
        if ((await store.hostReaders.reposOf(email)).length > 0) found.push(email);
      assert.deepEqual(found, ['ann@example.com', '\u212Aate@x', 'nul\uFFFD@x']);
    }));

  test('affected users are reported, and nobody without a change', () =>
    withStore(async (store) => {
      await makeRepos(store, 1);
      const user = await store.users.create({ email: 'Ann@x', role: 'MEMBER' });
      await newUser(store);
      const changes = reported(store);
      const taken = async (members: Members, takenAt: number): Promise<unknown[]> => {
        await store.hostReaders.replace(GH, setOf(members), takenAt);
        // PostgreSQL tells it once more.
        const isLast = (change: Change): boolean =>
          'list' in change && change.list.takenAt === takenAt;
        while (changes.filter(isLast).length < (kind === 'postgres' ? 2 : 1)) await setTimeout(5);
        return changes.splice(0).flatMap((change) => ('userId' in change ? [change.userId] : []));
      };
      assert.ok((await taken({ a: ['ann@x'], b: ['b@x'] }, 1)).includes(user.id));
      assert.deepEqual(await taken({ a: ['ann@x'], c: ['b@x'] }, 2), []);
      assert.ok((await taken({ c: ['b@x'] }, 3)).includes(user.id));
      changes.length = 0;
      await store.hostReaders.remove(GH);
      assert.deepEqual(changes[0], { list: { ...GH, takenAt: null } });
    }));

  test('other daemons on the same store are notified, under any connection name', () =>
    within(async (location) => {
      if (location.kind === 'embedded') return;
      const [one, other] = [await location.open(), await location.open()];
      await makeRepos(one, 1);
      const changes = reported(other);
      const key = { repoId: 1, connection: 'a:b\nü -:' };
      await one.hostReaders.replace(key, setOf({}), 7);
      await one.hostReaders.remove(key);
      while (changes.filter((change) => 'list' in change).length < 2) await setTimeout(5);
      assert.deepEqual(
        changes.filter((change) => 'list' in change),
        [{ list: { ...key, takenAt: 7 } }, { list: { ...key, takenAt: null } }],
      );
    }));

  test('an earlier list replaces a later one only if that is from the future', () =>
    within(async (location) => {
      const store = await location.open({ now: () => 1_000 });
      await makeRepos(store, 1);
      const { hostReaders } = store;
      const record = (): NewAuditRecord[] => [newRecord(1)];
      const replace = (members: Members, takenAt: number) =>
        hostReaders.replace(GH, setOf(members), takenAt, record);
      await replace({ a: ['a@x'], b: ['b@x'] }, 100);
      // Ann has lost access; a daemon that asked before took longer.
      await replace({ b: ['b@x'] }, 300);
      const changes = reported(store);
      const none = { added: 0, removed: 0, altered: 0 };
      assert.deepEqual(await replace({ a: ['a@x'], b: ['b@x'] }, 200), none);
      assert.deepEqual(await hostReaders.reposOf('a@x'), []);
      assert.deepEqual(await hostReaders.lists(), [{ ...GH, takenAt: 300, readerCount: 1 }]);
      assert.equal((await store.audit.list(ALL)).rows.length, 2);
      const isOfEarlier = (change: Change): boolean =>
        'list' in change && change.list.takenAt === 200;
      assert.equal(changes.some(isOfEarlier), false);
      await replace({ c: ['c@x'] }, 1_001);
      assert.equal((await replace({ a: ['a@x'] }, 1_000)).added, 1);
      assert.deepEqual(await hostReaders.lists(), [{ ...GH, takenAt: 1_000, readerCount: 1 }]);
    }));

  test('many affected users are reported as one change', () =>
    withStore(async (store) => {
      await makeRepos(store, 1);
      const readers = new ReaderSet();
      for (let i = 0; i < 120; i++) readers.add(String(i), [(await newUser(store)).email]);
      const changes = reported(store);
      await store.hostReaders.replace(GH, readers, 1);
      const own = changes.filter((change) => !('userId' in change)).slice(0, 2);
      assert.deepEqual(own, [{ topic: 'readers' }, { list: { ...GH, takenAt: 1 } }]);
    }));

  test('a change is audited in its transaction, and only a change', () =>
    withStore(async (store) => {
      await makeRepos(store, 1);
      const record = (metadata: object) => [newRecord(1, { metadata: { ...metadata } })];
      const { hostReaders } = store;
      await hostReaders.replace(GH, setOf({ a: [], b: [] }), 1, record);
      await hostReaders.replace(GH, setOf({ a: [], b: [] }), 2, record);
      await hostReaders.remove(GH, record);
      await hostReaders.remove(GH, record);
      const broken = (): never => {
        throw new Error('no record');
      };
      await assert.rejects(hostReaders.replace(GH, setOf({ c: ['c@x'] }), 3, broken), /no record/);
      assert.deepEqual(await hostReaders.lists(), []);
      assert.deepEqual(
        (await store.audit.list(ALL)).rows.map(({ metadata }) => metadata),
        [
          { added: 0, removed: 2, altered: 0 },
          { added: 2, removed: 0, altered: 0 },
        ],
      );
    }));

  test('a dump with a list but without its repo is refused', () =>
    withStore(async (store) => {
      await makeRepos(store, 2);
      await store.hostReaders.replace(GH, setOf({ a: ['a@x'] }), 1);
      const parts: DumpPart[] = [];
      for await (const { table, rows } of store.dump())
        parts.push({ table, rows: table === 'repos' ? rows.filter(({ id }) => id !== 1) : rows });
      const load = store.load(Readable.from(parts), { isReplacing: true });
      await refuses(load, 'NOT_FOUND');
      assert.equal((await store.hostReaders.lists()).length, 1);
    }));

  test('five thousand readers', () =>
    withStore(async (store) => {
      await makeRepos(store, 1);
      const all = new ReaderSet();
      for (let i = 0; i < 5_000; i++) all.add(String(i), [`u${i}@example.com`]);
      assert.equal((await store.hostReaders.replace(GH, all, 1)).added, 5_000);
      const most = new ReaderSet();
      for (let i = 10; i < 5_000; i++) most.add(String(i), [`u${i}@example.com`]);
      most.add('new', []);
      assert.deepEqual(await store.hostReaders.replace(GH, most, 2), {
        added: 1,
        removed: 10,
        altered: 0,
      });
      assert.deepEqual(await store.hostReaders.lists(), [
        { ...GH, takenAt: 2, readerCount: 4_991 },
      ]);
      assert.equal((await store.hostReaders.reposOf('u4999@example.com')).length, 1);
      assert.equal((await store.hostReaders.reposOf('u9@example.com')).length, 0);
      assert.equal(await store.hostReaders.remove(GH), 4_991);
    }));

  test('random lists, sequential and concurrent, equal a simple model', () =>
    withStore(async (store) => {
      await makeRepos(store, 3);
      const members = fc.dictionary(
        fc.constantFrom('a', 'b', 'c', 'd', 'ü'),
        fc.array(fc.constantFrom('1@x', '2@x', '3@x', '4@X'), { maxLength: 3 }),
      );
      const step = fc.record({
        repoId: fc.integer({ min: 1, max: 3 }),
        connection: fc.constantFrom('gh', 'lab'),
        members: fc.option(members, { nil: undefined }),
      });
      let takenAt = 0;
      const twin = new Map<string, Members>();
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
          for (const { members, ...key } of steps) {
            const name = `${key.connection} ${key.repoId}`;
            if (members === undefined) {
              await store.hostReaders.remove(key);
              twin.delete(name);
            } else {
              const other = setOf({ other: ['other@x'] });
              // Two at once, in any order: the later one stays.
              await Promise.all([
                store.hostReaders.replace(key, other, takenAt + 1),
                store.hostReaders.replace(key, setOf(members), takenAt + 2),
              ]);
              takenAt += 2;
              twin.set(name, members);
            }
          }
          for (const email of ['1@x', '2@x', '3@x', '4@x', 'other@x']) {
            const has = ([, list]: [string, Members]): boolean =>
              Object.values(list).some((emails) =>
                emails.some((one) => one.toLowerCase() === email),
              );
            const expected = [...twin].filter(has).map(([name]) => name);
            const found = (await store.hostReaders.reposOf(email)).flatMap(
              ({ connection, repoIds }) => repoIds.map((repoId) => `${connection} ${repoId}`),
            );
            assert.deepEqual(found.sort(), expected.sort());
          }
          const counts = (await store.hostReaders.lists()).map(({ readerCount }) => readerCount);
          const expected = [...twin.values()].map((list) => Object.keys(list).length);
          const ascending = (a: number, b: number): number => a - b;
          assert.deepEqual(counts.sort(ascending), expected.sort(ascending));
        }),
        { numRuns: 15 },
      );
    }));

  test('a killed writer leaves the old list or the new one', () =>
    within(async (location) => {
      const store = await location.open();
      await makeRepos(store, 1);
      await store.close();
      for (let round = 0; round < 3; round++) {
        const child = startChild(['replace', location.dataDir, location.databaseUrl ?? '']);
        await child.line('replaced');
        await setTimeout(Math.random() * 200);
        await child.end('SIGKILL');
        const again = await location.open();
        const [list] = await again.hostReaders.lists();
        const all = Array.from({ length: 4_000 }, (_, i) => `u${i}@x`);
        const found = (await again.hostReaders.readersAmong(1, all)).map(({ email }) => email);
        const isEven = all.filter((_, i) => i % 2 === 0);
        const isOdd = all.filter((_, i) => i % 2 === 1 || i < 1_000);
        const expected = list?.readerCount === isEven.length ? isEven : isOdd;
        assert.equal(list?.readerCount, expected.length);
        assert.deepEqual(found.sort(), expected.sort());
        await again.close();
      }
    }));
});
