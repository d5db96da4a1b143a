// Migration 1 of the store: all tables with their indexes. A user's rows are removed with the user. A released migration is
// never changed.

import type { Migration } from 'kysely';
import { type Dialect, migrationOf } from './dialects.ts';
import type { StoreKind } from './schema.ts';

function userStatements({ text, clustered }: Dialect): string[] {
  return [
    `create table users (
      id ${text} not null primary key,
      email ${text} not null unique,
      name ${text},
      role ${text} not null check (role in ('OWNER', 'MEMBER')),
      password_hash ${text},
      suspended_at bigint,
      created_at bigint not null,
      updated_at bigint not null,
      last_activity_at bigint,
      requests_per_day bigint,
      ordinal bigint not null
    )`,
    `create index users_in_order on users (created_at, ordinal, id)`,
    `create index users_by_state on users (suspended_at, role)`,
    `create table sessions (
      hash ${text} not null primary key,
      user_id ${text} not null references users (id) on delete cascade,
      created_at bigint not null,
      expires_at bigint not null
    ) ${clustered}`,
    `create index sessions_by_user on sessions (user_id)`,
    `create index sessions_by_end on sessions (expires_at)`,
    `create table setup_links (
      hash ${text} not null primary key,
      user_id ${text} references users (id) on delete cascade,
      created_at bigint not null,
      expires_at bigint
    ) ${clustered}`,
    `create index setup_links_by_user on setup_links (user_id)`,
    `create index setup_links_by_end on setup_links (expires_at)`,
  ];
}

function keyStatements({ text }: Dialect): string[] {
  return [
    `create table api_keys (
      id ${text} not null primary key,
      user_id ${text} not null references users (id) on delete cascade,
      name ${text} not null,
      hash ${text} not null unique,
      created_at bigint not null,
      last_used_at bigint,
      ordinal bigint not null,
      unique (user_id, name)
    )`,
    `create index api_keys_in_order on api_keys (created_at, ordinal, id)`,
    `create table scoped_tokens (
      id ${text} not null primary key,
      hash ${text} not null unique,
      user_id ${text} not null references users (id) on delete cascade,
      api_key_id ${text} not null references api_keys (id) on delete cascade,
      repo_ids ${text} not null,
      created_at bigint not null,
      expires_at bigint not null
    )`,
    `create index scoped_tokens_by_user on scoped_tokens (user_id)`,
    `create index scoped_tokens_by_key on scoped_tokens (api_key_id)`,
    `create index scoped_tokens_by_end on scoped_tokens (expires_at)`,
  ];
}

/** Usage does not reference users: it is written after requests, possibly after the user was removed. */
function countStatements({ text, clustered }: Dialect): string[] {
  return [
    `create table grants (
      user_id ${text} not null references users (id) on delete cascade,
      repo_id bigint not null,
      primary key (user_id, repo_id)
    ) ${clustered}`,
    `create index grants_by_repo on grants (repo_id, user_id)`,
    `create table usage (
      user_id ${text} not null,
      day ${text} not null,
      used bigint not null,
      leases ${text} not null,
      wanted_until bigint not null,
      primary key (user_id, day)
    ) ${clustered}`,
    `create index usage_by_day on usage (day)`,
  ];
}

function recordStatements({ text, clustered }: Dialect): string[] {
  return [
    `create table audit (
      timestamp bigint not null,
      ordinal bigint not null,
      id ${text} not null,
      action ${text} not null,
      actor_id ${text} not null,
      actor_type ${text} not null,
      target_id ${text} not null,
      target_type ${text} not null,
      product_version ${text} not null,
      metadata ${text},
      org_id ${text} not null,
      primary key (timestamp, ordinal, id)
    )`,
    `create table settings (
      name ${text} not null primary key,
      value ${text} not null
    ) ${clustered}`,
  ];
}

export function migration0001(kind: StoreKind): Migration {
  return migrationOf(kind, (dialect) =>
    [userStatements, keyStatements, countStatements, recordStatements].flatMap((make) =>
      make(dialect),
    ),
  );
}
