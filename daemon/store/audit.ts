// Audit records: appended, listed newest first, pruned. Callers define their content.

import { randomUUID } from 'node:crypto';
import { setImmediate as nextTimeSlice } from 'node:timers/promises';
import { type Kysely, type SelectQueryBuilder, sql, type SqlBool } from 'kysely';
import { countOf, deleted, inBatches } from './batches.ts';
import type { Database, Writing } from './database.ts';
import type { Page, Window } from './page.ts';
import type { AuditTable, Schema } from './schema.ts';

/** Who did it, and what the client says it is. */
export interface Actor {
  readonly id: string;
  readonly type: 'user' | 'api_key';
  /** Of the operator: the operating-system account of the command, at most 64 characters. */
  readonly account?: string;
  /** From the header `X-Service-Client-Source`, at most 64 characters. */
  readonly clientSource?: string;
}

export interface AuditRecord extends Omit<AuditTable, 'ordinal' | 'metadata'> {
  readonly metadata: Readonly<Record<string, unknown>> | null;
}

export type NewAuditRecord = Omit<AuditRecord, 'id'>;

export interface AuditQuery extends Window {
  /** Milliseconds since the epoch, inclusive. */
  readonly since?: number | undefined;
  /** Exclusive. */
  readonly until?: number | undefined;
  /** An action, or the group before its dot. */
  readonly action?: string | undefined;
  readonly actorId?: string | undefined;
}

/** Records removed per transaction: 4 ms on the embedded engine. */
const PRUNE_COUNT = 500;

/** Records scanned per statement: 1 ms on the embedded engine. */
const STEP_COUNT = 10_000;

export function auditIn(database: Database) {
  return {
    append: (records: readonly NewAuditRecord[]): Promise<void> =>
      database.write((writing) => appendAudit(writing, records)),
    /** Newest first; records of one millisecond by order of appending. */
    list: (query: AuditQuery): Promise<Page<AuditRecord>> => database.read((db) => list(db, query)),
    /** Removes records older than `before`; returns how many. */
    prune: (before: number): Promise<number> => prune(database, before),
  };
}

export async function appendAudit(
  { db, nextOrdinal }: Writing,
  records: readonly NewAuditRecord[],
): Promise<void> {
  const rows = records.map((record) => rowOf(record, nextOrdinal()));
  for await (const batch of inBatches(rows, 100)) {
    await db
      .insertInto('audit')
      .values([...batch])
      .execute();
  }
}

type Key = Pick<AuditTable, 'timestamp' | 'ordinal' | 'id'>;

/** Scans the whole period in steps: there is no index by action or actor, and counting all at once blocks the event loop. */
async function list(db: Kysely<Schema>, query: AuditQuery): Promise<Page<AuditRecord>> {
  const { since = 0, until = Number.MAX_SAFE_INTEGER, offset, limit } = query;
  const rows: AuditTable[] = [];
  let total = 0;
  let after: Key | undefined;
  for (; ; await nextTimeSlice()) {
    const step = newestFirst(db, { since, until }, after);
    const end = await keyAt(step, STEP_COUNT);
    const chosen = chosenOf(end === undefined ? step : step.where(besides(end, '>=')), query);
    const count = await countOf(chosen);
    if (rows.length < limit && offset < total + count) {
      const part = chosen.offset(Math.max(0, offset - total)).limit(limit - rows.length);
      rows.push(...(await part.selectAll().execute()));
    }
    total += count;
    if (end === undefined) return { total, rows: rows.map(recordOf) };
    after = end;
  }
}

function chosenOf(
  query: SelectQueryBuilder<Schema, 'audit', object>,
  { action, actorId }: AuditQuery,
): SelectQueryBuilder<Schema, 'audit', object> {
  const ofActor = actorId === undefined ? query : query.where('actorId', '=', actorId);
  if (action === undefined) return ofActor;
  const group = `${action}.`;
  const start = sql<string>`substr(action, 1, ${sql.lit(group.length)})`;
  return ofActor.where((is) => is.or([is('action', '=', action), is(start, '=', group)]));
}

/** Compares a record with a key, in reverse list order. */
function besides(key: Key, operator: '<' | '>=') {
  const columns = sql.join(['timestamp', 'ordinal', 'id'].map((column) => sql.ref(column)));
  const values = sql.join([key.timestamp, key.ordinal, key.id]);
  return sql<SqlBool>`(${columns}) ${sql.raw(operator)} (${values})`;
}

function newestFirst(
  db: Kysely<Schema>,
  { since, until }: Readonly<Record<'since' | 'until', number>>,
  after: Key | undefined,
): SelectQueryBuilder<Schema, 'audit', object> {
  const query = db
    .selectFrom('audit')
    .where('timestamp', '>=', since)
    .orderBy('timestamp', 'desc')
    .orderBy('ordinal', 'desc')
    .orderBy('id', 'desc');
  if (after === undefined) return query.where('timestamp', '<', until);
  // Why instead: given both, SQLite would start at `until` and scan everything before `after`.
  return query.where(besides(after, '<'));
}

/** Key of the record with this number, from 1; undefined: there are fewer. */
async function keyAt(
  query: SelectQueryBuilder<Schema, 'audit', object>,
  number: number,
): Promise<Key | undefined> {
  const keys = query.select(['timestamp', 'ordinal', 'id']).offset(number - 1);
  return (await keys.limit(1).execute())[0];
}

async function prune(database: Database, before: number): Promise<number> {
  let removed = 0;
  for (;;) {
    const count = await database.write(({ db }) => pruneSome(db, before));
    removed += count;
    if (count === 0) return removed;
    await nextTimeSlice();
  }
}

/** Removes a run of the oldest records; those of one millisecond go together. */
async function pruneSome(db: Kysely<Schema>, before: number): Promise<number> {
  const oldest = db.selectFrom('audit').select('timestamp').where('timestamp', '<', before);
  const last =
    (await oldest.orderBy('timestamp').offset(PRUNE_COUNT).limit(1).executeTakeFirst()) ??
    (await oldest.orderBy('timestamp', 'desc').limit(1).executeTakeFirst());
  if (last === undefined) return 0;
  return await deleted(db.deleteFrom('audit').where('timestamp', '<=', last.timestamp));
}

function rowOf(record: NewAuditRecord, ordinal: number): AuditTable {
  // Why one by one: spreading the record takes nearly twice as long.
  return {
    id: randomUUID(),
    timestamp: record.timestamp,
    ordinal,
    action: record.action,
    actorId: record.actorId,
    actorType: record.actorType,
    targetId: record.targetId,
    targetType: record.targetType,
    productVersion: record.productVersion,
    metadata: record.metadata === null ? null : JSON.stringify(record.metadata),
    orgId: record.orgId,
  };
}

function recordOf(row: AuditTable): AuditRecord {
  const { ordinal: _, metadata, ...same } = row;
  return { ...same, metadata: metadata === null ? null : JSON.parse(metadata) };
}
