// The first form of the store: all tables with their indexes. Rows that belong to a user go with the user.
// A migration that has been released is never changed; the next form is the next file.

import { sql } from 'kysely';
import type { CreateTableBuilder, Kysely, Migration, RawBuilder } from 'kysely';
import type { StoreKind } from './schema.ts';

type Db = Kysely<unknown>;
type Text = 'text' | RawBuilder<unknown>;

/** A table with a column that names its user and goes with it. */
function withUser<Name extends string, Column extends string>(
  table: CreateTableBuilder<Name, Column>,
  text: Text,
): CreateTableBuilder<Name, Column | 'user_id'> {
  return table.addColumn('user_id', text, (column) =>
    column.notNull().references('users.id').onDelete('cascade'),
  );
}

async function createUsers(db: Db, text: Text): Promise<void> {
  await db.schema
    .createTable('users')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('email', text, (column) => column.notNull().unique())
    .addColumn('name', text)
    .addColumn('role', text, (column) => column.notNull().check(sql`role in ('OWNER', 'MEMBER')`))
    .addColumn('password_hash', text)
    .addColumn('suspended_at', 'bigint')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .addColumn('last_activity_at', 'bigint')
    .addColumn('requests_per_day', 'bigint')
    .addColumn('ordinal', 'bigint', (column) => column.notNull())
    .execute();
  await index(db, 'users', ['created_at', 'ordinal', 'id']);
  await index(db, 'users', ['suspended_at', 'role']);
}

async function createSignIn(db: Db, text: Text): Promise<void> {
  await withUser(
    db.schema
      .createTable('sessions')
      .addColumn('hash', text, (column) => column.primaryKey().notNull()),
    text,
  )
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await index(db, 'sessions', ['user_id']);
  await index(db, 'sessions', ['expires_at']);
  await db.schema
    .createTable('setup_links')
    .addColumn('hash', text, (column) => column.primaryKey().notNull())
    .addColumn('user_id', text, (column) => column.references('users.id').onDelete('cascade'))
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint')
    .execute();
  await index(db, 'setup_links', ['user_id']);
  await index(db, 'setup_links', ['expires_at']);
}

async function createKeys(db: Db, text: Text): Promise<void> {
  await withUser(
    db.schema
      .createTable('api_keys')
      .addColumn('id', text, (column) => column.primaryKey().notNull()),
    text,
  )
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('hash', text, (column) => column.notNull().unique())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('last_used_at', 'bigint')
    .addColumn('ordinal', 'bigint', (column) => column.notNull())
    .addUniqueConstraint('api_keys_user_id_name', ['user_id', 'name'])
    .execute();
  await index(db, 'api_keys', ['created_at', 'ordinal', 'id']);
  await withUser(
    db.schema
      .createTable('scoped_tokens')
      .addColumn('id', text, (column) => column.primaryKey().notNull()),
    text,
  )
    .addColumn('hash', text, (column) => column.notNull().unique())
    .addColumn('api_key_id', text, (column) =>
      column.notNull().references('api_keys.id').onDelete('cascade'),
    )
    .addColumn('repo_ids', text, (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await index(db, 'scoped_tokens', ['user_id']);
  await index(db, 'scoped_tokens', ['api_key_id']);
  await index(db, 'scoped_tokens', ['expires_at']);
}

async function createGrants(db: Db, text: Text): Promise<void> {
  await withUser(db.schema.createTable('grants'), text)
    .addColumn('repo_id', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('grants_pk', ['user_id', 'repo_id'])
    .execute();
  await index(db, 'grants', ['repo_id', 'user_id']);
}

/** Without reference to users: counts are written behind requests, and may arrive after their user is gone. */
async function createUsage(db: Db, text: Text): Promise<void> {
  await db.schema
    .createTable('usage')
    .addColumn('user_id', text, (column) => column.notNull())
    .addColumn('day', text, (column) => column.notNull())
    .addColumn('used', 'bigint', (column) => column.notNull())
    .addColumn('leases', text, (column) => column.notNull())
    .addColumn('wanted_until', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('usage_pk', ['user_id', 'day'])
    .execute();
  await index(db, 'usage', ['day']);
}

async function createRecords(db: Db, text: Text): Promise<void> {
  let audit = db.schema
    .createTable('audit')
    .addColumn('id', text, (column) => column.primaryKey().notNull())
    .addColumn('timestamp', 'bigint', (column) => column.notNull())
    .addColumn('ordinal', 'bigint', (column) => column.notNull());
  for (const name of ['action', 'actor_id', 'actor_type', 'target_id', 'target_type']) {
    audit = audit.addColumn(name, text, (column) => column.notNull());
  }
  await audit
    .addColumn('product_version', text, (column) => column.notNull())
    .addColumn('metadata', text)
    .addColumn('org_id', text, (column) => column.notNull())
    .execute();
  await index(db, 'audit', ['timestamp', 'ordinal', 'id']);
  await db.schema
    .createTable('settings')
    .addColumn('name', text, (column) => column.primaryKey().notNull())
    .addColumn('value', text, (column) => column.notNull())
    .execute();
}

async function index(db: Db, table: string, columns: readonly string[]): Promise<void> {
  await db.schema
    .createIndex(`${table}_by_${columns.join('_')}`)
    .on(table)
    .columns([...columns])
    .execute();
}

export function migration0001(kind: StoreKind): Migration {
  // Why: compared by bytes on both engines, and indexes do not depend on the locales of a machine.
  const text: Text = kind === 'postgres' ? sql`text collate "C"` : 'text';
  return {
    async up(db: Db): Promise<void> {
      await createUsers(db, text);
      await createSignIn(db, text);
      await createKeys(db, text);
      await createGrants(db, text);
      await createUsage(db, text);
      await createRecords(db, text);
    },
  };
}
