// Migration 2 of the store: repos with their visibility, and counters that never decrease. A counter assigns repo ids, so
// that ids in grants and tokens can never come to mean another repo. A released migration is never changed.

import type { Migration } from 'kysely';
import { type Dialect, migrationOf } from './dialects.ts';
import type { StoreKind } from './schema.ts';

function statements({ text, clustered }: Dialect): string[] {
  return [
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
  ];
}

export function migration0002(kind: StoreKind): Migration {
  return migrationOf(kind, statements);
}
