// The PostgreSQL engine: a pool of connections through pg, and the meaning of its errors. Daemons notify each other of
// changes by NOTIFY (received by postgres-listener.ts), which the server sends when the transaction is committed.
//
// Cost: a call is a round trip; a transaction has at least three.

import {
  CompiledQuery,
  Kysely,
  PostgresAdapter,
  PostgresDriver,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
} from 'kysely';
import type {
  DatabaseConnection,
  Dialect,
  PostgresCursor,
  PostgresPool,
  PostgresPoolClient,
  PostgresQueryResult,
} from 'kysely';
import { Client, type ClientConfig, DatabaseError, Pool, type PoolClient, types } from 'pg';
import { messageOf, systemCodeOf } from '../base/caught.ts';
import type { Log } from '../base/log.ts';
import { type Engine, type Fault, PLUGINS } from './engine.ts';
import { StoreError, UnwritableError } from './error.ts';
import { CHANNEL, PostgresListener } from './postgres-listener.ts';
import type { Schema } from './schema.ts';
import { storable } from './text.ts';

/** Advisory lock of the membership; any constant would do. */
const MEMBERSHIP_LOCK = 7_243_951_802_116;

/** Milliseconds that a transaction on members waits for a lock, from the first one on. */
const LOCK_MS_MAX = '300';

/** Of the pool; the listener has one more. */
const CONNECTIONS_MAX = 10;

/** The engine on the database at `databaseUrl`. Does not connect yet. Errors: NOT_READY for an invalid address. */
export function openPostgres(databaseUrl: string, log: Log): Engine {
  const config = configOf(databaseUrl);
  warnOfPlainText(config, log);
  const pool = openPool(config, log);
  const dialect: Dialect = {
    createDriver: () => new ServerDriver({ pool }),
    createAdapter: () => new PostgresAdapter(),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  };
  const db = new Kysely<Schema>({ dialect, plugins: PLUGINS });
  const ping = (): Promise<unknown> => sql`select 1`.execute(db);
  const listener = new PostgresListener(config, ping, log);
  return {
    kind: 'postgres',
    db,
    get isInformed() {
      return listener.isInformed;
    },
    get uninformedMs() {
      return listener.uninformedMs;
    },
    faultOf,
    lockMembership: async (trx, isPatient) => {
      // Why a limit, and another attempt then: a writer that waits has a connection of the pool, which readers need.
      await sql`select set_config('lock_timeout', ${isPatient ? '0' : LOCK_MS_MAX}, true),
        pg_advisory_xact_lock(${sql.lit(MEMBERSHIP_LOCK)})`.execute(trx);
    },
    announce: async (trx, changes) => {
      for (const text of new Set(changes.map((change) => JSON.stringify(change)))) {
        await sql`select pg_notify(${CHANNEL}, ${text})`.execute(trx);
      }
    },
    listen: (onChange) => listener.start(onChange),
    openSnapshot: async () => {
      const trx = await db
        .startTransaction()
        .setIsolationLevel('repeatable read')
        .setAccessMode('read only')
        .execute();
      const close = () => trx.rollback().execute();
      try {
        // The reader of a dump may be slow.
        await sql`set local idle_in_transaction_session_timeout = 300000`.execute(trx);
      } catch (error) {
        await close();
        throw error;
      }
      return { db: trx, close };
    },
    close: async () => {
      await listener.stop();
      await db.destroy();
    },
  };
}

/** Version and clock of the server; the store is neither read nor changed. Errors: NOT_READY; the server's. */
export async function probePostgres(
  databaseUrl: string,
  log: Log,
): Promise<{ readonly version: string; readonly clockAheadMs: number }> {
  const engine = openPostgres(databaseUrl, log);
  try {
    const { rows } = await sql<{ version: string; nowMs: number }>`
      select current_setting('server_version') as version,
        floor(extract(epoch from clock_timestamp()) * 1000)::int8 as now_ms`.execute(engine.db);
    const { version, nowMs } = rows[0]!;
    return { version, clockAheadMs: nowMs - Date.now() };
  } catch (error) {
    throw faultOf(error)?.error ?? error;
  } finally {
    await engine.close();
  }
}

function configOf(databaseUrl: string): ClientConfig {
  const config: ClientConfig = {
    connectionString: databaseUrl,
    fallback_application_name: 'trawl',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // The server cancels a statement, or else the daemon gives up.
    statement_timeout: 20_000,
    query_timeout: 25_000,
    // A daemon that stopped within a transaction blocks others no longer.
    idle_in_transaction_session_timeout: 30_000,
    types: {
      // 20: int8, counts and times: both stay below 2^53.
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === 20 ? Number : types.getTypeParser(oid, format),
    },
  };
  if (!isAddress(databaseUrl, config)) {
    throw new StoreError('NOT_READY', 'the database address is not a PostgreSQL address');
  }
  return config;
}

/** Names of this machine; a path is that of a socket. */
const LOCAL_HOST = /^(?:localhost|127\.[\d.]+|::1|\/.*|)$/;

function warnOfPlainText(config: ClientConfig, log: Log): void {
  const { host, ssl } = new Client(config);
  if (ssl || LOCAL_HOST.test(host)) return;
  log.warn(
    'PostgreSQL on another host is used without TLS: accounts and password hashes cross the network in plain text; ' +
      'add sslmode=verify-full to the database address',
  );
}

function isAddress(databaseUrl: string, config: ClientConfig): boolean {
  if (!/^postgres(?:ql)?:\/\//.test(databaseUrl)) return false;
  try {
    // Parses the address. Its error would contain it, so it is not passed on.
    void new Client(config);
    return true;
  } catch {
    return false;
  }
}

/** Extends pg's pool: failed connections are closed, whoever uses them then. */
function openPool(config: ClientConfig, log: Log): PostgresPool {
  const pool = new Pool({ ...config, max: CONNECTIONS_MAX });
  // Why only the message: the error contains the client, and that the address with its password.
  pool.on('error', (error) => log.warn(`a PostgreSQL connection was lost: ${messageOf(error)}`));
  pool.on('connect', (client) => {
    // The running query, or the next one, fails with the same error; without a listener the process would crash.
    client.on('error', () => {});
  });
  return { connect: async () => watched(await pool.connect()), end: () => pool.end() };
}

/** The client for kysely; after an error that was not the server's answer it is not reused. */
function watched(client: PoolClient): PostgresPoolClient {
  let isBroken = false;
  const run = async (text: string, values: readonly unknown[]): Promise<unknown> => {
    try {
      const bound = values.map((value) => (typeof value === 'string' ? storable(value) : value));
      return await client.query(text, bound);
    } catch (error) {
      isBroken ||= isOver(error);
      throw error;
    }
  };
  function query<Row>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
  function query<Row>(cursor: PostgresCursor<Row>): PostgresCursor<Row>;
  function query(text: unknown, values: readonly unknown[] = []): unknown {
    if (typeof text !== 'string') throw new TypeError('no cursors here');
    return run(text, values);
  }
  return { query, release: () => client.release(isBroken) };
}

/** Whether the connection is of no use any more. */
function isOver(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return true;
  // Why 25006: a connection keeps the default it began with, and the address may lead to another server by now.
  return ['FATAL', 'PANIC'].includes(error.severity ?? '') || error.code === '25006';
}

class ServerDriver extends PostgresDriver {
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await connection.executeQuery(CompiledQuery.raw('rollback'));
    } catch {
      // The connection is gone, and the transaction with it; its own error says why.
    }
  }
}

/** Meaning of the server's codes, by prefix; the first match counts. */
const REASONS: readonly (readonly [prefix: string, reason: string])[] = [
  ['08', 'PostgreSQL cannot be reached'],
  ['57P', 'PostgreSQL is stopping or starting'],
  ['53100', 'PostgreSQL has no room left on its disk'],
  [
    '53300',
    `PostgreSQL has no connection left; a daemon needs ${CONNECTIONS_MAX + 1} of max_connections`,
  ],
  ['53', 'PostgreSQL lacks memory or another resource'],
  ['57014', 'PostgreSQL took too long'],
  ['55P03', 'PostgreSQL took too long'],
  ['25P0', 'PostgreSQL took too long'],
  ['40', 'PostgreSQL has too many writers at once'],
  ['25006', 'PostgreSQL is read-only'],
  ['28', 'PostgreSQL refuses the role or its password; correct TRAWL_DATABASE_URL, or pg_hba.conf'],
  ['3D000', 'the PostgreSQL database does not exist; create it, with the role as its owner'],
  ['42501', 'the PostgreSQL role lacks rights; make it the owner of the database and its tables'],
  ['58', 'PostgreSQL reports an error of its system'],
  ['XX', 'PostgreSQL reports damage or an error of its own'],
];

/** Codes of a server that still answers reads. */
const UNWRITABLE: ReadonlySet<string> = new Set(['53100', '25006']);

/** Errors of pg and of the system that are not answers of the server. */
const UNREACHABLE =
  /^E[A-Z]+$|connection|terminated|timeout|not queryable|calling end on the pool|destroyed/i;

function faultOf(error: unknown): Fault | undefined {
  if (!(error instanceof DatabaseError)) {
    const isUnreachable =
      UNREACHABLE.test(systemCodeOf(error) ?? '') || UNREACHABLE.test(messageOf(error));
    if (!isUnreachable) return undefined;
    return {
      error: new StoreError('NOT_READY', 'PostgreSQL cannot be reached', error),
      isTransient: false,
    };
  }
  const code = error.code ?? '';
  if (code === '23503') {
    return {
      error: new StoreError('NOT_FOUND', 'the user, key or repository does not exist', error),
      isTransient: false,
    };
  }
  const reason = REASONS.find(([prefix]) => code.startsWith(prefix))?.[1];
  if (reason === undefined) return undefined;
  const NotReady = UNWRITABLE.has(code) ? UnwritableError : StoreError;
  const isTransient = code.startsWith('40') || code === '55P03';
  return { error: new NotReady('NOT_READY', reason, error), isTransient };
}
