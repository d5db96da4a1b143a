// The steps from which a store is built and migrated, as statements in the engine's dialect, by name in the order of
// release. A released step is never changed. Text is compared by bytes on both engines, so that no index depends on a
// machine's locales. A user's rows are removed with the user.

import { type Kysely, type Migration, sql } from 'kysely';
import type { StoreKind } from './schema.ts';

interface Dialect {
  readonly text: string;
  /** Suffix for a table with short rows: they are stored only in key order. */
  readonly clustered: string;
}

const DIALECTS: Readonly<Record<StoreKind, Dialect>> = {
  embedded: { text: 'text', clustered: 'without rowid' },
  postgres: { text: 'text collate "C"', clustered: '' },
};

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

const STEPS: Readonly<Record<string, (dialect: Dialect) => readonly string[]>> = {
  '0001': (dialect) =>
    [userStatements, keyStatements, countStatements, recordStatements].flatMap((of) => of(dialect)),
  /** Repos, and counters that never decrease: one assigns repo ids, so that ids in grants never come to mean another repo. */
  '0002': ({ text, clustered }) => [
    `create table repos (
      id bigint not null primary key,
      name ${text} not null unique,
      visibility ${text} not null check (visibility in ('public', 'internal', 'private', 'unknown')),
      enforcement ${text} not null check (enforcement in ('none', 'restricted', 'all')),
      place ${text},
      remote ${text},
      selection ${text}
    )`,
    `create table counters (
      name ${text} not null primary key,
      value bigint not null
    ) ${clustered}`,
  ],
  // Request counts without leases.
  '0003': () => [
    'alter table usage drop column leases',
    'alter table usage drop column wanted_until',
  ],
  /** Jobs, each with its last log lines. */
  '0004': ({ text }) => [
    `create table jobs (
      id ${text} not null primary key,
      instance ${text} not null,
      queue ${text} not null,
      target_id bigint not null,
      priority bigint not null,
      state ${text} not null check (state in ('PENDING', 'IN_PROGRESS', 'COMPLETED', 'FAILED')),
      attempt bigint not null,
      ordinal bigint not null,
      created_at bigint not null,
      started_at bigint,
      finished_at bigint,
      error ${text},
      result ${text},
      lines ${text} not null
    )`,
    `create index jobs_by_target on jobs (instance, queue, target_id, ordinal)`,
    `create index jobs_by_state on jobs (instance, state, ordinal)`,
    `create index jobs_by_end on jobs (coalesce(finished_at, created_at))`,
  ],
  /** Connections to code hosts, their repos, and the host's facts about a repo. */
  '0005': ({ text, clustered }) => [
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
  ],
  /** Readers of repos according to code hosts. There may be ten million; the index covers only rows that can match a user. */
  '0006': ({ text, clustered }) => [
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
  ],
  /** OAuth clients, their requests, consents and tokens. */
  '0007': ({ text }) => [
    `create table oauth_clients (
      id ${text} not null primary key,
      name ${text} not null,
      redirect_uris ${text} not null,
      created_at bigint not null,
      used_at bigint
    )`,
    `create index oauth_clients_by_use on oauth_clients (used_at, created_at)`,
    `create table oauth_requests (
      hash ${text} not null primary key,
      user_id ${text} not null references users (id) on delete cascade,
      client_id ${text} not null references oauth_clients (id) on delete cascade,
      redirect_uri ${text} not null,
      code_challenge ${text} not null,
      state ${text},
      resource ${text} not null,
      expires_at bigint not null
    )`,
    `create index oauth_requests_by_user on oauth_requests (user_id, expires_at)`,
    `create index oauth_requests_by_client on oauth_requests (client_id)`,
    `create table oauth_consents (
      id ${text} not null primary key,
      user_id ${text} not null references users (id) on delete cascade,
      client_id ${text} not null references oauth_clients (id) on delete cascade,
      redirect_uri ${text} not null,
      code_challenge ${text} not null,
      resource ${text} not null,
      code_hash ${text} not null unique,
      family_hash ${text} unique,
      refresh_hash ${text},
      key_hash ${text},
      created_at bigint not null,
      used_at bigint not null,
      expires_at bigint not null
    )`,
    `create index oauth_consents_by_user on oauth_consents (user_id, used_at)`,
    `create index oauth_consents_by_client on oauth_consents (client_id)`,
    `create index oauth_consents_by_end on oauth_consents (expires_at)`,
    `create table oauth_tokens (
      hash ${text} not null primary key,
      consent_id ${text} not null references oauth_consents (id) on delete cascade,
      resource ${text} not null,
      key_hash ${text},
      created_at bigint not null,
      expires_at bigint not null
    )`,
    `create index oauth_tokens_by_consent on oauth_tokens (consent_id, created_at)`,
    `create index oauth_tokens_by_end on oauth_tokens (expires_at)`,
  ],
  /** Accounts of identity providers, each linked with a user. */
  '0008': ({ text }) => [
    `create table sign_on_accounts (
      issuer ${text} not null,
      subject ${text} not null,
      user_id ${text} not null references users (id) on delete cascade,
      created_at bigint not null,
      primary key (issuer, subject),
      unique (user_id, issuer)
    )`,
  ],
  /** Targets of a connection that listed a repo; for a while the id and the grants of removed repos. */
  '0009': ({ text, clustered }) => [
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
  ],
  /** The table of jobs is the queue; a target has at most one pending job. */
  '0010': ({ text }) => [
    `alter table jobs add column host ${text} not null default ''`,
    `alter table jobs add column due_at bigint`,
    `alter table jobs add column failures bigint not null default 0`,
    `alter table jobs add column owner ${text}`,
    `update jobs set state = 'FAILED', finished_at = created_at, error = 'interrupted; replaced by a later job'
      where state in ('PENDING', 'IN_PROGRESS') and exists (
        select 1 from jobs later where later.instance = jobs.instance and later.queue = jobs.queue
          and later.target_id = jobs.target_id and later.ordinal > jobs.ordinal
          and later.state in ('PENDING', 'IN_PROGRESS'))`,
    `create unique index jobs_pending on jobs (instance, queue, target_id) where state = 'PENDING'`,
    `create index jobs_by_priority on jobs (instance, queue, priority, due_at, ordinal) where state = 'PENDING'`,
    `create index jobs_by_due on jobs (instance, queue, due_at) where due_at is not null`,
  ],
};

export const STORE_VERSIONS: readonly string[] = Object.keys(STEPS);

export function migrationsFor(kind: StoreKind): Record<string, Migration> {
  const steps = Object.entries(STEPS);
  return Object.fromEntries(steps.map(([name, step]) => [name, migrationOf(step(DIALECTS[kind]))]));
}

function migrationOf(statements: readonly string[]): Migration {
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}
