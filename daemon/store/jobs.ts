// The queue of jobs: a row for each, with its last log lines. A daemon claims pending rows, runs them and stores their end.
// Daemons on one store have separate indexes, so every job belongs to one of them, its instance, and only that one reads it.

import { randomUUID } from 'node:crypto';
import { setImmediate as nextTimeSlice } from 'node:timers/promises';
import { type ExpressionBuilder, type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import { countOf, inBatches } from './batches.ts';
import type { Database } from './database.ts';
import type { Page, Window } from './page.ts';
import { HOUR_MS } from '../base/durations.ts';
import type { JobFacts, JobState } from '../repos/jobs.ts';
import type { JobTable, Schema } from './schema.ts';

export interface StoredJob
  extends JobFacts, Pick<JobTable, 'ordinal' | 'host' | 'dueAt' | 'failures'> {}

/** A job to store. @property lines  JSON array of all stored log lines */
export type JobWrite = StoredJob & { readonly lines: string };

export interface JobQuery extends Window {
  readonly queue?: string | undefined;
  readonly states?: readonly JobState[] | undefined;
}

export interface QueueName {
  readonly instance: string;
  readonly queue: string;
}

export interface JobClaim {
  /** How long the process may take. After that its jobs are pending again. */
  readonly leaseMs: number;
  /** Running jobs by host, and the bound of each; '': no host. */
  readonly running: ReadonlyMap<string, number>;
  readonly runningMax: number;
  readonly busy: readonly number[];
}

/** What a queue stores in one transaction. */
export interface JobExchange {
  /** Jobs that ended, or wait again: of each target only the last one of these waits. */
  readonly writes: readonly JobWrite[];
  /** Ids of jobs that are not worth a row any more. */
  readonly gone: readonly string[];
  /** Targets whose pending jobs end, and the reason. */
  readonly cancelled: ReadonlyMap<number, string>;
  /** Requested jobs. A target that has a pending one keeps it. */
  readonly requests: readonly JobWrite[];
  /** The process that claims jobs, and stores those that it claimed. */
  readonly owner: string;
  /** Undefined: none may start. */
  readonly claim: JobClaim | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface JobExchangeResult {
  /** The pending jobs of the requested targets, before any was claimed. */
  readonly pending: readonly JobWrite[];
  readonly claimed: readonly JobWrite[];
  /** Targets whose last job failed, and that are due again. */
  readonly dueTargets: readonly number[];
  /** When the next job or target is due; undefined: none. */
  readonly nextDueAt: number | undefined;
}

/** Columns of a job, without the lines, which may be many, the instance and the lease. */
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
  'host',
  'dueAt',
  'failures',
] as const satisfies (keyof JobTable)[];

const WRITTEN = [...COLUMNS, 'owner', 'lines'] as const;

/** Jobs per statement. */
const STEP_COUNT = 100;

export type JobRows = ReturnType<typeof jobsIn>;

export function jobsIn(database: Database) {
  return {
    /** Stores changes of a queue and claims jobs that may start, as one transaction. */
    exchange: (name: QueueName, exchange: JobExchange): Promise<JobExchangeResult> =>
      database.write(({ db }) => runExchange(db, database.kind === 'postgres', name, exchange), {
        isLong: true,
      }),
    /**
     * Jobs that a previous process left unfinished wait until they are requested again. Only the exclusive owner of an
     * instance calls this, so leases do not matter. One that has a successor ends.
     *
     * @returns  unfinished jobs, and the last job of each target if it has failed; oldest first
     */
    release: (name: QueueName, now: number): Promise<StoredJob[]> =>
      database.write(({ db }) => release(db, name, now)),
    /** JSON array of log lines; undefined: no such job in the queue. */
    linesOf: (instance: string, queue: string, id: string): Promise<string | undefined> =>
      database.read(async (db) => {
        const query = db.selectFrom('jobs').select('lines').where('id', '=', id);
        const mine = query.where('instance', '=', instance).where('queue', '=', queue);
        return (await mine.executeTakeFirst())?.lines;
      }),
    latest: (instance: string, queue: string, targetIds: readonly number[]): Promise<StoredJob[]> =>
      database.read((db) => latest(db, instance, queue, targetIds)),
    /** Unfinished ones first; newest first. */
    list: (instance: string, query: JobQuery): Promise<Page<StoredJob>> =>
      database.read((db) => list(db, instance, query)),
    /** The highest ordinal; 0: none. */
    lastOrdinal: (instance: string): Promise<number> =>
      database.read(async (db) => {
        const query = db.selectFrom('jobs').where('instance', '=', instance);
        const row = await query
          .select((select) => select.fn.max('ordinal').as('last'))
          .executeTakeFirst();
        return row?.last ?? 0;
      }),
    /**
     * Removes jobs of all instances that ended before; returns their number. Unfinished ones stay, whatever the clock says.
     */
    prune: (before: number): Promise<number> => prune(database, before),
  };
}

/** A literal: SQLite uses partial indexes only for those. */
const PENDING = sql.lit<JobState>('PENDING');

/** The error of a job that never ended and has a successor. */
export const REPLACED = 'interrupted; replaced by a later job';

type Claims = SelectQueryBuilder<Schema, 'jobs', Pick<JobTable, 'id' | 'targetId'>>;

type Statement<Self> = {
  where(column: 'instance' | 'queue', operator: '=', value: string): Self;
};

function inQueue<Query extends Statement<Query>>(query: Query, { instance, queue }: QueueName) {
  return query.where('instance', '=', instance).where('queue', '=', queue);
}

/** Stores jobs of this process. One that another process has claimed, or has ended, stays as it is. */
async function put(
  db: Kysely<Schema>,
  instance: string,
  owner: string,
  jobs: readonly JobWrite[],
): Promise<void> {
  if (jobs.length === 0) return;
  await db
    .insertInto('jobs')
    .values(jobs.map((job) => rowOf(instance, job, owner)))
    .onConflict((conflict) => {
      const update = conflict
        .column('id')
        .doUpdateSet((set) =>
          Object.fromEntries(WRITTEN.map((column) => [column, set.ref(`excluded.${column}`)])),
        );
      return update.where((where) =>
        where.or([
          where('jobs.owner', '=', owner),
          where.and([where('jobs.owner', 'is', null), where('jobs.finishedAt', 'is', null)]),
        ]),
      );
    })
    .execute();
}

/** Stores a job that waits again. One that waited before ends: while the store is away, another one may start. */
async function putPending(
  db: Kysely<Schema>,
  name: QueueName,
  { owner, now }: JobExchange,
  job: JobWrite,
): Promise<void> {
  await inQueue(db.updateTable('jobs'), name)
    .where('targetId', '=', job.targetId)
    .where('state', '=', PENDING)
    .where('id', '<>', job.id)
    .set({ state: 'FAILED', error: REPLACED, finishedAt: now, dueAt: null })
    .execute();
  await put(db, name.instance, owner, [job]);
}

async function runExchange(
  db: Kysely<Schema>,
  isShared: boolean,
  name: QueueName,
  exchange: JobExchange,
): Promise<JobExchangeResult> {
  for await (const ids of inBatches(exchange.gone, STEP_COUNT))
    await db.deleteFrom('jobs').where('id', 'in', ids).execute();
  const ended = exchange.writes.filter(({ state }) => state !== 'PENDING');
  for await (const batch of inBatches(ended, STEP_COUNT))
    await put(db, name.instance, exchange.owner, batch);
  for (const job of exchange.writes)
    if (job.state === 'PENDING') await putPending(db, name, exchange, job);
  for (const [targetId, error] of exchange.cancelled)
    await cancel(db, name, targetId, error, exchange.now);
  const pending: JobWrite[] = [];
  for await (const batch of inBatches(exchange.requests, STEP_COUNT))
    pending.push(...(await request(db, name, batch)));
  const claimed =
    exchange.claim === undefined ? [] : await claim(db, isShared, name, exchange, exchange.claim);
  return { pending, claimed, ...(await dueIn(db, name, exchange.now)) };
}

/** The target is gone: its pending job ends, and no other follows. */
async function cancel(
  db: Kysely<Schema>,
  name: QueueName,
  targetId: number,
  error: string,
  now: number,
): Promise<void> {
  const jobs = () => inQueue(db.updateTable('jobs'), name).where('targetId', '=', targetId);
  await jobs()
    .where('state', '=', 'PENDING')
    .set({ state: 'FAILED', error, finishedAt: now, dueAt: null })
    .execute();
  await jobs().where('state', '=', 'FAILED').set({ dueAt: null }).execute();
}

/** Inserts requested jobs; targets with a pending one keep it. Returns the pending ones. */
async function request(
  db: Kysely<Schema>,
  name: QueueName,
  jobs: readonly JobWrite[],
): Promise<JobWrite[]> {
  const targetIds = jobs.map(({ targetId }) => targetId);
  await inQueue(db.updateTable('jobs'), name)
    .where('targetId', 'in', targetIds)
    .where('state', '=', 'FAILED')
    .where('dueAt', 'is not', null)
    .set({ dueAt: null })
    .execute();
  await db
    .insertInto('jobs')
    // Why new ids: a job that is requested again conflicts with its own.
    .values(jobs.map((job) => ({ ...rowOf(name.instance, job, null), id: randomUUID() })))
    .onConflict((conflict) =>
      conflict
        .columns(['instance', 'queue', 'targetId'])
        .where('state', '=', PENDING)
        .doUpdateSet((set) => ({
          priority: lesser('priority'),
          dueAt: lesser('due_at'),
          host: set.ref('excluded.host'),
        })),
    )
    .execute();
  const rows = await inQueue(db.selectFrom('jobs').select([...COLUMNS, 'lines']), name)
    .where('targetId', 'in', targetIds)
    .where('state', '=', 'PENDING')
    .execute();
  return rows.map((row) => ({ ...jobOf(row), lines: row.lines }));
}

/** The lesser one of a stored value, which may be null, and the new one. */
function lesser(column: string) {
  const [stored, added] = [sql.ref(`jobs.${column}`), sql.ref(`excluded.${column}`)];
  return sql<number>`case when ${stored} < ${added} then ${stored} else ${added} end`;
}

async function claim(
  db: Kysely<Schema>,
  isShared: boolean,
  name: QueueName,
  { owner, now }: JobExchange,
  { leaseMs, running, runningMax, busy }: JobClaim,
): Promise<JobWrite[]> {
  await endClaims(db, name, now, (claims) => {
    const expired = claims.where('dueAt', '<=', now);
    return busy.length === 0 ? expired : expired.where('targetId', 'not in', busy);
  });
  const claimed: JobWrite[] = [];
  const counts = new Map(running);
  for (;;) {
    const full = [...counts].filter(([, count]) => count >= runningMax).map(([host]) => host);
    let query = inQueue(db.selectFrom('jobs'), name)
      .where('state', '=', PENDING)
      .where((where) => isDue(where, now));
    if (busy.length > 0) query = query.where('targetId', 'not in', busy);
    if (full.length > 0) query = query.where('host', 'not in', full);
    // Another daemon may be claiming the others.
    if (isShared) query = query.forUpdate().skipLocked();
    const rows = await query
      .select([...COLUMNS, 'lines'])
      .orderBy('priority')
      .orderBy('dueAt')
      .orderBy('ordinal')
      .limit(runningMax)
      .execute();
    const taken = rows.filter(({ host }) => {
      const count = counts.get(host) ?? 0;
      if (count < runningMax) counts.set(host, count + 1);
      return count < runningMax;
    });
    const started = taken.map((row) =>
      startAttempt({ ...jobOf(row), lines: row.lines }, now, leaseMs),
    );
    await put(db, name.instance, owner, started);
    claimed.push(...started);
    if (rows.length < runningMax || taken.length === 0) return claimed;
  }
}

/** The job at the start of an attempt; an interrupted one is repeated. */
export function startAttempt(job: JobWrite, now: number, leaseMs: number): JobWrite {
  const isAgain = job.startedAt !== null && job.error === null;
  return {
    ...job,
    state: 'IN_PROGRESS',
    attempt: isAgain ? job.attempt : job.attempt + 1,
    startedAt: now,
    dueAt: now + leaseMs,
    error: null,
  };
}

/** Bound: a job waits an hour and a half at most (sync/jobs/job-runner.ts), so a later time is of a clock that was set back since. */
const WAIT_MS_MAX = 2 * HOUR_MS;

function isDue(where: ExpressionBuilder<Schema, 'jobs'>, now: number) {
  return where.or([where('dueAt', '<=', now), where('dueAt', '>', now + WAIT_MS_MAX)]);
}

async function dueIn(
  db: Kysely<Schema>,
  name: QueueName,
  now: number,
): Promise<Pick<JobExchangeResult, 'dueTargets' | 'nextDueAt'>> {
  const jobs = () => inQueue(db.selectFrom('jobs'), name);
  const failed = await jobs()
    .select(['id', 'targetId'])
    .where('state', '=', 'FAILED')
    .where((where) => isDue(where, now))
    .execute();
  const ids = failed.map(({ id }) => id);
  if (ids.length > 0)
    await db.updateTable('jobs').set({ dueAt: null }).where('id', 'in', ids).execute();
  const next = await jobs()
    .select('dueAt')
    .where('dueAt', '>', now)
    .orderBy('dueAt')
    .limit(1)
    .executeTakeFirst();
  return {
    dueTargets: failed.map(({ targetId }) => targetId),
    nextDueAt: next?.dueAt ?? undefined,
  };
}

async function release(db: Kysely<Schema>, name: QueueName, now: number): Promise<StoredJob[]> {
  await endClaims(db, name, now, (claims) => claims);
  await inQueue(db.updateTable('jobs'), name)
    .where('dueAt', 'is not', null)
    .set({ dueAt: null })
    .execute();
  return open(db, name);
}

/** Claimed jobs whose process has died are pending again; those with a successor end. */
async function endClaims(
  db: Kysely<Schema>,
  name: QueueName,
  now: number,
  select: (claims: Claims) => Claims,
): Promise<void> {
  const claims = inQueue(db.selectFrom('jobs').select(['id', 'targetId']), name);
  const ended = await select(claims.where('state', '=', 'IN_PROGRESS')).execute();
  for (const { id, targetId } of ended) {
    const next = await inQueue(db.selectFrom('jobs').select('id'), name)
      .where('targetId', '=', targetId)
      .where('state', '=', PENDING)
      .executeTakeFirst();
    const change =
      next === undefined
        ? ({ state: 'PENDING', dueAt: now } as const)
        : ({ state: 'FAILED', error: REPLACED, finishedAt: now, dueAt: null } as const);
    await db
      .updateTable('jobs')
      .set({ ...change, owner: null })
      .where('id', '=', id)
      .execute();
  }
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

async function open(db: Kysely<Schema>, name: QueueName): Promise<StoredJob[]> {
  const rows = await inQueue(db.selectFrom('jobs').select(COLUMNS), name)
    .where('state', '<>', 'COMPLETED')
    .where((where) => {
      const later = where
        .selectFrom('jobs as later')
        .select('later.id')
        .where('later.instance', '=', name.instance)
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
  let query = db.selectFrom('jobs').where('instance', '=', instance);
  if (states !== undefined) query = query.where('state', 'in', states);
  if (queue !== undefined) query = query.where('queue', '=', queue);
  const rows = await query
    .select(COLUMNS)
    .orderBy(sql`case when finished_at is null then 0 else 1 end`)
    .orderBy('ordinal', 'desc')
    .offset(offset)
    .limit(limit)
    .execute();
  return { total: await countOf(query), rows: rows.map(jobOf) };
}

async function prune(database: Database, before: number): Promise<number> {
  for (let removed = 0; ; await nextTimeSlice()) {
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

/** @param owner  the process that runs it; for a job that does not run, null is stored */
function rowOf(instance: string, job: JobWrite, owner: string | null): JobTable {
  return {
    ...job,
    owner: job.state === 'IN_PROGRESS' ? owner : null,
    instance,
    error: job.error,
    result: job.result === null ? null : JSON.stringify(job.result),
    lines: job.lines,
  };
}

function jobOf(row: Pick<JobTable, (typeof COLUMNS)[number]>): StoredJob {
  return { ...row, result: row.result === null ? null : JSON.parse(row.result) };
}
