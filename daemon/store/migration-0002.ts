// The second form of the store: repos, with who may see them, and counters that never go back. Ids of repos are given out
// by a counter, so that grants and tokens, which hold ids, can never come to mean another repo. A migration that has been
// released is never changed; the next form is the next file.

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
