// Migrates a store to this version by kysely's Migrator: all missing steps in one transaction, one daemon at a time. A
// store of a newer version is refused.

import { omitUndefined } from '../base/omit-undefined.ts';
import { type Kysely, Migrator, sql, type TableMetadata } from 'kysely';
import { StoreError } from './error.ts';
import { migrationsFor, STORE_VERSIONS } from './migration-steps.ts';
import type { Schema, StoreKind } from './schema.ts';

export const STORE_VERSION = STORE_VERSIONS.at(-1)!;

/** Table in which the Migrator records completed migrations. */
const MIGRATION_TABLE = 'trawl_migrations';

/**
 * Runs the missing migrations.
 * Errors: NOT_READY for a store of a newer version; database errors otherwise, and nothing is changed.
 */
export async function migrate(db: Kysely<Schema>, kind: StoreKind): Promise<void> {
  const schema = await schemaOf(db, kind);
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve(migrationsFor(kind)) },
    migrationTableName: MIGRATION_TABLE,
    migrationLockTableName: `${MIGRATION_TABLE}_lock`,
    ...omitUndefined({ migrationTableSchema: schema }),
  });
  // Why: a current store is opened by reading only, which no writer blocks.
  if ((await checkedVersion(db, schema)) === STORE_VERSION) return;
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) return;
  // Another daemon may have migrated it further since.
  await checkedVersion(db, schema);
  throw error;
}

/** The schema of the tables; several instances may share a PostgreSQL database, each with its own. */
async function schemaOf(db: Kysely<Schema>, kind: StoreKind): Promise<string | undefined> {
  if (kind === 'embedded') return undefined;
  const { rows } = await sql<{ name: string | null }>`select current_schema() as name`.execute(db);
  const name = rows[0]?.name;
  if (name === undefined || name === null) {
    throw new StoreError('NOT_READY', 'the search_path of the PostgreSQL role names no schema');
  }
  return name;
}

/** Tables of this instance. @param schema  undefined: there is only one */
async function tablesHere(
  db: Kysely<Schema>,
  schema: string | undefined,
): Promise<readonly TableMetadata[]> {
  const tables = await db.introspection.getTables();
  return tables.filter((table) => schema === undefined || table.schema === schema);
}

/** Names of the columns of each table, in any order. */
export async function columnsByTable(
  db: Kysely<Schema>,
  kind: StoreKind,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const tables = await tablesHere(db, await schemaOf(db, kind));
  return new Map(tables.map(({ name, columns }) => [name, columns.map(({ name }) => name)]));
}

/** The last completed migration; undefined: none. Errors: NOT_READY if this version does not know it. */
async function checkedVersion(
  db: Kysely<Schema>,
  schema: string | undefined,
): Promise<string | undefined> {
  const tables = await tablesHere(db, schema);
  if (!tables.some(({ name }) => name === MIGRATION_TABLE)) return undefined;
  const rows = await db
    .withTables<{ [MIGRATION_TABLE]: { name: string } }>()
    .selectFrom(MIGRATION_TABLE)
    .select('name')
    .execute();
  const newest = rows
    .map(({ name }) => name)
    .sort()
    .at(-1);
  if (newest === undefined || STORE_VERSIONS.includes(newest)) return newest;
  throw new StoreError(
    'NOT_READY',
    'the store was made by a newer version of Trawl: ' +
      `it has version ${newest}, this Trawl supports ${STORE_VERSION}; nothing was changed: install the newer version ` +
      'again, or restore a backup that was made before the upgrade ("trawl restore FILE --force")',
  );
}
