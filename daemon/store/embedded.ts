// The embedded engine: one SQLite file in the data directory through libsql, which answers synchronously.
//
// Cost: a call keeps the event loop: a point read takes 5 us in libsql, a commit the time of a sync to disk
// (0.5 ms where this was measured). So transactions are small, and long work goes in batches with turns of
// the event loop between them (batches.ts). Waiting for a lock is never left to SQLite, which would sleep
// in the call: the busy timeout is 0, and database.ts tries again later.
// Safety: libsql ends the process when it is handed a boolean, so values are checked here.

import { chmodSync, closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { CompiledQuery, Kysely, SqliteAdapter, SqliteDialect, SqliteDriver } from 'kysely';
import type {
  DatabaseConnection,
  SqliteDatabase,
  SqliteStatement,
  TransactionSettings,
} from 'kysely';
import Libsql from 'libsql';
import { LRUCache } from 'lru-cache';
import { messageOf, systemCodeOf } from '../telemetry/caught.ts';
import type { Engine, Fault, Snapshot } from './engine.ts';
import { StoreError } from './error.ts';
import type { Schema } from './schema.ts';

const STORE_FILE = 'store.db';
const FILE_MODE = 0o600;

/** Prepared statements that are kept; preparing one costs more than running it. */
const STATEMENT_COUNT_MAX = 200;

/** Milliseconds for which waiting calls may follow each other without a turn of the event loop. */
const TURN_MS = 4;

/**
 * The engine on `<dataDir>/store.db`, which is made if missing.
 *
 * Errors: NOT_READY, naming the file, if it cannot be opened, is locked, or is no database.
 */
export function openEmbedded(dataDir: string): Engine {
  const file = path.join(dataDir, STORE_FILE);
  const open = (): Libsql.Database => {
    try {
      return openFile(file);
    } catch (error) {
      throw new StoreError('NOT_READY', `${file}: ${reasonOf(error) ?? messageOf(error)}`, error);
    }
  };
  const connection = open();
  const db = kyselyOn(connection);
  return {
    kind: 'embedded',
    db,
    isInformed: true,
    faultOf,
    // Transactions that write exclude each other from their beginning on.
    lockMembership: () => Promise.resolve(),
    announce: () => Promise.resolve(),
    listen: () => Promise.resolve(),
    openSnapshot: () => openSnapshot(open()),
    close: async () => {
      // What was written goes into the file itself, so that a copy of it alone is whole.
      if (connection.open) tryCheckpoint(connection);
      await db.destroy();
      // kysely leaves alone what it has never used.
      if (connection.open) connection.close();
    },
  };
}

function openFile(file: string): Libsql.Database {
  // SQLite gives its other two files the mode of this one.
  closeSync(openSync(file, 'a', FILE_MODE));
  chmodSync(file, FILE_MODE);
  const connection = new Libsql(file, { timeout: 0 });
  try {
    connection.exec('PRAGMA journal_mode = WAL');
    connection.exec('PRAGMA synchronous = FULL');
    connection.exec('PRAGMA foreign_keys = ON');
    connection.exec('PRAGMA trusted_schema = OFF');
    connection.exec('PRAGMA cell_size_check = ON');
    connection.exec('PRAGMA journal_size_limit = 67108864');
  } catch (error) {
    connection.close();
    throw error;
  }
  return connection;
}

function tryCheckpoint(connection: Libsql.Database): void {
  try {
    connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // The next one to open the file reads the rest from its log.
  }
}

async function openSnapshot(connection: Libsql.Database): Promise<Snapshot> {
  connection.exec('PRAGMA query_only = ON');
  const db = kyselyOn(connection);
  const trx = await db.startTransaction().setAccessMode('read only').execute();
  return {
    db: trx,
    close: async () => {
      await trx.rollback().execute();
      await db.destroy();
    },
  };
}

function kyselyOn(connection: Libsql.Database): Kysely<Schema> {
  return new Kysely<Schema>({ dialect: new EmbeddedDialect(connection) });
}

class EmbeddedDialect extends SqliteDialect {
  readonly #connection: Libsql.Database;

  constructor(connection: Libsql.Database) {
    super({ database: cached(connection) });
    this.#connection = connection;
  }

  override createDriver(): SqliteDriver {
    return new EmbeddedDriver(this.#connection);
  }

  override createAdapter(): SqliteAdapter {
    return new EmbeddedAdapter();
  }
}

/** SQLite can take back changes of tables too: migrations run whole or not at all. */
class EmbeddedAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** Gives the one connection to its users in turn, and gives the event loop its turns in between. */
class EmbeddedDriver extends SqliteDriver {
  readonly #connection: Libsql.Database;
  #waitingCount = 0;
  #lastUse: Promise<void> = Promise.resolve();
  #endUse: () => void = () => {};
  #turnStartMs = 0;

  constructor(connection: Libsql.Database) {
    super({ database: cached(connection) });
    this.#connection = connection;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const before = this.#lastUse;
    const use = deferred();
    this.#lastUse = use.promise;
    if (this.#waitingCount++ === 0) this.#turnStartMs = performance.now();
    await before;
    if (performance.now() - this.#turnStartMs > TURN_MS) {
      await setImmediate();
      this.#turnStartMs = performance.now();
    }
    this.#endUse = use.resolve;
    return super.acquireConnection();
  }

  override async releaseConnection(): Promise<void> {
    this.#waitingCount--;
    await super.releaseConnection();
    this.#endUse();
  }

  override async beginTransaction(
    connection: DatabaseConnection,
    settings?: TransactionSettings,
  ): Promise<void> {
    // Why: one that began by reading could not write after another process has.
    const mode = settings?.accessMode === 'read only' ? 'deferred' : 'immediate';
    // One whose end failed would be in the way of all others.
    await this.rollbackTransaction(connection);
    await connection.executeQuery(CompiledQuery.raw(`begin ${mode}`));
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // A full disk has ended it already; saying so would hide the reason.
    if (this.#connection.inTransaction) await super.rollbackTransaction(connection);
  }
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let settle: (() => void) | undefined;
  const promise = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: () => settle?.() };
}

/** The connection as kysely uses it, keeping prepared statements. */
function cached(connection: Libsql.Database): SqliteDatabase {
  const statements = new LRUCache<string, SqliteStatement>({ max: STATEMENT_COUNT_MAX });
  return {
    close: () => void connection.close(),
    prepare: (sql) => {
      const known = statements.get(sql);
      if (known !== undefined) return known;
      const statement = checked(connection.prepare(sql));
      statements.set(sql, statement);
      return statement;
    },
  };
}

function checked(statement: Libsql.Statement): SqliteStatement {
  return {
    reader: statement.reader,
    all: (values) => statement.all(bindable(values)),
    run: (values) => statement.run(bindable(values)),
    iterate: (values) => statement.iterate(bindable(values)),
  };
}

function bindable(values: readonly unknown[]): readonly unknown[] {
  for (const value of values) {
    const isKnown = value === null || typeof value === 'string' || typeof value === 'number';
    if (!isKnown) throw new TypeError(`a value of type ${typeof value} cannot be bound`);
  }
  return values;
}

/** What a code of SQLite means; the file is the subject. */
const REASONS: readonly (readonly [prefix: string, reason: string])[] = [
  ['SQLITE_BUSY', 'is locked by another process'],
  ['SQLITE_LOCKED', 'is locked by another process'],
  ['SQLITE_FULL', 'cannot grow: the disk is full'],
  ['SQLITE_IOERR', 'cannot be read or written: the system reports an input or output error'],
  ['SQLITE_CANTOPEN', 'cannot be opened'],
  ['SQLITE_READONLY', 'cannot be written'],
  ['SQLITE_CORRUPT', 'is damaged'],
  ['SQLITE_NOTADB', 'is damaged: it is no database'],
  ['SQLITE_PROTOCOL', 'is locked by another process'],
  ['SQLITE_NOMEM', 'cannot be read: memory is short'],
];

function reasonOf(error: unknown): string | undefined {
  const code = systemCodeOf(error) ?? '';
  return REASONS.find(([prefix]) => code.startsWith(prefix))?.[1];
}

function faultOf(error: unknown): Fault | undefined {
  if (systemCodeOf(error) === 'SQLITE_CONSTRAINT_FOREIGNKEY') {
    return {
      error: new StoreError('NOT_FOUND', 'the user or key does not exist', error),
      isTransient: false,
    };
  }
  const reason = reasonOf(error);
  if (reason === undefined) return undefined;
  return {
    error: new StoreError('NOT_READY', `${STORE_FILE} ${reason}`, error),
    isTransient: reason.startsWith('is locked'),
  };
}
