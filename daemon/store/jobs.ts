// Jobs: pending, running and finished ones, with their last log lines. Daemons on one store have separate indexes, so every
// job belongs to one of them, its instance, and only that one reads it.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { inBatches } from './batches.ts';
import type { Database } from './database.ts';
import type { Page, Window } from './page.ts';
import type { JobFacts, JobState } from '../repos/jobs.ts';
import type { JobTable, Schema } from './schema.ts';
import { storable, storableOrNull } from './text.ts';

export interface StoredJob extends JobFacts {
  /** Ascends with the jobs of a daemon. */
  readonly ordinal: number;
}

/** A job to store. @property lines  JSON array of all stored log lines */
export type JobWrite = StoredJob & { readonly lines: string };

export interface JobQuery extends Window {
  readonly queue?: string | undefined;
  readonly states: readonly JobState[];
}

/** All columns except the lines, which may be many, and the instance. */
const COLUMNS = [
  'id',
  'queue',
  'targetId',
  'priority',
  'state',
  'attempt',
  'ordinal',
  'createdAt',
  'startedAt',
  'finishedAt',
  'error',
  'result',
] as const satisfies (keyof JobTable)[];

/** Jobs per statement of `write` and `prune`. */
const STEP_COUNT = 100;

export type JobRows = ReturnType<typeof jobsIn>;

export function jobsIn(database: Database) {
  return {
    /** Inserts or updates jobs, and removes those of `gone`. One transaction. */
    write: (instance: string, jobs: readonly JobWrite[], gone: readonly string[]): Promise<void> =>
      database.write(async ({ db }) => {
        for await (const ids of inBatches(gone, STEP_COUNT))
          await db.deleteFrom('jobs').where('id', 'in', ids).execute();
        for await (const batch of inBatches(jobs, STEP_COUNT)) await put(db, instance, batch);
      }),
    byId: (instance: string, id: string): Promise<StoredJob | undefined> =>
      database.read(async (db) => {
        const query = db.selectFrom('jobs').select(COLUMNS).where('id', '=', storable(id));
        const row = await query.where('instance', '=', instance).executeTakeFirst();
        return row === undefined ? undefined : jobOf(row);
      }),
    /** JSON array of log lines; undefined: no such job in the queue. */
    linesOf: (instance: string, queue: string, id: string): Promise<string | undefined> =>
      database.read(async (db) => {
        const query = db.selectFrom('jobs').select('lines').where('id', '=', storable(id));
        const mine = query.where('instance', '=', instance).where('queue', '=', queue);
        return (await mine.executeTakeFirst())?.lines;
      }),
    /** The last job of each of these targets, if any. */
    latest: (instance: string, queue: string, targetIds: readonly number[]): Promise<StoredJob[]> =>
      database.read((db) => latest(db, instance, queue, targetIds)),
    /** Unfinished jobs, and the last job of each target if it has failed; oldest first. */
    open: (instance: string): Promise<StoredJob[]> => database.read((db) => open(db, instance)),
    /** Newest first. */
    list: (instance: string, query: JobQuery): Promise<Page<StoredJob>> =>
      database.read((db) => list(db, instance, query)),
    /**
     * Removes jobs of all instances that ended before; returns their number. Unfinished ones stay, whatever the clock says.
     */
    prune: (before: number): Promise<number> => prune(database, before),
  };
}

async function put(db: Kysely<Schema>, instance: string, jobs: readonly JobWrite[]): Promise<void> {
  await db
    .insertInto('jobs')
    .values(jobs.map((job) => rowOf(instance, job)))
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((set) => ({
        priority: set.ref('excluded.priority'),
        state: set.ref('excluded.state'),
        attempt: set.ref('excluded.attempt'),
        startedAt: set.ref('excluded.startedAt'),
        finishedAt: set.ref('excluded.finishedAt'),
        error: set.ref('excluded.error'),
        result: set.ref('excluded.result'),
        lines: set.ref('excluded.lines'),
      })),
    )
    .execute();
}

async function latest(
  db: Kysely<Schema>,
  instance: string,
  queue: string,
  targetIds: readonly number[],
): Promise<StoredJob[]> {
  const found: StoredJob[] = [];
  for (const targetId of targetIds) {
    const query = db.selectFrom('jobs').select(COLUMNS).where('instance', '=', instance);
    const row = await query
      .where('queue', '=', queue)
      .where('targetId', '=', targetId)
      .orderBy('ordinal', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (row !== undefined) found.push(jobOf(row));
  }
  return found;
}

async function open(db: Kysely<Schema>, instance: string): Promise<StoredJob[]> {
  const rows = await db
    .selectFrom('jobs')
    .select(COLUMNS)
    .where('instance', '=', instance)
    .where('state', '<>', 'COMPLETED')
    .where((where) => {
      const later = where
        .selectFrom('jobs as later')
        .select('later.id')
        .where('later.instance', '=', instance)
        .whereRef('later.queue', '=', 'jobs.queue')
        .whereRef('later.targetId', '=', 'jobs.targetId')
        .whereRef('later.ordinal', '>', 'jobs.ordinal');
      return where.or([where('state', '<>', 'FAILED'), where.not(where.exists(later))]);
    })
    .orderBy('ordinal')
    .execute();
  return rows.map(jobOf);
}

async function list(
  db: Kysely<Schema>,
  instance: string,
  { queue, states, offset, limit }: JobQuery,
): Promise<Page<StoredJob>> {
  let query = db.selectFrom('jobs').where('instance', '=', instance).where('state', 'in', states);
  if (queue !== undefined) query = query.where('queue', '=', queue);
  const { total } = await query
    .select((select) => select.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await query
    .select(COLUMNS)
    .orderBy('ordinal', 'desc')
    .offset(offset)
    .limit(limit)
    .execute();
  return { total, rows: rows.map(jobOf) };
}

async function prune(database: Database, before: number): Promise<number> {
  for (let removed = 0; ; await nextTurn()) {
    const rows = await database.read((db) =>
      db
        .selectFrom('jobs')
        .select('id')
        .where('finishedAt', 'is not', null)
        // As in the index.
        .where(sql<number>`coalesce(finished_at, created_at)`, '<', before)
        .limit(STEP_COUNT)
        .execute(),
    );
    if (rows.length === 0) return removed;
    const ids = rows.map(({ id }) => id);
    await database.write(async ({ db }) => {
      await db.deleteFrom('jobs').where('id', 'in', ids).execute();
    });
    removed += ids.length;
  }
}

function rowOf(instance: string, job: JobWrite): JobTable {
  return {
    ...job,
    instance,
    error: storableOrNull(job.error),
    result: job.result === null ? null : storable(JSON.stringify(job.result)),
    lines: storable(job.lines),
  };
}

function jobOf(row: Pick<JobTable, (typeof COLUMNS)[number]>): StoredJob {
  return { ...row, result: row.result === null ? null : JSON.parse(row.result) };
}
