// Rules under concurrency: two stores on one location act as two daemons, each with many running operations. Every
// test repeats its race, as one round may succeed by chance.
// tier: ci (long)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Store } from '../../daemon/store/store.ts';
import { newHash, newToken, newUser, onBothEngines } from './harness.ts';

const ROUNDS = 6;

/** How many promises were fulfilled, and the codes of the others. */
async function outcomes(promises: readonly Promise<unknown>[]) {
  const settled = await Promise.allSettled(promises);
  const codes = settled
    .filter((result) => result.status === 'rejected')
    .map(({ reason }: { reason: Error & { errorCode?: string } }) => {
      return reason.errorCode ?? reason.message;
    });
  return { count: settled.length - codes.length, codes: [...new Set(codes)].sort() };
}

onBothEngines('concurrency', ({ within }) => {
  const withTwo = (run: (one: Store, two: Store) => Promise<void>) =>
    within(async (location) => run(await location.open(), await location.open()));

  test('two owners cannot be removed, demoted or suspended at once', () =>
    withTwo(async (one, two) => {
      let [a, b] = [await newUser(one, 'OWNER'), await newUser(one, 'OWNER')];
      const deeds = [
        (store: Store, id: string) => store.users.update(id, { role: 'MEMBER' }),
        (store: Store, id: string) => store.users.update(id, { suspendedAt: 1 }),
        (store: Store, id: string) => store.users.remove(id),
      ];
      for (let round = 0; round < ROUNDS; round++) {
        const deed = deeds[round % 3]!;
        const other = deeds[(round + (round >> 2)) % 3]!;
        const { count } = await outcomes([deed(one, a.id), other(two, b.id)]);
        assert.equal(count, 1, `round ${round}`);
        const owners = (await two.users.list()).filter(
          ({ role, suspendedAt }) => role === 'OWNER' && suspendedAt === null,
        );
        assert.equal(owners.length, 1, `round ${round}`);
        [a, b] = [owners[0]!, await newUser(one, 'OWNER')];
      }
    }));

  test('seats are assigned exactly, to new and to restored users', () =>
    withTwo(async (one, two) => {
      await newUser(one, 'OWNER');
      const suspended = await Promise.all(Array.from({ length: 10 }, () => newUser(one)));
      for (const { id } of suspended) await one.users.update(id, { suspendedAt: 1 });
      const seatMax = 8;
      const { count, codes } = await outcomes([
        ...suspended.map(({ id }, i) =>
          (i % 2 ? one : two).users.update(id, { suspendedAt: null }, { seatMax }),
        ),
        ...suspended.map((_, i) =>
          (i % 2 ? one : two).users.create(
            { email: `n${i}@example.com`, role: 'MEMBER' },
            { seatMax },
          ),
        ),
      ]);
      assert.equal(count, seatMax - 1);
      assert.deepEqual(codes, ['ORG_SEAT_COUNT_REACHED']);
      assert.equal(await one.users.countActive(), seatMax);
    }));

  test('an e-mail, a key name and a link go to one user only', () =>
    withTwo(async (one, two) => {
      const user = await newUser(one, 'OWNER');
      for (let round = 0; round < ROUNDS; round++) {
        const stores = [one, two, one, two];
        const email = `same${round}@example.com`;
        const created = await outcomes(
          stores.map((store) => store.users.create({ email, role: 'MEMBER' })),
        );
        assert.deepEqual(created, { count: 1, codes: ['USER_ALREADY_EXISTS'] });
        const key = { userId: user.id, name: `key${round}` };
        const atPath = await outcomes(
          stores.map((store) => store.apiKeys.create({ ...key, hash: newHash() })),
        );
        assert.deepEqual(atPath, { count: 1, codes: ['API_KEY_ALREADY_EXISTS'] });
        const hash = newHash();
        await one.setupLinks.create({ hash, userId: user.id, createdAt: 1, expiresAt: null });
        const taken = await outcomes(
          stores.map((store) =>
            store.users.update(user.id, { passwordHash: hash }, { link: { hash, now: 1 } }),
          ),
        );
        assert.deepEqual(taken, { count: 1, codes: ['NOT_FOUND'] });
      }
    }));

  test('of password changes that were checked with the same password one counts', () =>
    withTwo(async (one, two) => {
      const { id, passwordHash } = await newUser(one);
      let old = passwordHash;
      for (let round = 0; round < ROUNDS; round++) {
        const hashes = [1, 2, 3, 4].map((index) => `${round}.${index}`);
        const updates = hashes.map((hash, index) =>
          (index % 2 ? one : two).users.update(id, { passwordHash: hash }, { passwordHash: old }),
        );
        const updated = (await Promise.all(updates)).filter((user) => user !== undefined);
        assert.equal(updated.length, 1);
        old = (await one.users.get(id))!.passwordHash;
        assert.equal(updated[0]!.passwordHash, old);
      }
    }));

  test('the same grants added and removed at once are counted once', () =>
    withTwo(async (one, two) => {
      const { id } = await newUser(one);
      const repoIds = Array.from({ length: 1_500 }, (_, i) => i);
      for (let round = 0; round < 3; round++) {
        const shuffled = repoIds.toReversed();
        const added = await Promise.all([
          one.grants.add(id, repoIds),
          two.grants.add(id, shuffled),
          two.grants.add(id, repoIds),
        ]);
        assert.equal(added[0] + added[1] + added[2], repoIds.length);
        const removed = await Promise.all([
          one.grants.remove(id, shuffled),
          two.grants.remove(id, repoIds),
        ]);
        assert.equal(removed[0] + removed[1], repoIds.length);
      }
    }));

  test('nothing can be created for a user during removal or suspension', () =>
    withTwo(async (one, two) => {
      await newUser(one, 'OWNER');
      for (let round = 0; round < ROUNDS; round++) {
        const { id: userId } = await newUser(one);
        const hash = newHash();
        const session = { hash, userId, createdAt: 1, expiresAt: 2 };
        const isRemoved = round % 2 === 0;
        await outcomes([
          two.sessions.create(session),
          newToken(two, userId),
          two.grants.add(userId, [1, 2]),
          isRemoved ? one.users.remove(userId) : one.users.update(userId, { suspendedAt: 1 }),
        ]);
        assert.equal(await two.sessions.byHash(hash), undefined);
        assert.deepEqual(await one.scopedTokens.listActive(userId, 0), []);
        if (isRemoved) assert.deepEqual(await one.grants.repoIdsOf(userId), []);
      }
    }));

  test('daemons that start at once create one bootstrap key', () =>
    withTwo(async (one, two) => {
      const { id } = await newUser(one, 'OWNER');
      for (let round = 0; round < ROUNDS; round++) {
        const hash = newHash();
        const keys = await Promise.all(
          [one, two, one, two].map((store) => store.apiKeys.replaceBootstrap(id, hash)),
        );
        assert.equal(new Set(keys.map((key) => key.id)).size, 1);
        assert.equal((await one.apiKeys.list(id)).length, 1);
      }
    }));

  test('stores opened at once on an empty location create its tables once', () =>
    within(async (location) => {
      const stores = await Promise.all([1, 2, 3, 4].map(() => location.open()));
      const users = await Promise.all(stores.map((store) => newUser(store)));
      assert.equal(await stores[0]!.users.count(), users.length);
    }));

  test('activity recorded during a change of the user is kept', () =>
    withTwo(async (one, two) => {
      const { id } = await newUser(one);
      for (let at = 1; at < 40; at++) {
        await Promise.all([one.users.touch(id, at), two.users.update(id, { name: String(at) })]);
        assert.equal((await one.users.get(id))?.lastActivityAt, at);
      }
    }));
});
