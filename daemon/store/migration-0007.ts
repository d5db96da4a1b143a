// Migration 7 of the store: OAuth clients, their requests, the users' consents, and tokens. A released migration is never
// changed.

import type { Migration } from 'kysely';
import { type Dialect, migrationOf } from './dialects.ts';
import type { StoreKind } from './schema.ts';

function statements({ text }: Dialect): string[] {
  return [
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
  ];
}

export function migration0007(kind: StoreKind): Migration {
  return migrationOf(kind, statements);
}
