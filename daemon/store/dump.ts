// Dumps and loads the whole store as rows, the same for both engines: for backups, and to move from one engine to the
// other. A dump is a snapshot taken while writes continue; callers store it.

import { setImmediate as nextTimeSlice } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { inBatches, selectBatches } from './batches.ts';
import type { Database, Writing } from './database.ts';
import { DumpError } from './error.ts';
import { STORE_VERSIONS } from './migration-steps.ts';
import { STORE_VERSION, columnsByTable } from './migrations.ts';
import type { CounterTable, Schema, StoreKind } from './schema.ts';

export type DumpValue = string | number | null;
export type DumpRow = Readonly<Record<string, DumpValue>>;

/** Rows of a table. The first part is of the table `store` and contains its version. */
export interface DumpPart {
  readonly table: string;
  readonly rows: readonly DumpRow[];
}

interface TableShape {
  readonly key: readonly string[];
  /** Rows of a part, so that each is read quickly: these have rows of 1 to 100 KB. */
  readonly rowCount?: number;
}

/** All tables, referenced ones first. */
const TABLES: Readonly<Record<keyof Schema, TableShape>> = {
  users: { key: ['id'] },
  sessions: { key: ['hash'] },
  setup_links: { key: ['hash'] },
  api_keys: { key: ['id'] },
  scoped_tokens: { key: ['id'], rowCount: 10 },
  grants: { key: ['user_id', 'repo_id'] },
  usage: { key: ['user_id', 'day'] },
  audit: { key: ['timestamp', 'ordinal', 'id'], rowCount: 200 },
  settings: { key: ['name'] },
  repos: { key: ['id'] },
  counters: { key: ['name'] },
  jobs: { key: ['id'], rowCount: 10 },
  connections: { key: ['id'] },
  connection_repos: { key: ['connection_id', 'repo_id'] },
  repo_hosts: { key: ['repo_id'] },
  host_reader_lists: { key: ['id'] },
  host_readers: { key: ['list_id', 'account_id', 'email'] },
  oauth_clients: { key: ['id'] },
  oauth_requests: { key: ['hash'] },
  oauth_consents: { key: ['id'] },
  oauth_tokens: { key: ['hash'] },
  sign_on_accounts: { key: ['issuer', 'subject'] },
  removed_repos: { key: ['repo_id'] },
  removed_grants: { key: ['repo_id', 'user_id'] },
};

const HEADER_TABLE = 'store';
/** Columns of older versions, which were removed since. */
const GONE_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  usage: ['leases', 'wanted_until'],
};
type AnyTables = Record<string, DumpRow>;

/** All rows of one snapshot. Errors: NOT_READY, also if the store is closed meanwhile. */
export function dump(database: Database): AsyncGenerator<DumpPart> {
  return database.readSnapshot(readParts);
}

async function* readParts(db: Kysely<Schema>): AsyncGenerator<DumpPart> {
  yield { table: HEADER_TABLE, rows: [{ version: STORE_VERSION }] };
  const anyDb = db.withoutPlugins().withTables<AnyTables>();
  for (const [table, { key, rowCount }] of Object.entries(TABLES)) {
    const query = anyDb.selectFrom(table).selectAll();
    for await (const rows of selectBatches(query, key, rowCount)) yield { table, rows };
  }
}

export interface LoadOptions {
  /** Removes the store's content first, in the same transaction; default: it must be empty. */
  readonly isReplacing?: boolean;
}

/**
 * Fills an empty store with the rows of a dump, all of them or none.
 * Errors: DumpError if the parts are no dump, of another version, or the store is not empty; NOT_READY.
 */
export async function load(
  database: Database,
  parts: AsyncIterable<DumpPart>,
  options: LoadOptions,
): Promise<void> {
  // Why: a retried transaction could not read the parts again.
  let hasStarted = false;
  await database.write(async (writing) => {
    await writing.lockMembership({ isPatient: true });
    if (hasStarted) throw new DumpError('another writer interfered with loading; load it again');
    hasStarted = true;
    const counters = options.isReplacing === true ? await empty(writing) : [];
    await loadParts(database.kind, writing, parts);
    await raiseCounters(writing, counters);
  });
}

/** Removes all rows, referencing ones first; returns the counters. */
async function empty({ db }: Writing): Promise<readonly CounterTable[]> {
  const anyDb = db.withTables<AnyTables>();
  const counters = await db.deleteFrom('counters').returningAll().execute();
  for (const table of Object.keys(TABLES).reverse()) await anyDb.deleteFrom(table).execute();
  return counters;
}

/** No counter goes back. Why: a running daemon has repos of ids that the dump does not know, and would show them by new rules. */
async function raiseCounters({ db }: Writing, counters: readonly CounterTable[]): Promise<void> {
  for (const counter of counters)
    await db
      .insertInto('counters')
      .values(counter)
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet(counter)
          .where(sql.ref('counters.value'), '<', counter.value),
      )
      .execute();
}

async function loadParts(
  kind: StoreKind,
  { db, changed }: Writing,
  parts: AsyncIterable<DumpPart>,
): Promise<void> {
  const anyDb = db.withoutPlugins().withTables<AnyTables>();
  for (const table of Object.keys(TABLES)) {
    const row = await anyDb.selectFrom(table).selectAll().limit(1).executeTakeFirst();
    if (row !== undefined)
      throw new DumpError(
        `the store is not empty: there are rows in ${table}; --force replaces them`,
      );
  }
  const columnsOf = await columnsByTable(db, kind);
  let isVersionChecked = false;
  for await (const { table, rows } of parts) {
    if (!isVersionChecked) checkHeader(table, rows);
    else {
      const columns = table in TABLES ? columnsOf.get(table) : undefined;
      if (columns === undefined) throw new DumpError(`the dump names an unknown table: ${table}`);
      const current = rows.map((row) => withoutColumns(row, GONE_COLUMNS[table] ?? []));
      for (const row of current) checkRow(table, columns, row);
      // At most 2,000 values a statement; SQLite takes 32,766.
      for await (const batch of inBatches(current, Math.floor(2_000 / columns.length)))
        await anyDb
          .insertInto(table)
          .values([...batch])
          .execute();
    }
    isVersionChecked = true;
    await nextTimeSlice();
  }
  if (!isVersionChecked) throw new DumpError('the dump is empty');
  changed({ topic: 'all' });
}

function checkHeader(table: string, rows: readonly DumpRow[]): void {
  const version = rows[0]?.['version'];
  if (table !== HEADER_TABLE || typeof version !== 'string') {
    throw new DumpError('this is not a dump of a store: it does not begin with its version');
  }
  if (STORE_VERSIONS.includes(version)) return;
  throw new DumpError(
    `the dump has version ${version}, this version of Trawl reads ${STORE_VERSION}`,
  );
}

function withoutColumns(row: DumpRow, names: readonly string[]): DumpRow {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));
}

function checkRow(table: string, columns: readonly string[], row: DumpRow): void {
  const names = Object.keys(row);
  const isComplete = names.length === columns.length && columns.every((name) => name in row);
  if (!isComplete) throw new DumpError(`a row of ${table} has columns ${names.join(', ')}`);
}
