// Creates and opens SQLite files, and says what its errors mean: for the embedded store and for the index file, which each
// `trawl search` reads. So nothing here loads more than libsql.

import { accessSync, chmodSync, closeSync, constants, openSync } from 'node:fs';
import path from 'node:path';
import Libsql from 'libsql';
import { DISK_FULL_REMEDY, inDataDir, systemCodeOf } from '../base/caught.ts';
import { isThere } from '../base/own-file.ts';

/** File of index-tables.ts. */
export const INDEX_FILE = 'index.db';
const FILE_MODE = 0o600;

/** Of a file that it may not open SQLite says only a number. Errors: the file system's, with a remedy. */
function checkAccess(file: string, mode: number): void {
  try {
    accessSync(file, mode);
  } catch (error) {
    throw inDataDir(error, path.dirname(file));
  }
}

/** Creates a database file if it is missing. Errors: NoFileError; the file system's. */
export function createFile(file: string): void {
  for (const ending of ['-wal', '-shm', '-journal']) isThere(`${file}${ending}`);
  // SQLite gives its other files the mode of this one.
  // Safety: closing the file once it is open would release SQLite's locks on it.
  if (!isThere(file)) closeSync(openSync(file, 'wx', FILE_MODE));
  checkAccess(file, constants.R_OK | constants.W_OK);
  chmodSync(file, FILE_MODE);
}

/** @param timeout  milliseconds that a call waits for the locks of others */
export function connect(file: string, journal: 'WAL' | 'DELETE', timeout: number): Libsql.Database {
  checkAccess(file, constants.R_OK);
  const connection = new Libsql(file, { timeout });
  try {
    connection.exec(`PRAGMA journal_mode = ${journal}`);
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

/** Also while another process writes it. */
export function connectReadOnly(file: string): Libsql.Database {
  checkAccess(file, constants.R_OK);
  return new Libsql(file, { readonly: true });
}

export const LOCKED = 'is locked by another process';
export const DAMAGED = 'is damaged';

/** Meaning of SQLite's codes; the file is the subject. */
const REASONS: readonly (readonly [prefix: string, reason: string])[] = [
  ['SQLITE_BUSY', LOCKED],
  ['SQLITE_LOCKED', LOCKED],
  ['SQLITE_FULL', `cannot grow: the disk is full; ${DISK_FULL_REMEDY}`],
  ['SQLITE_IOERR_SHMSIZE', `cannot be opened: the disk is full; ${DISK_FULL_REMEDY}`],
  ['SQLITE_IOERR', 'cannot be read or written: the system reports an input or output error'],
  ['SQLITE_CANTOPEN', 'cannot be opened, or the file beside it that ends with -wal or -shm'],
  ['SQLITE_READONLY', 'cannot be written'],
  ['SQLITE_CORRUPT', DAMAGED],
  ['SQLITE_NOTADB', `${DAMAGED}: it is not a database`],
  ['SQLITE_PROTOCOL', LOCKED],
  ['SQLITE_NOMEM', 'cannot be read: memory is short'],
];

export function reasonOf(error: unknown): string | undefined {
  const code = systemCodeOf(error) ?? '';
  return REASONS.find(([prefix]) => code.startsWith(prefix))?.[1];
}
