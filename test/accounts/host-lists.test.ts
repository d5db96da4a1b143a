// What callers see through lists of readers, against a simple model: random users, lists, clocks, licences,
// configurations and restarts on a real store. Callers are identified by key, as in requests.
// tier: ci (PostgreSQL)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { Callers } from '../../daemon/accounts/callers.ts';
import { hashCredential, makeCredential } from '../../daemon/accounts/credentials.ts';
import { HostLists } from '../../daemon/accounts/host-lists.ts';
import { RepoAccessResolver } from '../../daemon/accounts/repo-access-resolver.ts';
import { ReaderSet } from '../../daemon/store/host-readers.ts';
import type { Store } from '../../daemon/store/store.ts';
import { createLog } from '../../daemon/base/log.ts';
import { RepoDirectory } from '../../daemon/repos/directory.ts';
import type { RepoRecord } from '../../daemon/repos/records.ts';
import { canSee } from '../../daemon/repos/repo-access.ts';
import { repo } from '../http/harness.ts';
import { onBothEngines, withEmbeddedLocation } from '../store/harness.ts';

const SECRET = Buffer.alloc(32, 7);
const HOUR_MS = 3_600_000;
const AGE_MS_MAX = 24 * HOUR_MS;
const AHEAD_MS_MAX = 60_000;
const EMAILS = ['ann@x.org', 'bob@x.org', 'eve@x.org'];
const CONNECTIONS = ['gh', 'lab'];
const REPO_IDS = [1, 2, 3, 4];

/** Repo 4 is public, but nobody sees it without a grant all the same. */
function records(): readonly RepoRecord[] {
  return REPO_IDS.map((repoId) =>
    repo(repoId, `r${repoId}`, {
      enforcement: repoId === 4 ? 'all' : 'restricted',
      visibility: repoId === 4 ? 'public' : 'private',
    }),
  );
}

async function makeRepos(store: Store): Promise<void> {
  await store.repos.change(() => ({
    changed: records().map(({ repoId, name, visibility, enforcement }) => ({
      repoId,
      name,
      visibility,
      enforcement: enforcement ?? 'none',
    })),
    result: undefined,
  }));
}

/** What stands outside of the daemon. */
interface Circumstances {
  /** Passes whatever the clock says. */
  trueMs: number;
  /** What the clock is wrong by. */
  offsetMs: number;
  hasGrants: boolean;
  connections: ReadonlySet<string>;
}

const NO_GRANTS: readonly [] = [];

/** A daemon on a store, as far as it finds callers. */
async function startDaemon(store: Store, now: Circumstances) {
  const log = createLog({ level: 'error', format: 'text', write: () => {} });
  const clock = (): number => now.trueMs + now.offsetMs;
  const lists = new HostLists({
    store,
    rules: {
      connections: () => now.connections,
      connectionsOf: () => [],
      ageMsMax: () => AGE_MS_MAX,
      intervalMs: () => HOUR_MS,
    },
    now: clock,
    elapsed: () => now.trueMs,
  });
  await lists.load();
  const repos = records();
  const accessResolver = new RepoAccessResolver({
    directory: new RepoDirectory(() => repos),
    configuredGrants: () => NO_GRANTS,
    countingLists: () => lists.counting,
    hasGrants: () => now.hasGrants,
    areRulesLoaded: () => true,
  });
  const callers = new Callers({
    store,
    secret: SECRET,
    accessResolver,
    settings: () => ({ storeGraceMs: 0, apiKeyHeaderAliases: [] }),
    isAnonymousAllowed: () => true,
    hasScopedTokens: () => true,
    hostAccountsOf: async () => [],
    issuerTokens: { userOf: async () => undefined, isAccepted: () => false },
    hasOAuth: () => false,
    tokenUse: () => () => false,
    cookieScope: () => ({ basePath: '', isSecure: false }),
    now: clock,
    log,
  });
  return {
    lists,
    async visibleTo(key: string | undefined): Promise<number[]> {
      const headers = new Map(key === undefined ? [] : [['authorization', `Bearer ${key}`]]);
      const caller = await callers.finder(headers, () => NO_REQUEST)();
      return REPO_IDS.filter((repoId) => caller !== undefined && canSee(caller.repoAccess, repoId));
    },
    close(): void {
      callers.close();
      lists.close();
    },
  };
}

const NO_REQUEST = { method: 'GET', path: '/', origins: [] };

async function makeKey(store: Store, userId: string): Promise<string> {
  const value = makeCredential('api_key');
  await store.apiKeys.create({ userId, name: 'k', hash: hashCredential(SECRET, value) });
  return value;
}

interface TwinList {
  readonly emails: readonly string[];
  readonly takenAt: number;
  /** When it was taken in truth, and when this daemon heard of it, with the age that the clock gave it. */
  readonly takenTrueMs: number;
  receivedTrueMs: number;
  receivedAgeMs: number;
  /** False: a daemon was started by a clock that makes it younger than it is, which nothing tells. */
  isAgeKnown: boolean;
}

interface Twin {
  /** Keys by e-mail; every user has but one. */
  readonly users: Map<string, { readonly id: string; readonly key: string }>;
  readonly lists: Map<string, TwinList>;
}

function expectedFor(email: string, twin: Twin, now: Circumstances): number[] {
  const clockMs = now.trueMs + now.offsetMs;
  return REPO_IDS.filter((repoId) =>
    CONNECTIONS.some((connection) => {
      const list = twin.lists.get(`${connection} ${repoId}`);
      if (list?.emails.includes(email) !== true) return false;
      const clockAgeMs = clockMs - list.takenAt;
      const ageMs = list.receivedAgeMs + now.trueMs - list.receivedTrueMs;
      const counts = clockAgeMs >= -AHEAD_MS_MAX && clockAgeMs < AGE_MS_MAX && ageMs < AGE_MS_MAX;
      return now.hasGrants && now.connections.has(connection) && counts;
    }),
  );
}

type Daemon = Awaited<ReturnType<typeof startDaemon>>;

async function check(daemon: Daemon, twin: Twin, now: Circumstances): Promise<void> {
  assert.deepEqual(await daemon.visibleTo(undefined), []);
  for (const [email, { key }] of twin.users) {
    const visible = await daemon.visibleTo(key);
    assert.deepEqual(visible, expectedFor(email, twin, now), email);
    for (const repoId of visible) {
      const isFresh = CONNECTIONS.some((connection) => {
        const list = twin.lists.get(`${connection} ${repoId}`);
        if (list?.emails.includes(email) !== true) return false;
        return !list.isAgeKnown || now.trueMs - list.takenTrueMs < AGE_MS_MAX;
      });
      assert.ok(isFresh, `${email} sees ${repoId} by what is older than it may be`);
    }
  }
}

const someEmails = fc.subarray(EMAILS);
const steps = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('list' as const),
      repoId: fc.constantFrom(...REPO_IDS),
      connection: fc.constantFrom(...CONNECTIONS),
      emails: fc.option(someEmails, { nil: undefined }),
    }),
    fc.record({ kind: fc.constant('user' as const), email: fc.constantFrom(...EMAILS) }),
    fc.record({
      kind: fc.constant('pass' as const),
      ms: fc.constantFrom(1, 59_999, HOUR_MS, 13 * HOUR_MS, AGE_MS_MAX),
    }),
    fc.record({
      kind: fc.constant('clock' as const),
      ms: fc.constantFrom(
        -30 * HOUR_MS,
        -5 * HOUR_MS,
        -60_001,
        -500,
        500,
        7 * HOUR_MS,
        40 * HOUR_MS,
      ),
    }),
    fc.record({ kind: fc.constant('licence' as const), hasGrants: fc.boolean() }),
    fc.record({
      kind: fc.constant('configuration' as const),
      connections: fc.subarray(CONNECTIONS),
    }),
    fc.record({ kind: fc.constant('restart' as const) }),
    fc.record({ kind: fc.constant('everything' as const) }),
  ),
  { minLength: 1, maxLength: 40 },
);
type Step = typeof steps extends fc.Arbitrary<readonly (infer One)[]> ? One : never;

async function removeAll(store: Store): Promise<void> {
  for (const { id } of await store.users.list()) await store.users.remove(id).catch(() => {});
  for (const key of await store.hostReaders.lists()) await store.hostReaders.remove(key);
}

/** A user comes, goes, or comes again as another one with the same address. */
async function changeUser(store: Store, twin: Twin, email: string): Promise<void> {
  const existing = twin.users.get(email);
  if (existing !== undefined) {
    await store.users.remove(existing.id);
    twin.users.delete(email);
    return;
  }
  const { id } = await store.users.create({ email: email.toUpperCase(), role: 'MEMBER' });
  twin.users.set(email, { id, key: await makeKey(store, id) });
}

async function changeList(
  store: Store,
  twin: Twin,
  now: Circumstances,
  { repoId, connection, emails }: Extract<Step, { kind: 'list' }>,
): Promise<void> {
  const name = `${connection} ${repoId}`;
  if (emails === undefined) {
    await store.hostReaders.remove({ repoId, connection });
    twin.lists.delete(name);
    return;
  }
  const readers = new ReaderSet();
  for (const email of emails) readers.add(`of ${email}`, [email.replace('x.org', 'X.Org')]);
  readers.add('unverified', []);
  const takenAt = now.trueMs + now.offsetMs;
  await store.hostReaders.replace({ repoId, connection }, readers, takenAt);
  const receipt = { receivedTrueMs: now.trueMs, receivedAgeMs: 0, isAgeKnown: true };
  twin.lists.set(name, { emails, takenAt, takenTrueMs: now.trueMs, ...receipt });
}

const AT_FIRST: Circumstances = {
  trueMs: 1_000 * HOUR_MS,
  offsetMs: 0,
  hasGrants: true,
  connections: new Set(CONNECTIONS),
};

/** @param now  also the clock of the store */
async function runSteps(store: Store, now: Circumstances, all: readonly Step[]): Promise<void> {
  Object.assign(now, AT_FIRST);
  const twin: Twin = { users: new Map(), lists: new Map() };
  let daemon = await startDaemon(store, now);
  const restart = async (): Promise<void> => {
    daemon.close();
    daemon = await startDaemon(store, now);
    for (const list of twin.lists.values()) {
      list.receivedTrueMs = now.trueMs;
      list.receivedAgeMs = Math.max(0, now.trueMs + now.offsetMs - list.takenAt);
      if (list.receivedAgeMs < now.trueMs - list.takenTrueMs) list.isAgeKnown = false;
    }
  };
  for (const email of EMAILS) await changeUser(store, twin, email);
  try {
    for (const step of all) {
      switch (step.kind) {
        case 'list':
          await changeList(store, twin, now, step);
          break;
        case 'user':
          await changeUser(store, twin, step.email);
          break;
        case 'pass':
          now.trueMs += step.ms;
          break;
        case 'clock':
          now.offsetMs += step.ms;
          break;
        case 'licence':
          now.hasGrants = step.hasGrants;
          break;
        case 'configuration':
          now.connections = new Set(step.connections);
          break;
        case 'restart':
          await restart();
          break;
        case 'everything':
          // As when the connection to PostgreSQL is back.
          await daemon.lists.load();
      }
      await check(daemon, twin, now);
    }
  } finally {
    daemon.close();
    await removeAll(store);
  }
}

onBothEngines('lists of readers and callers', ({ kind, within }) => {
  test('each caller sees what the model says, after every step', () =>
    within(async (location) => {
      const now = { ...AT_FIRST };
      const store = await location.open({ now: () => now.trueMs + now.offsetMs });
      await makeRepos(store);
      const owner = await store.users.create({ email: 'owner@x.org', role: 'OWNER' });
      await fc.assert(
        fc.asyncProperty(steps, (all) => runSteps(store, now, all)),
        { numRuns: kind === 'postgres' ? 8 : 60 },
      );
      assert.ok((await store.users.get(owner.id)) !== undefined);
    }));
});

test('a list expires by elapsed time, even if the clock was set back slightly', () =>
  withEmbeddedLocation(async (location) => {
    const store = await location.open();
    await makeRepos(store);
    const { id } = await store.users.create({ email: 'ann@x.org', role: 'MEMBER' });
    const key = await makeKey(store, id);
    const now = {
      trueMs: 1_000 * HOUR_MS,
      offsetMs: 0,
      hasGrants: true,
      connections: new Set(['gh']),
    };
    const daemon = await startDaemon(store, now);
    const readers = new ReaderSet();
    readers.add('a', ['ann@x.org']);
    await store.hostReaders.replace({ repoId: 1, connection: 'gh' }, readers, now.trueMs);
    now.offsetMs = -500;
    assert.deepEqual(await daemon.visibleTo(key), [1]);
    now.trueMs += AGE_MS_MAX - 1;
    assert.deepEqual(await daemon.visibleTo(key), [1]);
    now.trueMs += 1;
    assert.deepEqual(await daemon.visibleTo(key), []);
    // Read once more it is no younger.
    await daemon.lists.load();
    assert.deepEqual(await daemon.visibleTo(key), []);
    daemon.close();
  }));

test('thousands of replaced lists do not change the cached data of a user', () =>
  withEmbeddedLocation(async (location) => {
    const store = await location.open();
    await makeRepos(store);
    const now = { trueMs: HOUR_MS, offsetMs: 0, hasGrants: true, connections: new Set(['gh']) };
    const daemon = await startDaemon(store, now);
    const readers = new ReaderSet();
    readers.add('a', ['ann@x.org']);
    const take = (repoId: number) =>
      store.hostReaders.replace({ repoId, connection: 'gh' }, readers, now.trueMs);
    await take(1);
    const first = daemon.lists.counting;
    now.trueMs += HOUR_MS;
    await take(1);
    assert.equal(daemon.lists.counting, first);
    // Past the end of the first one: the second counts.
    now.trueMs += AGE_MS_MAX - 1;
    assert.equal(daemon.lists.counting, first);
    await take(2);
    assert.notEqual(daemon.lists.counting, first);
    now.trueMs += 1;
    assert.deepEqual([...daemon.lists.counting.get('gh')!], [2]);
    daemon.close();
  }));
