// Migration 9 of the store: the targets of a connection that listed a repo, and for a while the id and the grants of
// removed repos. A released migration is never changed.

import type { Migration } from 'kysely';
import { type Dialect, migrationOf } from './dialects.ts';
import type { StoreKind } from './schema.ts';

function statements({ text, clustered }: Dialect): string[] {
  return [
    `alter table connection_repos add column targets ${text}`,
    `create table removed_repos (
      repo_id bigint not null primary key,
      address ${text} not null,
      host_id ${text} not null,
      removed_at bigint not null
    )`,
    `create table removed_grants (
      repo_id bigint not null references removed_repos (repo_id) on delete cascade,
      user_id ${text} not null references users (id) on delete cascade,
      primary key (repo_id, user_id)
    ) ${clustered}`,
    `create index removed_grants_by_user on removed_grants (user_id)`,
  ];
}

export function migration0009(kind: StoreKind): Migration {
  return migrationOf(kind, statements);
}
