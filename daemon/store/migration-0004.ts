// Migration 4 of the store: jobs, each with its last log lines. A released migration is never changed.

import type { Migration } from 'kysely';
import { type Dialect, migrationOf } from './dialects.ts';
import type { StoreKind } from './schema.ts';

function statements({ text }: Dialect): string[] {
  return [
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
  ];
}

export function migration0004(kind: StoreKind): Migration {
  return migrationOf(kind, statements);
}
