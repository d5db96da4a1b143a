// Migration 10 of the store: the table of jobs is the queue. A target has at most one pending job. A released migration is
// never changed.

import type { Migration } from 'kysely';
import { type Dialect, migrationOf } from './dialects.ts';
import type { StoreKind } from './schema.ts';

function statements({ text }: Dialect): string[] {
  return [
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
  ];
}

export function migration0010(kind: StoreKind): Migration {
  return migrationOf(kind, statements);
}
