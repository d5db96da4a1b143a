// Migration 5 of the store: connections to code hosts, their repos, and the host's facts about a repo. A released migration
// is never changed.

import type { Migration } from 'kysely';
import { type Dialect, migrationOf } from './dialects.ts';
import type { StoreKind } from './schema.ts';

function statements({ text, clustered }: Dialect): string[] {
  return [
    `create table connections (
      id bigint not null primary key,
      instance ${text} not null,
      name ${text} not null,
      type ${text} not null,
      address ${text} not null,
      rules ${text} not null,
      synced_at bigint,
      whole_at bigint,
      listing ${text},
      unique (instance, name)
    )`,
    `create table connection_repos (
      connection_id bigint not null references connections (id) on delete cascade,
      repo_id bigint not null references repos (id) on delete cascade,
      listing bigint not null,
      missing_since bigint,
      primary key (connection_id, repo_id)
    ) ${clustered}`,
    `create index connection_repos_by_repo on connection_repos (repo_id)`,
    `create table repo_hosts (
      repo_id bigint not null primary key references repos (id) on delete cascade,
      address ${text} not null,
      host_id ${text} not null,
      facts ${text} not null,
      unique (address, host_id)
    )`,
  ];
}

export function migration0005(kind: StoreKind): Migration {
  return migrationOf(kind, statements);
}
