// Lists of readers fetched from hosts: GitHub over HTTP, and a host with addresses; failures, what is kept then, and
// what callers see.
// tier: ci (long)

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import * as fc from 'fast-check';
import { HostLists } from '../../../daemon/accounts/host-lists.ts';
import { hostRulesOf } from '../../../daemon/accounts/host-rules.ts';
import { readConfiguration } from '../../../daemon/base/config/configuration.ts';
import { openStore, type Store } from '../../../daemon/store/store.ts';
import { createLog } from '../../../daemon/base/log.ts';
import {
  type MemberHost,
  type MemberRepo,
  MemberSync,
  type MemberSyncOptions,
} from '../../../daemon/sync/members/member-sync.ts';
import { newRecord } from '../../store/harness.ts';
import { startGithub, type FakeRepository } from '../../hosts/github-server.ts';
import { openedHost } from '../../hosts/opened.ts';
import { temporaryFolder } from '../../sources/git/fixture.ts';
import { MailHost } from './mail-host.ts';

const HOUR_MS = 3_600_000;
const AGE_MS_MAX = 24 * HOUR_MS;
const INTERVAL_MS = 6 * HOUR_MS;

function repoOf(repoId: number, change: Partial<MemberRepo> = {}): MemberRepo {
  const path = `acme/r${repoId}`;
  const name = `host.example/${path}`;
  return { repoId, name, path, hostId: String(repoId), visibility: 'private', ...change };
}

function repos(count: number): MemberRepo[] {
  return Array.from({ length: count }, (_, i) => repoOf(i + 1));
}

interface World {
  readonly store: Store;
  readonly lists: HostLists;
  readonly clock: { nowMs: number };
  readonly logged: string[];
  /** RepoIds whose connections are to be listed again. */
  readonly relisted: number[];
  connections: ReadonlySet<string>;
  /** What connections list now. */
  listed: readonly MemberRepo[];
  /** A sync as another start of the daemon has it, or another daemon. */
  start(open: () => MemberHost, own?: Partial<MemberSyncOptions>): MemberSync;
  /** Readers by repoId, of the connection `gh`. */
  counts(): Promise<Record<number, number>>;
}

async function startWorld(t: Pick<TestContext, 'after'>, listed: MemberRepo[]): Promise<World> {
  const logged: string[] = [];
  const log = createLog({ level: 'debug', format: 'text', write: (line) => logged.push(line) });
  const clock = { nowMs: Date.parse('2026-06-01T00:00:00Z') };
  const now = (): number => clock.nowMs;
  const store = await openStore({ dataDir: temporaryFolder(), log, now });
  await store.repos.change(() => ({
    changed: Array.from({ length: 60 }, (_, i) => ({
      repoId: i + 1,
      name: repoOf(i + 1).name,
      visibility: 'private',
      enforcement: 'restricted',
    })),
    result: undefined,
  }));
  const rules = {
    connections: () => world.connections,
    connectionsOf: () => [],
    ageMsMax: () => AGE_MS_MAX,
    intervalMs: () => INTERVAL_MS,
  };
  const lists = new HostLists({ store, rules, now, elapsed: now });
  await lists.load();
  const syncs: MemberSync[] = [];
  const world: World = {
    store,
    lists,
    clock,
    logged,
    relisted: [],
    connections: new Set(['gh']),
    listed,
    start(open, own) {
      const sync = new MemberSync({
        store,
        lists,
        rules,
        reposOf: () => world.listed,
        hostOf: async () => open(),
        relist: (repoId) => world.relisted.push(repoId),
        recordsOf: (repoId, connection, changes) => [
          newRecord(clock.nowMs, {
            targetId: String(repoId),
            metadata: { connection, ...changes },
          }),
        ],
        countsOf: (connection) => store.hostReaders.counts(connection, []),
        now,
        log,
        ...own,
      });
      syncs.push(sync);
      return sync;
    },
    counts: async () =>
      Object.fromEntries(
        (await store.hostReaders.lists()).map(({ repoId, readerCount }) => [repoId, readerCount]),
      ),
  };
  t.after(async () => {
    for (const sync of syncs) await sync.close();
    lists.close();
    await store.close();
  });
  return world;
}

/** A host that tells addresses, with so many repositories. */
async function mailWorld(t: TestContext, count: number) {
  const mail = new MailHost();
  const world = await startWorld(t, repos(count));
  return { mail, world, sync: world.start(() => mail) };
}

async function auditOf(store: Store): Promise<string[]> {
  const { rows } = await store.audit.list({ offset: 0, limit: 100 });
  return rows.map(({ targetId, metadata }) => `${targetId} ${JSON.stringify(metadata)}`).sort();
}

/** What does not work, but that no reader is known here. */
function messagesOf({ degradations }: MemberSync): string[] {
  return degradations.filter((words) => !words.includes('readers known'));
}

function collaborators(...logins: string[]): NonNullable<FakeRepository['collaborators']> {
  return Object.fromEntries(logins.map((login) => [login, 'read' as const]));
}

const TOKEN = 'the-token';

async function githubWorld(t: TestContext, repositories: readonly FakeRepository[]) {
  const server = await startGithub(t, { repositories: [...repositories] });
  const world = await startWorld(
    t,
    repositories.map(({ id, visibility = 'private' }) => repoOf(id, { visibility })),
  );
  const settings = {
    type: 'github',
    url: server.url,
    token: { env: 'TOKEN' },
    orgs: ['acme'],
    syncPermissions: true,
  };
  const { host } = await openedHost(t, settings, { env: { TOKEN } });
  const sync = world.start(() => ({
    nameHost: host.nameHost,
    members: (repo, signal) => host.members!(repo, signal),
  }));
  const requestedOf = (): string[] =>
    server.requested.map(({ path }) => path).filter((path) => path.endsWith('/collaborators'));
  return { world, server, sync, requestedOf };
}

test('GitHub: collaborators of non-public repositories, all pages; repeated when due', async (t) => {
  const many = Array.from({ length: 230 }, (_, i) => String.fromCodePoint(0x4e00 + i));
  const { world, server, sync, requestedOf } = await githubWorld(t, [
    { id: 1, path: 'acme/r1', collaborators: collaborators(...many) },
    { id: 2, path: 'acme/r2', visibility: 'internal', collaborators: collaborators('ann') },
    { id: 3, path: 'acme/r3', visibility: 'public', collaborators: collaborators('bob') },
    { id: 4, path: 'acme/r4', collaborators: { ann: 'read', bob: 'none' } },
  ]);
  await sync.check();
  assert.deepEqual(await world.counts(), { 1: 230, 2: 1, 4: 1 });
  assert.ok(!requestedOf().some((path) => path.includes('r3')));
  const changes = { added: 1, removed: 0, altered: 0 };
  const recordOf = (repoId: number, change: object): string =>
    `${repoId} ${JSON.stringify({ connection: 'gh', ...changes, ...change })}`;
  assert.deepEqual(await auditOf(world.store), [
    recordOf(1, { added: 230 }),
    recordOf(2, {}),
    recordOf(4, {}),
  ]);
  const before = requestedOf().length;
  await sync.check();
  assert.equal(requestedOf().length, before);
  assert.deepEqual(await sync.run('gh'), { taken: 3, removed: 0, failed: 0 });
  assert.equal((await auditOf(world.store)).length, 3);
  server.state.repositories[1] = {
    ...server.state.repositories[1]!,
    collaborators: collaborators('bob', 'eve'),
  };
  world.clock.nowMs += INTERVAL_MS;
  await sync.check();
  assert.deepEqual(await world.counts(), { 1: 230, 2: 2, 4: 1 });
  assert.ok((await auditOf(world.store)).includes(recordOf(2, { added: 2, removed: 1 })));
  // Counting takes a share of the time at most: it may be of the pass before.
  const [words, ...others] = sync.degradations;
  assert.match(
    words ?? '',
    /^connection gh: 0 of 23[13] readers known; users are matched by verified e-mail/,
  );
  assert.deepEqual(others, []);
  assert.deepEqual(await sync.run('other'), { taken: 0, removed: 0, failed: 0 });
});

test('GitHub: a failure keeps the last list, is reported with cause and end, and blocks no other', async (t) => {
  const { world, server, sync } = await githubWorld(
    t,
    [1, 2, 3].map((id) => ({ id, path: `acme/r${id}`, collaborators: collaborators('ann') })),
  );
  await sync.run('gh');
  for (const [index, one] of server.state.repositories.entries())
    server.state.repositories[index] = { ...one, collaborators: collaborators('ann', 'bob') };
  for (const status of [404, 403, 500]) {
    server.state.instead = ({ path }) =>
      path.includes('/r2/') ? { status, body: { message: 'no' } } : undefined;
    world.clock.nowMs += HOUR_MS;
    assert.deepEqual(await sync.run('gh'), { taken: 2, removed: 0, failed: 1 });
    assert.deepEqual(await world.counts(), { 1: 2, 2: 1, 3: 2 });
    const [words = ''] = messagesOf(sync);
    assert.match(words, /^the readers of host\.example\/acme\/r2 \(connection gh\) could not be/);
    assert.match(words, /counts until 2026-06-02T00:00:00\.000Z$/);
    assert.ok(world.logged.join('').includes(words));
  }
  world.clock.nowMs += AGE_MS_MAX;
  assert.match(messagesOf(sync).join(''), /expired at 2026-06-02T00:00:00\.000Z$/);
  assert.deepEqual([...world.lists.counting.keys()], []);
  server.state.instead = () => undefined;
  await sync.run('gh');
  assert.deepEqual(messagesOf(sync), []);
  assert.deepEqual(await world.counts(), { 1: 2, 2: 2, 3: 2 });
  assert.ok(!JSON.stringify([world.logged, messagesOf(sync)]).includes(TOKEN));
});

test('GitHub: the readers of another repository that took over the path are not stored', async (t) => {
  const readers = collaborators('ann', 'eve');
  const { world, server, sync } = await githubWorld(t, [
    { id: 1, path: 'acme/r1', collaborators: collaborators('ann') },
  ]);
  await sync.run('gh');
  const legacy = { ...server.state.repositories[0]!, path: 'acme/legacy' };
  server.state.repositories = [legacy, { id: 2, path: 'acme/r1', collaborators: readers }];
  world.clock.nowMs += HOUR_MS;
  assert.deepEqual(await sync.run('gh'), { taken: 0, removed: 0, failed: 1 });
  assert.deepEqual([await world.counts(), world.relisted], [{ 1: 1 }, [1]]);
  assert.match(messagesOf(sync).join(''), /another repository is at acme\/r1 now/);
});

test('GitHub: a revoked credential is not tried on every repository', async (t) => {
  const { world, server, sync, requestedOf } = await githubWorld(
    t,
    Array.from({ length: 50 }, (_, i) => ({ id: i + 1, path: `acme/r${i + 1}` })),
  );
  server.state.tokens.clear();
  await sync.check();
  assert.ok(requestedOf().length <= 8, `${requestedOf().length} asked`);
  assert.match(messagesOf(sync).join(''), /of the repositories of connection gh .*token/);
  assert.match(messagesOf(sync).join(''), /nobody sees them through their host$/);
  const requested = requestedOf().length;
  await sync.check();
  assert.equal(requestedOf().length, requested);
  server.state.tokens.set(TOKEN, 'ann');
  assert.equal((await sync.run('gh')).taken, 50);
  assert.deepEqual(messagesOf(sync), []);
  assert.equal(Object.keys(await world.counts()).length, 50);
});

test('unreadable repositories stop no other; after eight without an answer no more are asked', async (t) => {
  const { mail, world, sync } = await mailWorld(t, 30);
  for (const { path, repoId } of world.listed) {
    mail.readers.set(path, ['a@x']);
    if (repoId <= 20) mail.failing.set(path, repoId % 2 === 0 ? 'NOT_ALLOWED' : 'NOT_FOUND');
  }
  assert.deepEqual(await sync.run('gh'), { taken: 10, removed: 0, failed: 20 });
  for (const { path } of world.listed) mail.failing.set(path, 'HOST_UNAVAILABLE');
  let requested = 0;
  mail.onRequested = async () => {
    requested++;
  };
  assert.deepEqual(await sync.run('gh'), { taken: 0, removed: 0, failed: 0 });
  assert.ok(requested < 12, `${requested} asked`);
  assert.match(messagesOf(sync).join(''), /the readers of the repositories of connection gh/);
});

test('a list of more than two hundred thousand readers is refused', async (t) => {
  const { mail, world, sync } = await mailWorld(t, 1);
  mail.readers.set('acme/r1', ['a@x']);
  await sync.run('gh');
  mail.readers.set(
    'acme/r1',
    Array.from({ length: 200_001 }, (_, i) => `u${i}@x`),
  );
  assert.deepEqual(await sync.run('gh'), { taken: 0, removed: 0, failed: 1 });
  assert.match(messagesOf(sync).join(''), /more than 200000 readers, which is the limit/);
  assert.deepEqual(await world.counts(), { 1: 1 });
});

test('removed and public repositories lose their list, also during a request', async (t) => {
  const { mail, world, sync } = await mailWorld(t, 4);
  for (const { path } of world.listed) mail.readers.set(path, ['a@x']);
  await sync.run('gh');
  world.listed = [repoOf(1), repoOf(2, { visibility: 'public' }), repoOf(4)];
  await sync.check();
  assert.deepEqual(await world.counts(), { 1: 1, 4: 1 });
  mail.readers.set('acme/r1', ['b@x']);
  mail.onRequested = async (path) => {
    if (path !== 'acme/r1') return;
    world.listed = [repoOf(4)];
    await sync.dropRemoved();
  };
  await sync.run('gh');
  assert.deepEqual(await world.counts(), { 4: 1 });
  assert.deepEqual(await world.store.hostReaders.reposOf('b@x'), []);
});

test('daemons on one store keep the lists of their connections of the same name', async (t) => {
  const { mail, world } = await mailWorld(t, 2);
  for (const { path } of world.listed) mail.readers.set(path, ['a@x']);
  const syncs = ['one', 'two'].map((instance, index) => {
    const file = path.join(temporaryFolder(), 'trawl.json');
    const url = `https://${instance}.example`;
    const gh = { type: 'github', url, orgs: ['acme'], syncPermissions: true };
    writeFileSync(file, JSON.stringify({ connections: { gh } }));
    const rules = hostRulesOf(readConfiguration({ env: { TRAWL_CONFIG: file } }), instance);
    return world.start(() => mail, { rules, reposOf: () => [repoOf(index + 1)] });
  });
  for (const sync of [...syncs, ...syncs]) await sync.run('gh');
  assert.deepEqual(await world.counts(), { 1: 1, 2: 1 });
});

test('lists of a connection without sync expire', async (t) => {
  const { mail, world, sync } = await mailWorld(t, 1);
  mail.readers.set('acme/r1', ['a@x']);
  await sync.run('gh');
  world.connections = new Set();
  assert.deepEqual([...world.lists.counting.keys()], []);
  await sync.check();
  assert.deepEqual(await world.counts(), { 1: 1 });
  world.clock.nowMs += AGE_MS_MAX;
  await sync.check();
  assert.deepEqual(await world.counts(), {});
});

test('a stop leaves the rest to the next start, which repeats no request', async (t) => {
  const { mail, world, sync: first } = await mailWorld(t, 40);
  for (const { path } of world.listed) mail.readers.set(path, ['a@x']);
  await first.run('gh');
  world.clock.nowMs += HOUR_MS;
  let requestCount = 0;
  mail.onRequested = async () => {
    world.clock.nowMs++;
    if (++requestCount === 17) void first.close();
  };
  const requestedAt = world.clock.nowMs;
  await first.run('gh');
  const isTaken = ({ takenAt }: { takenAt: number }): boolean => takenAt >= requestedAt;
  const taken = (await world.store.hostReaders.lists()).filter(isTaken).length;
  assert.ok(taken >= 13 && taken <= 17, `${taken} taken`);
  mail.onRequested = async () => {};
  const requested: string[] = [];
  const second = world.start(() => ({
    nameHost: mail.nameHost,
    members: (repo, signal) => {
      requested.push(repo.path);
      return mail.members(repo, signal);
    },
  }));
  await second.check();
  assert.equal(new Set(requested).size, requested.length);
  // Those of the millisecond of the request may be from before it.
  assert.ok(
    requested.length >= 40 - taken && requested.length <= 44 - taken,
    `${requested.length} asked`,
  );
  assert.equal((await world.store.hostReaders.lists()).filter(isTaken).length, 40);
  const count = requested.length;
  await second.check();
  assert.equal(requested.length, count);
});

test('lists dated by a fast clock are fetched again', async (t) => {
  const { mail, world, sync } = await mailWorld(t, 1);
  mail.readers.set('acme/r1', ['a@x']);
  world.clock.nowMs += 100 * HOUR_MS;
  await sync.check();
  world.clock.nowMs -= 100 * HOUR_MS;
  assert.deepEqual([...world.lists.counting.keys()], []);
  await sync.check();
  assert.deepEqual([...world.lists.counting.keys()], ['gh']);
});

test('a host without reader requests is reported', async (t) => {
  const world = await startWorld(t, repos(3));
  const sync = world.start(() => ({ nameHost: 'git.example' }));
  await sync.check();
  assert.match(messagesOf(sync).join(''), /git\.example cannot list.*remove syncPermissions/);
});

const round = fc.record({
  readers: fc.dictionary(
    fc.constantFrom('acme/r1', 'acme/r2', 'acme/r3'),
    fc.subarray(['a@x', 'b@x', 'c@x']),
    { minKeys: 0 },
  ),
  failing: fc.dictionary(
    fc.constantFrom('acme/r1', 'acme/r2', 'acme/r3'),
    fc.constantFrom('NOT_FOUND', 'NOT_ALLOWED', 'HOST_UNAVAILABLE', 'cut'),
  ),
  listed: fc.subarray([1, 2, 3]),
  publicOnes: fc.subarray([1, 2, 3], { maxLength: 1 }),
  passMs: fc.constantFrom(0, HOUR_MS, 7 * HOUR_MS, 23 * HOUR_MS),
  isRestart: fc.boolean(),
});

test('random hosts: the accepted lists equal a simple model', async (t) => {
  const { mail, world } = await mailWorld(t, 0);
  const twin = new Map<number, { emails: readonly string[]; takenAt: number }>();
  let sync = world.start(() => mail);
  await fc.assert(
    fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 6 }), async (rounds) => {
      for (const { readers, failing, listed, publicOnes, passMs, isRestart } of rounds) {
        world.clock.nowMs += passMs;
        for (const [path, emails] of Object.entries(readers)) mail.readers.set(path, emails);
        mail.failing.clear();
        for (const [path, failure] of Object.entries(failing)) mail.failing.set(path, failure);
        world.listed = listed.map((repoId) =>
          repoOf(repoId, publicOnes.includes(repoId) ? { visibility: 'public' } : {}),
        );
        if (isRestart) sync = world.start(() => mail);
        await sync.run('gh');
        for (const repoId of [1, 2, 3]) {
          const path = `acme/r${repoId}`;
          const emails = mail.readers.get(path) ?? [];
          if (!listed.includes(repoId) || publicOnes.includes(repoId)) twin.delete(repoId);
          else if (!mail.failing.has(path))
            twin.set(repoId, { emails, takenAt: world.clock.nowMs });
        }
        const counting = world.lists.counting.get('gh') ?? new Set();
        for (const email of ['a@x', 'b@x', 'c@x']) {
          const [own] = await world.store.hostReaders.reposOf(email);
          const visible = (own?.repoIds ?? []).filter((repoId) => counting.has(repoId));
          const expected = [...twin].filter(
            ([, list]) =>
              list.emails.includes(email) && world.clock.nowMs - list.takenAt < AGE_MS_MAX,
          );
          const ids = new Set(expected.map(([repoId]) => repoId));
          assert.deepEqual(new Set(visible), ids, email);
        }
      }
    }),
    { numRuns: 40 },
  );
});
