// `index.db`: what is indexed, as entries of key and text in a SQLite file of its own. The content is the caller's
// (index/catalog/). The file may be lost: then everything is indexed again. Only the owner of the data directory writes.
//
// SQLite's rollback journal, not its write-ahead log: who only reads needs no other file then, and works where nothing
// can be written. Writes run in another thread (libsql/promise): one waits for the disk four times.
// Each entry has a checksum, which SQLite's pages lack. Safety: keys and texts are bytes, because libsql crashes the
// process on text that is not UTF-8.

import { hash } from 'node:crypto';
import path from 'node:path';
import type Libsql from 'libsql';
import AsyncLibsql from 'libsql/promise';
import { messageOf, systemCodeOf } from '../base/caught.ts';
import { isThere, NoFileError } from '../base/own-file.ts';
import { connect, createFile, DAMAGED, INDEX_FILE, reasonOf } from './sqlite.ts';
import { checkStructure, DamageError } from './embedded-check.ts';
import { StoreError } from './error.ts';

/** How long SQLite waits for others, in milliseconds. A read of 5,000 entries takes 100. */
const BUSY_MS = 5_000;

/** Of the table. */
const VERSION = 1;
const SCHEMA = `
  begin immediate;
  create table entries (
    ordinal integer primary key,
    key blob not null unique,
    body blob not null,
    checksum blob not null
  ) strict;
  pragma user_version = ${VERSION};
  commit`;

/** What is indexed cannot be read. The message names the file and the damage. */
export class CatalogError extends StoreError {
  override readonly name = 'CatalogError';

  constructor(message: string, cause?: unknown) {
    super('NOT_READY', message, cause);
  }
}

export interface IndexContent {
  /** Texts by key, in order of arrival. */
  readonly texts: ReadonlyMap<string, string>;
  /** Keys of entries whose checksum is wrong. */
  readonly damaged: readonly string[];
}

/**
 * Checks and reads the file. It is created if it is missing and the caller is the owner.
 * Errors: CatalogError; NOT_READY; the file system's.
 */
export function readIndex(dataDir: string, isOwner: boolean): IndexContent {
  const file = path.join(dataDir, INDEX_FILE);
  try {
    if (isOwner) createFile(file);
    else if (!isThere(file)) return { texts: new Map(), damaged: [] };
    const connection = connect(file, 'DELETE', BUSY_MS);
    try {
      return contentOf(connection, isOwner);
    } finally {
      connection.close();
    }
  } catch (error) {
    throw faultIn(file, error);
  }
}

function contentOf(connection: Libsql.Database, isOwner: boolean): IndexContent {
  checkStructure(connection);
  const texts = new Map<string, string>();
  const damaged: string[] = [];
  const [[tableCount, version] = []] = rowsOf<[number, number]>(
    connection,
    'select (select count(*) from sqlite_schema), user_version from pragma_user_version',
  );
  if (tableCount === 0) {
    if (isOwner) connection.exec(SCHEMA);
    return { texts, damaged };
  }
  if (version !== VERSION)
    throw new DamageError(`it has version ${version}, and this program reads version ${VERSION}`);
  const all = 'select key, body, checksum from entries order by ordinal';
  for (const [key, body, checksum] of rowsOf<[Buffer, Buffer, Buffer]>(connection, all)) {
    if (checksumOf(String(key), String(body)).equals(checksum))
      texts.set(String(key), String(body));
    else damaged.push(String(key));
  }
  return { texts, damaged };
}

/** Safety: the table is strict and was checked, so cells have the types of their columns. */
function rowsOf<Row>(connection: Libsql.Database, statement: string): Row[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return connection.prepare(statement).raw().all() as Row[];
}

function checksumOf(key: string, text: string): Buffer {
  return hash('sha256', `${key}\n${text}`, 'buffer');
}

/** Writes entries. One call at a time, after `readIndex` of the owner. Errors: CatalogError; NOT_READY. */
export class IndexWriter {
  readonly #file: string;
  readonly #connection: AsyncLibsql;

  constructor(dataDir: string) {
    this.#file = path.join(dataDir, INDEX_FILE);
    this.#connection = new AsyncLibsql(this.#file, { timeout: BUSY_MS });
  }

  /** Removes and then puts entries, all or none; they are on disk when it resolves. */
  async change(
    put: readonly (readonly [key: string, text: string])[],
    removed: readonly string[],
  ): Promise<void> {
    // Why single statements: libsql copies the rest of a text for each; 5,000 took 15 s.
    const statements: string[] = [];
    if (removed.length > 0)
      statements.push(`delete from entries where key in (${removed.map(literal).join()})`);
    const rows = put.map(
      ([key, text]) => `(${[key, text, checksumOf(key, text)].map(literal).join()})`,
    );
    // An entry that is put again keeps its place in the order.
    if (rows.length > 0)
      statements.push(
        `insert into entries (key, body, checksum) values ${rows.join()} ` +
          'on conflict (key) do update set body = excluded.body, checksum = excluded.checksum',
      );
    try {
      // EXTRA: as FULL, and the end of the journal is on disk too.
      await this.#connection.exec(
        `pragma synchronous = extra; begin immediate; ${statements.join(';')}; commit`,
      );
    } catch (error) {
      // SQLite has ended it already if the disk is full.
      if (this.#inTransaction) await this.#connection.exec('rollback');
      throw faultIn(this.#file, error);
    }
  }

  get #inTransaction(): boolean {
    return Reflect.get(this.#connection, 'inTransaction') === true;
  }

  close(): void {
    this.#connection.close();
  }
}

/** Bytes as SQL. */
function literal(value: string | Buffer): string {
  return `x'${Buffer.from(value).toString('hex')}'`;
}

/** An error with its meaning; the same one if it is our own bug. */
function faultIn(file: string, error: unknown): unknown {
  if (error instanceof NoFileError) return new CatalogError(error.message, error);
  // The statements never change, so a refused one means another table.
  const isOther = error instanceof DamageError || systemCodeOf(error) === 'SQLITE_ERROR';
  const reason = isOther ? `${DAMAGED}: ${messageOf(error)}` : reasonOf(error);
  if (reason === undefined) return error;
  const message = `${file} ${reason}`;
  if (reason.startsWith(DAMAGED)) return new CatalogError(message, error);
  if (systemCodeOf(error) !== 'SQLITE_FULL') return new StoreError('NOT_READY', message, error);
  // As the file system says it, so that jobs treat it the same.
  const full = `ENOSPC: no space left on device, write '${file}'`;
  return Object.assign(new StoreError('NOT_READY', full, error), { code: 'ENOSPC' });
}
