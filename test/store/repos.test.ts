// Repos in the store: ids are never assigned twice, whatever is deleted and however many daemons write.
// tier: ci (long)

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { DumpPart } from '../../daemon/store/dump.ts';
import type { StoredLink } from '../../daemon/store/connections.ts';
import { RETURN_MS, type RepoDecision, type StoredRepo } from '../../daemon/store/repos.ts';
import type { Store } from '../../daemon/store/store.ts';
import { NAME_SIZE_MAX } from '../../daemon/repos/repo-name.ts';
import { connectionOf, hostOf, newUser, onBothEngines } from './harness.ts';

function repoOf(repoId: number, more: Partial<StoredRepo> = {}): StoredRepo {
  return { repoId, name: `r${repoId}`, visibility: 'unknown', enforcement: 'none', ...more };
}

async function addOne(store: Store): Promise<number> {
  return store.repos.change(({ nextRepoId }) => ({
    changed: [repoOf(nextRepoId)],
    result: nextRepoId,
  }));
}

onBothEngines('repos', ({ within, withStore }) => {
  test('a record round-trips as a whole', () =>
    withStore(async (store) => {
      const source = {
        kind: 'worktree',
        path: '/ä\u{1f600}/\0"',
        realPath: '/r',
        fileId: '1:2:3',
      } as const;
      const full = repoOf(3, {
        visibility: 'private',
        enforcement: 'all',
        location: source,
        remote: 'host/x',
        selection: { branches: ['a*'], tags: [] },
      });
      await store.repos.change(() => ({ changed: [full, repoOf(1)], result: 0 }));
      const { repos, nextRepoId } = await store.repos.read();
      assert.deepEqual([repos, nextRepoId], [[repoOf(1), full], 4]);
      const { location: _, selection: __, ...bare } = full;
      await store.repos.change(() => ({ changed: [bare], result: 0 }));
      assert.deepEqual((await store.repos.read()).repos, [repoOf(1), bare]);
    }));

  test('the longest name and path fit, whatever their letters', () =>
    withStore(async (store) => {
      // Text that cannot be compressed.
      const letters = [...randomBytes(NAME_SIZE_MAX)].map(
        (byte, at) => 0x4e00 + byte * 64 + (at % 64),
      );
      const path = String.fromCharCode(...letters).slice(0, NAME_SIZE_MAX / 3);
      const repo = repoOf(1, { name: `${'h'.repeat(253)}:8443/${path}`, host: hostOf(path) });
      await store.repos.change(() => ({ changed: [repo], result: 0 }));
      assert.deepEqual((await store.repos.read()).repos, [repo]);
    }));

  test('many daemons that add at once never assign an id twice', () =>
    within(async (location) => {
      const stores = await Promise.all(Array.from({ length: 3 }, () => location.open()));
      const addMany = async (store: Store): Promise<number[]> => {
        const ids: number[] = [];
        while (ids.length < 20) ids.push(await addOne(store));
        return ids;
      };
      const ids = (await Promise.all(stores.map(addMany))).flat();
      assert.deepEqual(
        ids.sort((a, b) => a - b),
        Array.from({ length: 60 }, (_, index) => index + 1),
      );
    }));

  test('ids named in grants are not assigned to a new repo', () =>
    withStore(async (store) => {
      const { id } = await newUser(store);
      await store.grants.add(id, [4, 17]);
      assert.equal(await addOne(store), 18);
      await store.grants.remove(id, [4, 17]);
      assert.equal(await addOne(store), 19);
    }));

  test('the last id is not assigned again in a store loaded from a dump', () =>
    within(async (location) => {
      const store = await location.open();
      await addOne(store);
      await store.repos.change(() => ({ changed: [repoOf(40)], result: 0 }));
      const parts: DumpPart[] = [];
      for await (const part of store.dump())
        parts.push({ ...part, rows: part.rows.filter(({ id }) => id !== 40) });
      await within(async (target) => {
        const loaded = await target.open();
        await loaded.load(
          (async function* () {
            yield* parts;
          })(),
        );
        assert.equal(await addOne(loaded), 41);
      });
    }));

  test('host data round-trips; names are swapped; removal removes grants, links and the id', () =>
    withStore(async (store) => {
      const { id } = await newUser(store);
      await store.grants.add(id, [1, 2]);
      const facts = { displayName: 'ü', topics: ['a'], pushedAt: '2026-01-01T00:00:00.000Z' };
      const [one, two] = [
        repoOf(1, { host: hostOf('1', facts) }),
        repoOf(2, { host: hostOf('2') }),
      ];
      const connection = connectionOf(7, { syncedAt: 5, wholeAt: 4 });
      const linkOf = (repoId: number, listing: number): StoredLink => ({
        connectionId: 7,
        repoId,
        listing,
        missingSince: null,
      });
      const change = (decision: Partial<RepoDecision<0>>): Promise<0> =>
        store.repos.change(() => ({ changed: [], result: 0, ...decision }));
      await change({
        changed: [one, two],
        connections: [connection],
        links: [linkOf(1, 9), linkOf(2, 3)],
      });
      const first = await store.repos.read();
      assert.deepEqual(first.repos, [one, two]);
      assert.deepEqual(first.connections, [connection]);
      assert.deepEqual(first.links, [linkOf(1, 9), linkOf(2, 3)]);
      assert.equal(first.nextConnectionId, 1_000_000_001);
      await store.connections.noteListed(7, 5, [1, 2]);
      await change({
        changed: [
          { ...one, name: two.name },
          { ...two, name: one.name },
        ],
      });
      const swapped = await store.repos.read();
      assert.deepEqual(
        swapped.repos.map(({ name }) => name),
        ['r2', 'r1'],
      );
      assert.deepEqual(swapped.links, [linkOf(1, 9), linkOf(2, 5)]);
      await change({ removed: [2] });
      const { repos, links } = await store.repos.read();
      assert.deepEqual([repos.map(({ repoId }) => repoId), links], [[1], [linkOf(1, 9)]]);
      assert.deepEqual(await store.grants.repoIdsOf(id), [1]);
      assert.equal(await addOne(store), 3);
      await change({ connections: [{ ...connection, wholeAt: 6 }] });
      await change({ removedConnections: [7] });
      const last = await store.repos.read();
      assert.deepEqual([last.connections, last.links], [[], []]);
    }));

  test('a host repo restored under its id within a month has its grants again, others do not', () =>
    within(async (location) => {
      let nowMs = 1_000;
      const store = await location.open({ now: () => nowMs });
      const [{ id: one }, { id: two }] = [await newUser(store), await newUser(store)];
      const change = (decision: Partial<RepoDecision<0>>): Promise<0> =>
        store.repos.change(() => ({ changed: [], result: 0, ...decision }));
      const hosted = repoOf(1, { host: hostOf('h') });
      const grant = async () => {
        await change({ changed: [hosted, repoOf(2)] });
        for (const id of [one, two]) await store.grants.add(id, [1, 2]);
      };
      await grant();
      await change({ removed: [1, 2] });
      const { address, hostId } = hosted.host!;
      const removed = [{ repoId: 1, address, hostId }];
      assert.deepEqual((await store.repos.read()).removed, removed, 'of hosts alone');
      assert.deepEqual(await store.grants.repoIdsOf(one), []);
      await store.users.remove(two);
      nowMs += RETURN_MS - 1;
      await change({ changed: [hosted] });
      assert.deepEqual(await store.grants.repoIdsOf(one), [1]);
      assert.deepEqual(await store.grants.repoIdsOf(two), []);
      assert.deepEqual((await store.repos.read()).removed, []);
      await change({ removed: [1] });
      nowMs += RETURN_MS;
      assert.deepEqual((await store.repos.read()).removed, [], 'its month is over');
      assert.equal(await addOne(store), 3);
    }));

  test('a change is reported to all, an empty change to nobody', () =>
    within(async (location) => {
      const store = await location.open();
      const reported: unknown[] = [];
      store.onChange((change) => reported.push(change));
      await store.repos.change(() => ({ changed: [], result: 0 }));
      assert.deepEqual(reported, []);
      await addOne(store);
      assert.deepEqual(reported[0], { topic: 'repos' });
    }));
});
