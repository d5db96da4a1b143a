// Migration 8 of the store: accounts of identity providers, each linked with a user. A released migration is never changed.

import type { Migration } from 'kysely';
import { type Dialect, migrationOf } from './dialects.ts';
import type { StoreKind } from './schema.ts';

function statements({ text }: Dialect): string[] {
  return [
    `create table sign_on_accounts (
      issuer ${text} not null,
      subject ${text} not null,
      user_id ${text} not null references users (id) on delete cascade,
      created_at bigint not null,
      primary key (issuer, subject),
      unique (user_id, issuer)
    )`,
  ];
}

export function migration0008(kind: StoreKind): Migration {
  return migrationOf(kind, statements);
}
