// The event loop runs while the embedded store, which answers synchronously, does long work.
// tier: ci (long)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReaderSet } from '../../daemon/store/host-readers.ts';
import type { Store } from '../../daemon/store/store.ts';
import { newRecord, newUser, onEmbedded } from './harness.ts';

/** Turns of the event loop while `run` is under way. */
async function countTimeSlices(run: () => Promise<unknown>): Promise<number> {
  const stopping = new AbortController();
  let count = 0;
  const tick = (): void => {
    count++;
    if (!stopping.signal.aborted) setImmediate(tick);
  };
  setImmediate(tick);
  await run();
  stopping.abort();
  return count;
}

async function readDump(store: Store): Promise<void> {
  for await (const _ of store.dump());
}

onEmbedded('turns of the event loop', ({ withStore }) => {
  test('long work yields at each of its steps', () =>
    withStore(async (store) => {
      const { id } = await newUser(store, 'OWNER');
      const repoIds = Array.from({ length: 10_000 }, (_, i) => i);
      const member = await newUser(store);
      const key = { repoId: 1, connection: 'gh' };
      const readers = new ReaderSet();
      for (const i of repoIds) readers.add(String(i), [`u${i}@x`]);
      await store.repos.change(() => ({
        changed: [{ repoId: 1, name: 'r', visibility: 'private', enforcement: 'all' }],
        result: undefined,
      }));
      const work: [what: string, least: number, run: () => Promise<unknown>][] = [
        ['grants.add', 15, () => store.grants.add(id, repoIds)],
        ['grants.add', 15, () => store.grants.add(member.id, repoIds)],
        ['grants.repoIdsOf', 4, () => store.grants.repoIdsOf(id)],
        ['audit.append', 15, () => store.audit.append(repoIds.map((at) => newRecord(at)))],
        ['audit.list', 1, () => store.audit.list({ offset: 0, limit: 1 })],
        ['hostReaders.replace', 15, () => store.hostReaders.replace(key, readers, 1)],
        ['hostReaders.replace', 8, () => store.hostReaders.replace(key, readers, 2)],
        ['dump', 80, () => readDump(store)],
        ['audit.prune', 15, () => store.audit.prune(10_000)],
        ['hostReaders.remove', 15, () => store.hostReaders.remove(key)],
        ['users.remove', 4, () => store.users.remove(member.id)],
        ['grants.remove', 15, () => store.grants.remove(id, repoIds)],
      ];
      for (const [what, least, run] of work) {
        const count = await countTimeSlices(run);
        assert.ok(count >= least, `${what}: ${count} turns`);
      }
    }));

  test('many consecutive or dependent calls yield too', () =>
    withStore(async (store) => {
      const { id } = await newUser(store, 'OWNER');
      const inARow = await countTimeSlices(async () => {
        for (let i = 0; i < 3_000; i++) await store.users.get(id);
      });
      assert.ok(inARow > 1, `${inARow} turns`);
      const atOnce = await countTimeSlices(() =>
        Promise.all(Array.from({ length: 300 }, (_, at) => store.users.touch(id, at))),
      );
      assert.ok(atOnce > 1, `${atOnce} turns`);
    }));
});
