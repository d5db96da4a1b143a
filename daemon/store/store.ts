// The store: users, credentials, repos, grants, lists of readers, counts, audit records, jobs and settings in one database,
// embedded or PostgreSQL, with the same behaviour on both. This file opens it and joins the groups of operations, one file
// each. Only this folder contains SQL.

import { sql } from 'kysely';
import { messageOf } from '../base/caught.ts';
import type { Log } from '../base/log.ts';
import { apiKeysIn } from './api-keys.ts';
import { auditIn } from './audit.ts';
import { connectionsIn } from './connections.ts';
import { Database } from './database.ts';
import { openEmbedded } from './embedded.ts';
import { dump, type DumpPart, load, type LoadOptions } from './dump.ts';
import type { Change, Engine } from './engine.ts';
import { StoreError } from './error.ts';
import { grantsIn } from './grants.ts';
import { hostReadersIn } from './host-readers.ts';
import { jobsIn } from './jobs.ts';
import { migrate } from './migrations.ts';
import { oauthClientsIn } from './oauth-clients.ts';
import { oauthConsentsIn } from './oauth-consents.ts';
import { reposIn } from './repos.ts';
import type { StoreKind } from './schema.ts';
import { scopedTokensIn } from './scoped-tokens.ts';
import { sessionsIn } from './sessions.ts';
import { settingsIn } from './settings.ts';
import { signOnAccountsIn } from './sign-on-accounts.ts';
import { setupLinksIn } from './setup-links.ts';
import { usageIn } from './usage.ts';
import { usersIn } from './users.ts';

export interface StoreOptions {
  /** Absolute path of an existing folder; contains the embedded store's file. */
  readonly dataDir: string;
  /** `postgres://...`; undefined: the embedded store. */
  readonly databaseUrl?: string | undefined;
  readonly log: Log;
  /** How long work is retried while the database is locked, in milliseconds; 5,000. */
  readonly busyTimeoutMs?: number;
  /** Milliseconds since the epoch; the clock of the machine. */
  readonly now?: () => number;
  /** Milliseconds after which PostgreSQL counts as away; unlimited. Opening is not limited. */
  readonly answerMsMax?: number;
}

type Groups = Readonly<ReturnType<typeof groupsIn>>;

/** All operations may fail with NOT_READY: the database cannot be reached, is locked, full or damaged. */
export interface Store extends Groups {
  readonly kind: StoreKind;
  /**
   * Calls `listener` for every change of data that caches may hold: before the operation that made it here resolves, or
   * after another daemon on the same PostgreSQL made it; perhaps more than once. The result removes it.
   */
  onChange(listener: (change: Change) => void): () => void;
  /** False: changes by other daemons may be missed. `all` is reported when it becomes true, and at times before. */
  readonly isInformed: boolean;
  /** Milliseconds since the last report of all changes that may have been missed; 0: none are. */
  readonly uninformedMs: number;
  /** The last operation found that the database does not answer; set only with `answerMsMax`. */
  readonly isAway: boolean;
  /** Why operations fail, until a write succeeds again; set only with `answerMsMax`. */
  readonly lastError: string | undefined;
  /** All rows of one snapshot, while writes continue; may be ended early. */
  dump(): AsyncIterable<DumpPart>;
  /**
   * Fills this store, which must be empty or is emptied first, with the rows of a dump: all or none. Others wait meanwhile.
   * Errors: DumpError if the parts are no dump, of another version, or the store is not empty.
   */
  load(parts: AsyncIterable<DumpPart>, options?: LoadOptions): Promise<void>;
  /** Checks that the database answers. */
  ping(): Promise<void>;
  /** Waits for running operations; later ones fail with NOT_READY. */
  close(): Promise<void>;
}

/** For a daemon: a request that needs the store fails within 2 s if it does not answer (API.md 2.9). */
export const ANSWER_MS_MAX = 1_800;

/** Why not with the rest: it adds some 45 ms to a start, and most have the embedded one. */
const loadPostgres = () => import('./postgres.ts');

/**
 * Opens the store, creates it if missing, and migrates it to this version.
 * Errors: NOT_READY if it cannot be opened or reached, is locked, or was made by a newer version.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { dataDir, databaseUrl, log, busyTimeoutMs = 5_000, now = Date.now } = options;
  const { answerMsMax } = options;
  const label = log.labelled('store');
  const engine: Engine =
    databaseUrl === undefined
      ? await openEmbedded(dataDir, busyTimeoutMs)
      : (await loadPostgres()).openPostgres(databaseUrl, label);
  const database = new Database({ engine, log: label, busyTimeoutMs, now });
  try {
    await database.read((db) => migrate(db, engine.kind));
    await database.listen();
    if (answerMsMax !== undefined) database.watchWrites();
    if (engine.kind === 'postgres' && answerMsMax !== undefined) database.limitAnswers(answerMsMax);
  } catch (error) {
    await database.close();
    throw engine.kind === 'postgres' ? withCause(error) : error;
  }
  return joined(database, engine);
}

/** With what PostgreSQL or the system says, for the operator who opens the store. */
function withCause(error: unknown): unknown {
  if (!(error instanceof StoreError) || error.cause === undefined) return error;
  const { errorCode, message, cause } = error;
  return new StoreError(errorCode, `${message}: ${messageOf(cause)}`, cause);
}

function groupsIn(database: Database) {
  return {
    users: usersIn(database),
    sessions: sessionsIn(database),
    setupLinks: setupLinksIn(database),
    signOnAccounts: signOnAccountsIn(database),
    apiKeys: apiKeysIn(database),
    scopedTokens: scopedTokensIn(database),
    oauthClients: oauthClientsIn(database),
    oauthConsents: oauthConsentsIn(database),
    grants: grantsIn(database),
    hostReaders: hostReadersIn(database),
    audit: auditIn(database),
    settings: settingsIn(database),
    usage: usageIn(database),
    repos: reposIn(database),
    connections: connectionsIn(database),
    jobs: jobsIn(database),
  };
}

function joined(database: Database, engine: Engine): Store {
  return {
    kind: database.kind,
    ...groupsIn(database),
    onChange: (listener) => database.onChange(listener),
    get isInformed() {
      return engine.isInformed;
    },
    get uninformedMs() {
      return engine.uninformedMs;
    },
    get isAway() {
      return database.isAway;
    },
    get lastError() {
      return database.lastError;
    },
    dump: () => dump(database),
    load: (parts, options = {}) => load(database, parts, options),
    ping: () => database.read(async (db) => void (await sql`select 1`.execute(db))),
    close: () => database.close(),
  };
}
