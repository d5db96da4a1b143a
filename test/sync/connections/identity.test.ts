// The identity of repos over random histories of hosts: repositories are added, renamed, deleted and restored,
// connections move, and listings are incomplete. Each connection has two targets, the owners of the paths. A simple
// model says what is right.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import type { StoredRepos, RepoDecision, StoredRepo } from '../../../daemon/store/repos.ts';
import {
  connectionSchema,
  type ConnectionSettings,
} from '../../../daemon/base/config/connections.ts';
import { issueOf } from '../../../daemon/hosts/failures.ts';
import {
  HostError,
  type HostRepo,
  type ListingIssue,
  type ListingPage,
} from '../../../daemon/hosts/host.ts';
import { configure } from '../../../daemon/sync/connections/configure.ts';
import { endListing, type ListingEnd } from '../../../daemon/sync/connections/end-listing.ts';
import { LinkIndex } from '../../../daemon/sync/connections/link-index.ts';
import { notePage, type TargetStates } from '../../../daemon/sync/connections/target-states.ts';
import { removalsOf } from '../../../daemon/sync/connections/cleanup-jobs.ts';
import { addressOf } from '../../../daemon/sync/connections/rules.ts';
import { admitListed } from '../../../daemon/sync/connections/which-listed.ts';
import { SEED } from '../../seed.ts';
import { settingsOf } from './local-host.ts';

const HOSTS = ['alpha', 'beta'] as const;
const PATHS = ['o/a', 'o/b', 'p/a', 'o/a-2'];
const OWNERS = ['o', 'p'] as const;
/** What becomes of an owner in a listing; `empty`: the host answers that there is nothing, whatever there is. */
const FATES = ['fine', 'fine', 'fine', 'empty', 'refused', 'open'] as const;
type Fates = Readonly<Record<(typeof OWNERS)[number], (typeof FATES)[number]>>;
const CONNECTIONS = ['one', 'two'] as const;
type HostName = (typeof HOSTS)[number];

interface Hosted {
  readonly host: HostName;
  readonly hostId: string;
  path: string | undefined;
  isPrivate: boolean;
}

interface Connection {
  host: HostName;
  isEnforcing: boolean;
  isEnforcingPublic: boolean;
  keepDeleted: boolean;
}

const operation = fc.oneof(
  fc.record({
    kind: fc.constant('make' as const),
    host: fc.constantFrom(...HOSTS),
    path: fc.constantFrom(...PATHS),
  }),
  fc.record({
    kind: fc.constant('move' as const),
    which: fc.nat(9),
    path: fc.constantFrom(...PATHS, undefined),
  }),
  fc.record({ kind: fc.constant('publish' as const), which: fc.nat(9) }),
  fc.record({
    kind: fc.constant('configure' as const),
    name: fc.constantFrom(...CONNECTIONS),
    settings: fc.option(
      fc.record({
        host: fc.constantFrom(...HOSTS),
        isEnforcing: fc.boolean(),
        isEnforcingPublic: fc.boolean(),
        keepDeleted: fc.boolean(),
      }),
    ),
  }),
  fc.record({
    kind: fc.constant('list' as const),
    name: fc.constantFrom(...CONNECTIONS),
    pageSize: fc.integer({ min: 1, max: 4 }),
    fates: fc.record({ o: fc.constantFrom(...FATES), p: fc.constantFrom(...FATES) }),
    /** Pages after which it ends without an end. */
    pageMax: fc.integer({ min: 0, max: 6 }),
  }),
  fc.record({ kind: fc.constant('clean' as const) }),
);
type Operation = typeof operation extends fc.Arbitrary<infer One> ? One : never;
type OperationOf<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>;

class World {
  readonly hosted: Hosted[] = [];
  readonly connections = new Map<string, Connection>();
  /** A source of this machine has one of the names. */
  stored: StoredRepos = {
    repos: [{ repoId: 1, name: 'alpha/o/b', visibility: 'unknown', enforcement: 'none' }],
    removed: [],
    nextRepoId: 2,
    connections: [],
    links: [],
    nextConnectionId: 1,
  };
  /** Ids of repos by what they are, for ever: one that was removed gets its own back. */
  readonly ids = new Map<string, number>();
  /** What each connection has since its last listing, once there was a whole one under the settings that it has now. */
  readonly #whole = new Map<string, ReadonlySet<string>>();
  /** By connection and repo, the owners that may have it: it was listed there, and not left out since. */
  readonly #owners = new Map<string, Set<string>>();
  #lastId = 1;
  #now = 0;

  run(one: Operation): void {
    switch (one.kind) {
      case 'make':
        return this.#make(one);
      case 'move':
        return this.#move(one);
      case 'publish': {
        const hosted = this.hosted[one.which % this.hosted.length];
        if (hosted !== undefined) hosted.isPrivate = !hosted.isPrivate;
        return;
      }
      case 'configure':
        return this.#configure(one);
      case 'list':
        return this.#list(one);
      case 'clean':
        return this.#clean();
    }
  }

  #make({ host, path }: OperationOf<'make'>): void {
    this.#leave(host, path);
    this.hosted.push({ host, hostId: `${this.hosted.length}`, path, isPrivate: false });
  }

  /** Undefined: it is deleted; one that was deleted comes back. */
  #move({ which, path }: OperationOf<'move'>): void {
    const hosted = this.hosted[which % this.hosted.length];
    if (hosted === undefined) return;
    if (path !== undefined) this.#leave(hosted.host, path);
    hosted.path = path;
  }

  /** Who has the path gives it up. */
  #leave(host: HostName, path: string): void {
    for (const one of this.hosted) if (one.host === host && one.path === path) one.path = undefined;
  }

  #configure({ name, settings }: OperationOf<'configure'>): void {
    if (!isDeepStrictEqual(settings, this.connections.get(name) ?? null)) this.#whole.delete(name);
    if (settings === null) this.connections.delete(name);
    else this.connections.set(name, settings);
    const connections = Object.fromEntries(
      [...this.connections].map(([name, one]): [string, ConnectionSettings] => [name, full(one)]),
    );
    this.#keep(
      configure(this.stored, { instance: 'i', isAlone: false, connections, now: ++this.#now }),
    );
  }

  #list({ name, pageSize, fates, pageMax }: OperationOf<'list'>): void {
    const connection = this.connections.get(name);
    const { connectionId } = this.stored.connections.find((one) => one.name === name) ?? {};
    if (connection === undefined || connectionId === undefined) return;
    let end: ListingEnd | undefined;
    let before: { listing: number; targets: TargetStates } | undefined;
    const had = this.#presentOf(connectionId);
    for (let again = 0; again < 2 && end === undefined; again++) {
      const listing = ++this.#now;
      const targets: TargetStates = {};
      const found = new Map<string, Set<string>>();
      let pages = 0;
      for (const page of this.#pagesOf(connection.host, fates, pageSize)) {
        if (pages++ >= pageMax) return;
        this.#admit(connectionId, listing, connection.host, page);
        notePage(targets, page);
        for (const one of page.hosted) found.set(one.hostId, new Set([ownerOf(one)!]));
      }
      const ended = { connectionId, listing, targets, found, now: ++this.#now };
      end = this.#keep(
        endListing(this.stored, before === undefined ? ended : { ...ended, before }),
      );
      before = { listing, targets };
    }
    assert.ok(end);
    this.#checkListed(connectionId, connection, fates, had);
    const isSettled = !Object.values(fates).includes('open') && end.emptied.length === 0;
    if (isSettled || this.#whole.has(name)) this.#whole.set(name, this.#presentOf(connectionId));
  }

  /** As the host gives them, each of an owner. */
  #pagesOf(host: HostName, fates: Fates, pageSize: number): Page[] {
    return OWNERS.flatMap((owner): Page[] => {
      const fate = fates[owner];
      const all = fate === 'fine' ? this.#hostedOf(host, owner) : [];
      const page = (hosted: readonly Hosted[], issues: ListingIssue[] = []): Page => ({
        hosted,
        repos: hosted.map((one) => hostRepo(host, one)),
        issues,
        target: { name: owner, listedCount: hosted.length, again: [] },
      });
      const code = { refused: 'NOT_FOUND', open: 'HOST_UNAVAILABLE' };
      if (fate === 'refused' || fate === 'open')
        return [page([], [issueOf(new HostError(code[fate], fate), { name: owner })])];
      const starts = all.map((_, index) => index).filter((index) => index % pageSize === 0);
      return [
        ...starts.map((start) => page(all.slice(start, start + pageSize))),
        ...(starts.length === 0 ? [page([])] : []),
      ];
    });
  }

  #hostedOf(host: HostName, owner: string): Hosted[] {
    return this.hosted.filter((one) => one.host === host && ownerOf(one) === owner);
  }

  /** By what they are. */
  #presentOf(connectionId: number): Set<string> {
    const present = this.stored.links.filter(
      (link) => link.connectionId === connectionId && link.missingSince === null,
    );
    const keys = new Map([...this.ids].map(([key, repoId]) => [repoId, key]));
    return new Set(present.map(({ repoId }) => keys.get(repoId)!));
  }

  #admit(
    connectionId: number,
    listing: number,
    host: HostName,
    { hosted: page, repos }: Page,
  ): void {
    const targets = new Map(page.map((one) => [one.hostId, new Set([ownerOf(one)!])]));
    for (const one of page) this.#noteOwner(connectionId, `${host} ${one.hostId}`, ownerOf(one)!);
    const comesFirst = (): boolean => false;
    const input = { connectionId, listing, nameHost: host, repos, targets, comesFirst };
    const listed = { ...input, codeHostType: 'gitea' } as const;
    const { repos: admitted } = this.#keep(admitListed(this.stored, listed));
    for (const [index, { repoId }] of admitted.entries()) {
      const key = `${host} ${page[index]!.hostId}`;
      const existing = this.ids.get(key);
      if (existing === undefined) assert.ok(repoId > this.#lastId, 'an id was given out again');
      else assert.equal(repoId, existing, 'a repo has another id');
      this.#lastId = Math.max(this.#lastId, repoId);
      this.ids.set(key, repoId);
      const repo = this.#repo(repoId);
      assert.equal(repo?.visibility, page[index]!.isPrivate ? 'private' : 'public');
    }
  }

  #noteOwner(connectionId: number, key: string, owner: string): void {
    const isThere = this.#presentOf(connectionId).has(key);
    const owners = isThere ? this.#owners.get(`${connectionId} ${key}`) : undefined;
    this.#owners.set(`${connectionId} ${key}`, (owners ?? new Set()).add(owner));
  }

  /**
   * What was listed is there under its name; what was not is gone, unless one of its owners could not be read, or was empty, or
   * nothing is left of the connection.
   */
  #checkListed(
    connectionId: number,
    { host }: Connection,
    fates: Fates,
    had: ReadonlySet<string>,
  ): void {
    const listed = OWNERS.filter((owner) => fates[owner] === 'fine').flatMap((owner) =>
      this.#hostedOf(host, owner),
    );
    const expected = new Set(listed.map(({ hostId }) => `${host} ${hostId}`));
    const isProven = (owner: string): boolean => listed.some((one) => ownerOf(one) === owner);
    const missed = [...had].filter((key) => !expected.has(key));
    const kept = missed.filter(
      (key) => ![...(this.#owners.get(`${connectionId} ${key}`) ?? [])].every(isProven),
    );
    const isAllGone = expected.size === 0;
    for (const key of isAllGone ? missed : kept) expected.add(key);
    assert.deepEqual([...this.#presentOf(connectionId)].sort(), [...expected].sort());
    for (const one of listed) {
      const owners = this.#owners.get(`${connectionId} ${host} ${one.hostId}`)!;
      for (const owner of OWNERS)
        if (owner !== ownerOf(one) && !['open', 'refused'].includes(fates[owner]))
          owners.delete(owner);
    }
    for (const one of listed) {
      const { name } = this.#repo(this.ids.get(`${host} ${one.hostId}`)!)!;
      const full = `${host}/${one.path}`;
      const isTaken = full === 'alpha/o/b';
      assert.ok(isTaken ? /^alpha\/o\/b-\d+$/.test(name) : name === full, `${name} for ${full}`);
    }
  }

  /** What is to go is known to no connection that is configured, and not kept. */
  #clean(): void {
    const removals = removalsOf(this.stored, 0);
    const links = new LinkIndex(this.stored);
    for (const { repo } of removals) {
      const { repoId } = repo;
      assert.ok(links.isMissing(repoId) && !links.isKept(repoId));
      const [key] = [...this.ids].find(([, id]) => id === repoId)!;
      for (const [name, { host }] of this.connections)
        if (key.startsWith(`${host} `))
          assert.equal(this.#whole.get(name)?.has(key), false, 'it may still be there');
    }
    const removed = removals.map(({ repo }) => repo.repoId);
    for (const repoId of removed) links.forget(repoId);
    this.#keep({ changed: [], removed, removedConnections: links.spentConnections, result: 0 });
  }

  #repo(repoId: number): StoredRepo | undefined {
    return this.stored.repos.find((repo) => repo.repoId === repoId);
  }

  /** Keeps a decision as the store does. */
  #keep<Result>(decision: RepoDecision<Result>): Result {
    const {
      changed,
      removed = [],
      connections = [],
      removedConnections = [],
      links = [],
    } = decision;
    const { stored } = this;
    const repos = new Map(stored.repos.map((repo) => [repo.repoId, repo]));
    const gone = new Map(stored.removed.map((repo) => [repo.repoId, repo]));
    for (const repo of changed) repos.set(repo.repoId, repo);
    for (const { repoId } of changed) gone.delete(repoId);
    for (const repoId of removed) {
      const { address, hostId } = repos.get(repoId)!.host!;
      gone.set(repoId, { repoId, address, hostId });
      repos.delete(repoId);
    }
    const kept = new Map(stored.connections.map((one) => [one.connectionId, one]));
    for (const one of connections) kept.set(one.connectionId, one);
    for (const id of removedConnections) kept.delete(id);
    const linked = new Map(
      [...stored.links, ...links].map((link) => [`${link.connectionId} ${link.repoId}`, link]),
    );
    for (const { connectionId } of links) assert.ok(kept.has(connectionId), 'a link to nothing');
    const last = Math.max(0, ...changed.map(({ repoId }) => repoId));
    const lastConnection = Math.max(0, ...connections.map(({ connectionId }) => connectionId));
    this.stored = {
      repos: [...repos.values()].sort((a, b) => a.repoId - b.repoId),
      removed: [...gone.values()],
      nextRepoId: Math.max(stored.nextRepoId, last + 1),
      connections: [...kept.values()],
      links: [...linked.values()].filter(
        ({ connectionId, repoId }) => kept.has(connectionId) && repos.has(repoId),
      ),
      nextConnectionId: Math.max(stored.nextConnectionId, lastConnection + 1),
    };
    this.#check();
    return decision.result;
  }

  #check(): void {
    const { repos, links } = this.stored;
    assert.equal(new Set(repos.map(({ name }) => name)).size, repos.length, 'a name twice');
    assert.equal(this.#repo(1)?.name, 'alpha/o/b');
    for (const { repoId, enforcement, visibility, host } of repos) {
      if (host === undefined) continue;
      const own = links.filter((link) => link.repoId === repoId);
      const rules = own.flatMap(({ connectionId }) => {
        const { name } = this.stored.connections.find((one) => one.connectionId === connectionId)!;
        return this.connections.get(name) ?? [];
      });
      assert.ok(own.length > 0, 'a repo of no connection');
      if (own.every(({ missingSince }) => missingSince !== null))
        assert.equal(visibility, 'unknown');
      if (rules.length > 0) assert.equal(enforcement, strictest(rules));
    }
  }
}

interface Page extends ListingPage {
  readonly hosted: readonly Hosted[];
}

function ownerOf({ path }: Hosted): string | undefined {
  return path?.split('/')[0];
}

function hostRepo(host: HostName, { hostId, path, isPrivate }: Hosted): HostRepo {
  return {
    hostId,
    path: path!,
    cloneUrl: `https://${host}/${path}.git`,
    isFork: false,
    isArchived: false,
    visibility: isPrivate ? 'private' : 'public',
    topics: [],
  };
}

function strictest(rules: readonly Connection[]): string {
  if (!rules.some(({ isEnforcing }) => isEnforcing)) return 'none';
  return rules.some(({ isEnforcingPublic }) => isEnforcingPublic) ? 'all' : 'restricted';
}

function full({
  host,
  isEnforcing,
  isEnforcingPublic,
  keepDeleted,
}: Connection): ConnectionSettings {
  return settingsOf({
    url: `https://${host}`,
    enforcePermissions: isEnforcing,
    enforcePermissionsForPublicRepos: isEnforcingPublic,
    keepDeleted,
  });
}

const LOOSE = { isEnforcing: false, isEnforcingPublic: false, keepDeleted: false };
const WHOLE = { kind: 'list', pageSize: 4, fates: { o: 'fine', p: 'fine' }, pageMax: 6 } as const;

/** A connection goes, and another one is switched to its host: what it had there is not gone. */
const SWITCHED: Operation[] = [
  { kind: 'make', host: 'alpha', path: 'o/a' },
  { kind: 'make', host: 'beta', path: 'o/a' },
  { ...WHOLE, name: 'one' },
  { kind: 'configure', name: 'two', settings: { host: 'beta', ...LOOSE } },
  { ...WHOLE, name: 'two' },
  { kind: 'configure', name: 'two', settings: null },
  { kind: 'configure', name: 'one', settings: { host: 'beta', ...LOOSE } },
  { kind: 'clean' },
];

/** A repository moves between owners and is deleted, when its former owner has nothing else. */
const MOVED: Operation[] = [
  { kind: 'make', host: 'alpha', path: 'o/a' },
  { kind: 'make', host: 'alpha', path: 'p/a' },
  { ...WHOLE, name: 'one' },
  { kind: 'move', which: 0, path: 'p/b' },
  { ...WHOLE, name: 'one' },
  { kind: 'move', which: 0, path: undefined },
  { ...WHOLE, name: 'one' },
  { kind: 'clean' },
];

test(`ids, names and rules over random histories of hosts, seed ${SEED}`, () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 60 }), (operations) => {
      const world = new World();
      for (const name of CONNECTIONS)
        world.run({ kind: 'configure', name, settings: { host: 'alpha', ...LOOSE } });
      for (const one of operations) world.run(one);
    }),
    { seed: SEED, numRuns: 1500, examples: [[SWITCHED], [MOVED]] },
  );
});

function settingsOfFolder(folder: string): ConnectionSettings {
  return connectionSchema.parse({ type: 'git', url: `file://${folder}` });
}

test('an address has one canonical form, and Gerrit another one for anonymous connections', () => {
  const of = (more: object): string => addressOf(settingsOf(more), 'a');
  assert.equal(of({ url: 'https://Host/' }), of({ url: 'https://host:443' }));
  assert.notEqual(of({ url: 'https://host/a' }), of({ url: 'https://host/b' }));
  assert.notEqual(of({ url: 'http://host' }), of({ url: 'https://host' }));
  const gerrit = (more: object): string => {
    const settings = { type: 'gerrit', url: 'https://host', ...more };
    return addressOf(connectionSchema.parse(settings), 'a');
  };
  const [ann, bob] = ['ANN', 'BOB'].map((env) => gerrit({ user: env, token: { env } }));
  assert.equal(ann, bob);
  assert.notEqual(ann, gerrit({}), 'rights are by branch');
  const [here, there] = [settingsOfFolder('/srv/a'), settingsOfFolder('/srv/b*')];
  assert.equal(addressOf(here, 'a'), addressOf(there, 'a'));
  assert.notEqual(addressOf(here, 'a'), addressOf(here, 'b'), 'paths of another machine');
});

/** What a page with these issues says of its target. */
function stateBehind(...codes: readonly string[]): unknown {
  const states: TargetStates = {};
  const issues = codes.map((code) => {
    const effect = 'TARGET_SKIPPED' as const;
    return { code, target: 'orgs: a', effect, message: '' };
  });
  const target = { name: 'orgs: a', listedCount: 0, again: [] };
  notePage(states, { repos: [], issues, target });
  return states['orgs: a'];
}

test('an empty page counts despite rate limits; a missing repository is not an empty target', () => {
  assert.equal(stateBehind(), 'empty');
  assert.equal(stateBehind('RATE_LIMITED'), 'empty');
  assert.equal(stateBehind('NOT_FOUND'), 'whole');
});
