// Runs one suite on both engines of the store: the embedded one in a temporary folder, PostgreSQL on a private
// server. A location is one database, opened by any number of stores, as by several daemons.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe } from 'node:test';
import type { NewAuditRecord } from '../../daemon/store/audit.ts';
import type { StoredConnection } from '../../daemon/store/connections.ts';
import type { RepoHost } from '../../daemon/store/repos.ts';
import { openStore, type Store, type StoreOptions } from '../../daemon/store/store.ts';
import type { User } from '../../daemon/store/users.ts';
import { createLog } from '../../daemon/base/log.ts';
import { POSTGRES_MISSING, startPostgres, type PostgresServer } from './postgres-server.ts';

export type StoreKind = Store['kind'];

export interface Location {
  readonly kind: StoreKind;
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  readonly logged: string[];
  open(options?: Partial<StoreOptions>): Promise<Store>;
}

export interface World {
  readonly kind: StoreKind;
  /** Undefined on the embedded store. */
  readonly server: PostgresServer | undefined;
  /** Runs with a new place; its stores are closed afterwards. */
  readonly within: (run: (location: Location) => Promise<void>) => Promise<void>;
  /** Runs with one open store in a new place. */
  readonly withStore: (run: (store: Store, location: Location) => Promise<void>) => Promise<void>;
}

/** Defines the same tests for each engine. */
export function onBothEngines(title: string, define: (world: World) => void): void {
  onEmbedded(title, define);
  onPostgres(title, define);
}

export function onEmbedded(title: string, define: (world: World) => void): void {
  describe(`${title}, embedded store`, () => define(worldOf('embedded', () => undefined)));
}

export function onPostgres(title: string, define: (world: World) => void): void {
  describe(`${title}, PostgreSQL`, { skip: POSTGRES_MISSING ?? false }, () => {
    before(startServer);
    define(worldOf('postgres', () => server));
  });
}

let server: PostgresServer | undefined;

/** One server for all suites of a file. */
async function startServer(): Promise<void> {
  server ??= await startPostgres();
}

after(async () => {
  await server?.remove();
});

/** As `World.within`, on the embedded store. */
export async function withEmbeddedLocation(
  run: (location: Location) => Promise<void>,
): Promise<void> {
  await worldOf('embedded', () => undefined).within(run);
}

let migrated: Promise<string> | undefined;

/** A database that was opened once: each copy saves the migrations. */
async function migrate(server: PostgresServer): Promise<string> {
  const databaseUrl = await server.createDatabase();
  const log = createLog({ level: 'error', format: 'text', write: () => {} });
  const store = await openStore({ dataDir: tmpdir(), databaseUrl, log });
  await store.close();
  return databaseUrl;
}

function worldOf(kind: StoreKind, serverOf: () => PostgresServer | undefined): World {
  const runIn = async (
    databaseUrl: string | undefined,
    run: (location: Location) => Promise<void>,
  ): Promise<void> => {
    const dataDir = mkdtempSync(path.join(tmpdir(), 'trawl-store-'));
    const stores: Store[] = [];
    const logged: string[] = [];
    const log = createLog({ level: 'debug', format: 'text', write: (line) => logged.push(line) });
    const open = async (options: Partial<StoreOptions> = {}): Promise<Store> => {
      const store = await openStore({ dataDir, databaseUrl, log, ...options });
      stores.push(store);
      return store;
    };
    try {
      await run({ kind, dataDir, databaseUrl, logged, open });
    } finally {
      await Promise.all(stores.map((store) => store.close()));
      rmSync(dataDir, { recursive: true, force: true });
    }
  };
  return {
    kind,
    get server() {
      return serverOf();
    },
    within: async (run) => runIn(await serverOf()?.createDatabase(), run),
    async withStore(run) {
      const postgres = serverOf();
      const original = postgres && (await (migrated ??= migrate(postgres)));
      const databaseUrl = await postgres?.createDatabase(original);
      await runIn(databaseUrl, async (location) => run(await location.open(), location));
    },
  };
}

/** Waits for a refusal and checks its code. */
export async function refuses(promise: Promise<unknown>, errorCode: string): Promise<Error> {
  let caught: unknown;
  await promise.catch((error: unknown) => {
    caught = error;
  });
  assert.ok(caught instanceof Error, `${errorCode} expected, but it went well`);
  assert.equal((caught as Error & { errorCode?: string }).errorCode, errorCode, String(caught));
  return caught;
}

export function newRecord(timestamp: number, fields: Partial<NewAuditRecord> = {}): NewAuditRecord {
  return {
    timestamp,
    action: 'user.read',
    actorId: 'actor',
    actorType: 'user',
    targetId: 'target',
    targetType: 'user',
    productVersion: 'v1',
    metadata: null,
    orgId: '1',
    ...fields,
  };
}

export function connectionOf(
  connectionId: number,
  more: Partial<StoredConnection> = {},
): StoredConnection {
  return {
    connectionId,
    instance: 'embedded',
    name: `c${connectionId}`,
    type: 'gitea',
    address: 'https://host',
    rules: {
      isEnforcing: false,
      isEnforcingPublic: false,
      keepsDeleted: false,
      branches: [],
      tags: [],
      digest: 'x',
    },
    syncedAt: null,
    wholeAt: null,
    ...more,
  };
}

/** Of a repo at a host. */
export function hostOf(hostId: string, facts: Partial<RepoHost['facts']> = {}): RepoHost {
  return {
    address: 'https://host',
    hostId,
    facts: {
      codeHostType: 'gitea',
      path: `owner/${hostId}`,
      cloneUrl: `https://host/owner/${hostId}.git`,
      isFork: false,
      isArchived: false,
      topics: [],
      ...facts,
    },
  };
}

let hashCount = 0;

export function newHash(): string {
  return (++hashCount).toString(16).padStart(64, '0');
}

let userCount = 0;

/** A new member, or owner, with an address of its own. */
export async function newUser(store: Store, role: User['role'] = 'MEMBER'): Promise<User> {
  return await store.users.create({ email: `u${++userCount}@example.com`, role });
}

/** A new scoped token of a user, made by a new key. */
export async function newToken(
  store: Store,
  userId: string,
  { expiresAt = 1_000, createdAt = 1, repoIds = [1] } = {},
): Promise<{ readonly id: string; readonly hash: string; readonly keyId: string }> {
  const key = await store.apiKeys.create({ userId, name: newHash(), hash: newHash() });
  const [id, hash] = [newHash(), newHash()];
  await store.scopedTokens.create({
    id,
    hash,
    userId,
    apiKeyId: key.id,
    repoIds,
    createdAt,
    expiresAt,
  });
  return { id, hash, keyId: key.id };
}
