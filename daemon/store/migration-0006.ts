// Migration 6 of the store: readers of repos according to code hosts, as lists fetched by a connection, one per repo. A
// released migration is never changed.

import type { Migration } from 'kysely';
import { type Dialect, migrationOf } from './dialects.ts';
import type { StoreKind } from './schema.ts';

/**
 * Reader rows reference their list by a number: there may be ten million. The index covers only rows that can match a user.
 */
function statements({ text, clustered }: Dialect): string[] {
  return [
    `create table host_reader_lists (
      id bigint not null primary key,
      repo_id bigint not null references repos (id) on delete cascade,
      connection ${text} not null,
      taken_at bigint not null,
      reader_count bigint not null,
      unique (repo_id, connection)
    )`,
    `create table host_readers (
      list_id bigint not null references host_reader_lists (id) on delete cascade,
      account_id ${text} not null,
      email ${text} not null,
      primary key (list_id, account_id, email)
    ) ${clustered}`,
    `create index host_readers_by_email on host_readers (email, list_id) where email <> ''`,
  ];
}

export function migration0006(kind: StoreKind): Migration {
  return migrationOf(kind, statements);
}
