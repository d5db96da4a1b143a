// The embedded engine: one SQLite file in the data directory through libsql, which answers synchronously.
//
// Cost: a call blocks the event loop: a point read takes 5 us in libsql, a commit the time of a sync to disk (0.5 ms where
// measured). So transactions are small, and long work runs in batches that yield to the event loop (batches.ts). SQLite
// never waits for a lock, as it would sleep in the call: the busy timeout is 0, and database.ts retries later.
// Safety: libsql crashes the process when it is given a boolean, so values are checked here.

import { existsSync, type Stats, statSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as nextTimeSlice } from 'node:timers/promises';
import {
  CompiledQuery,
  Kysely,
  SqliteAdapter,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type {
  DatabaseConnection,
  Dialect,
  SqliteDatabase,
  SqliteStatement,
  TransactionSettings,
} from 'kysely';
import type Libsql from 'libsql';
import { LRUCache } from 'lru-cache';
import { deferred } from '../base/deferred.ts';
import { isThere, NoFileError } from '../base/own-file.ts';
import { messageOf, systemCodeOf } from '../base/caught.ts';
import { checkFile, DamageError } from './embedded-check.ts';
import { type Engine, type Fault, PLUGINS, type Snapshot } from './engine.ts';
import { StoreError, UnwritableError } from './error.ts';
import { retried } from './retry.ts';
import type { Schema } from './schema.ts';
import {
  connect,
  connectReadOnly,
  createFile,
  DAMAGED,
  INDEX_FILE,
  LOCKED,
  reasonOf,
} from './sqlite.ts';
import { storable } from './text.ts';

const STORE_FILE = 'store.db';
/** Cached prepared statements; preparing one costs more than running it. */
const STATEMENT_COUNT_MAX = 200;

/** Milliseconds of consecutive calls before a yield. */
const READING_MS = 4;

/**
 * The engine on `<dataDir>/store.db`, which is created if missing.
 * Errors: NOT_READY, naming the file with its path, if it cannot be opened, is not a database, or is locked for longer than
 * `busyTimeoutMs`.
 */
export async function openEmbedded(dataDir: string, busyTimeoutMs: number): Promise<Engine> {
  const file = path.join(dataDir, STORE_FILE);
  const connection = await retried(async () => openChecked(file), {
    faultOf: (error) => openingFault(file, error),
    timeoutMs: busyTimeoutMs,
  });
  const check = lossCheckOf(file);
  const db = kyselyOn(connection, check);
  return {
    kind: 'embedded',
    db,
    isInformed: true,
    uninformedMs: 0,
    faultOf,
    // Write transactions exclude each other from their start.
    lockMembership: () => Promise.resolve(),
    announce: () => Promise.resolve(),
    listen: () => Promise.resolve(),
    openSnapshot: async () => {
      check();
      return openSnapshot(openFile(file));
    },
    close: async () => {
      // Checkpoints the log, so that a copy of the file is complete.
      if (connection.open) tryCheckpoint(connection);
      await db.destroy();
      // kysely does not close what it has never used.
      if (connection.open) connection.close();
    },
  };
}

/**
 * Checks that the files are those that are open: a restart would not find what is written to others.
 * Errors, of the result: UnwritableError.
 */
function lossCheckOf(file: string): () => void {
  const seen = new Map<string, Stats>();
  return () => {
    for (const name of [file, `${file}-wal`]) {
      const before = seen.get(name);
      const now = statSync(name, { throwIfNoEntry: false });
      const isSame = now?.ino === before?.ino && now?.dev === before?.dev;
      // The database never shrinks, as nothing vacuums it; its log does.
      const isCut = name === file && Number(now?.size) < Number(before?.size);
      if (before !== undefined && (!isSame || isCut))
        throw new UnwritableError(
          'NOT_READY',
          `${name} was removed, replaced or cut while it was in use, and is not written any more; ` +
            'stop the daemon, and restore a backup ("trawl restore")',
        );
      if (now !== undefined) seen.set(name, now);
    }
  };
}

function openFile(file: string): Libsql.Database {
  createFile(file);
  return connect(file, 'WAL', 0);
}

/**
 * SQLite takes an empty file for a new one, which would silently drop all permissions. A first start that was killed leaves
 * such a file too, but no index beside it.
 */
function checkNotEmptied(file: string): void {
  const isEmpty = isThere(file) && statSync(file).size === 0;
  // The index exists only if the store has been written.
  if (isEmpty && existsSync(path.join(path.dirname(file), INDEX_FILE)))
    throw new DamageError('it is empty');
}

/** Why once: later openings are of the same file. */
function openChecked(file: string): Libsql.Database {
  checkNotEmptied(file);
  const connection = openFile(file);
  try {
    checkFile(connection);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/**
 * Checks the store of a data directory without changing it, also while a daemon uses it. False: there is none. Errors:
 * StoreError.
 */
export function checkStored(dataDir: string): boolean {
  const file = path.join(dataDir, STORE_FILE);
  if (!existsSync(file)) return false;
  try {
    checkNotEmptied(file);
    const connection = connectReadOnly(file);
    try {
      checkFile(connection);
    } finally {
      connection.close();
    }
  } catch (error) {
    throw openingFault(STORE_FILE, error).error;
  }
  return true;
}

function tryCheckpoint(connection: Libsql.Database): void {
  try {
    connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // The next opening replays the rest of the log.
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

/** @param check  called before each write */
function kyselyOn(connection: Libsql.Database, check = (): void => {}): Kysely<Schema> {
  const dialect: Dialect = {
    createDriver: () => new EmbeddedDriver(connection, check),
    createAdapter: () => new EmbeddedAdapter(),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
  return new Kysely<Schema>({ dialect, plugins: PLUGINS });
}

/** SQLite can roll back schema changes: migrations run whole or not at all. */
class EmbeddedAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** Lends the one connection to its users in turn, and yields to the event loop in between. */
class EmbeddedDriver extends SqliteDriver {
  readonly #connection: Libsql.Database;
  readonly #check: () => void;
  #lastUse: Promise<void> = Promise.resolve();
  #endUse: () => void = () => {};
  /** Start of the first use in this turn of the event loop; undefined: none. */
  #timeSliceStartMs: number | undefined;

  constructor(connection: Libsql.Database, check: () => void) {
    super({ database: cached(connection) });
    this.#connection = connection;
    this.#check = check;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const before = this.#lastUse;
    const use = deferred();
    this.#lastUse = use.promise;
    await before;
    // Why: calls without a pause are one turn, however long they take together.
    if (performance.now() - this.#startOfTick() > READING_MS) await nextTimeSlice();
    this.#endUse = use.resolve;
    return super.acquireConnection();
  }

  #startOfTick(): number {
    if (this.#timeSliceStartMs === undefined) {
      this.#timeSliceStartMs = performance.now();
      setImmediate(() => {
        this.#timeSliceStartMs = undefined;
      });
    }
    return this.#timeSliceStartMs;
  }

  override async releaseConnection(): Promise<void> {
    await super.releaseConnection();
    this.#endUse();
  }

  override async beginTransaction(
    connection: DatabaseConnection,
    settings?: TransactionSettings,
  ): Promise<void> {
    // Why: a transaction that began by reading could not write after another process has written.
    const mode = settings?.accessMode === 'read only' ? 'deferred' : 'immediate';
    // A transaction whose end failed would block all others.
    await this.rollbackTransaction(connection);
    if (mode === 'immediate') this.#check();
    await connection.executeQuery(CompiledQuery.raw(`begin ${mode}`));
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // A full disk has ended it already; another error would hide the reason.
    if (this.#connection.inTransaction) await super.rollbackTransaction(connection);
  }
}

/** The connection for kysely, with cached prepared statements. */
function cached(connection: Libsql.Database): SqliteDatabase {
  const statements = new LRUCache<string, SqliteStatement>({ max: STATEMENT_COUNT_MAX });
  return {
    close: () => void connection.close(),
    prepare: (sql) => {
      const prepared = statements.get(sql);
      if (prepared !== undefined) return prepared;
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
  return values.map((value) => {
    if (typeof value === 'string') return storable(value);
    if (value === null || typeof value === 'number') return value;
    throw new TypeError(`a value of type ${typeof value} cannot be bound`);
  });
}

const REMEDY =
  'restore a backup ("trawl restore"), or move it away to start without accounts and permissions';

function faultOf(error: unknown): Fault | undefined {
  if (systemCodeOf(error) === 'SQLITE_CONSTRAINT_FOREIGNKEY') {
    const message = 'the user, key or repository does not exist';
    return { error: new StoreError('NOT_FOUND', message, error), isTransient: false };
  }
  return reasonOf(error) === undefined ? undefined : faultAt(STORE_FILE, error);
}

/** Faults of opening, with a remedy for damage. */
function openingFault(file: string, error: unknown): Fault {
  const isDamage = error instanceof DamageError;
  const reason = isDamage ? `${DAMAGED}: ${error.message}` : reasonOf(error);
  if (reason?.startsWith(DAMAGED) !== true) return faultAt(file, error);
  const message = `${file} ${reason}; ${REMEDY}`;
  return { error: new StoreError('NOT_READY', message, error), isTransient: false };
}

/** @param file  name for messages */
function faultAt(file: string, error: unknown): Fault {
  if (error instanceof NoFileError)
    return { error: new StoreError('NOT_READY', error.message, error), isTransient: false };
  const reason = reasonOf(error) ?? `cannot be opened: ${messageOf(error)}`;
  return {
    error: new StoreError('NOT_READY', `${file} ${reason}`, error),
    isTransient: reason === LOCKED,
  };
}
