// Audit records: appended, listed newest first, pruned. What they say is for the caller.

import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Kysely, Selectable } from 'kysely';

import { inBatches } from './batches.ts';
import type { Database } from './database.ts';
import type { Page, Window } from './page.ts';
import type { AuditTable, Schema } from './schema.ts';
import { storable } from './text.ts';

export interface NewAuditRecord {
  readonly timestamp: number;
  readonly action: string;
  readonly actorId: string;
  readonly actorType: string;
  readonly targetId: string;
  readonly targetType: string;
  readonly productVersion: string;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly orgId: string;
}

export interface AuditRecord extends NewAuditRecord {
  readonly id: string;
}

export interface AuditQuery extends Window {
  /** Milliseconds since the epoch, inclusive. */
  readonly since?: number | undefined;
  /** Exclusive. */
  readonly until?: number | undefined;
}

export interface Audit {
  append(records: readonly NewAuditRecord[]): Promise<void>;
  /** Newest first; of one millisecond those that were appended later. */
  list(query: AuditQuery): Promise<Page<AuditRecord>>;
  /** Removes records older than `before`; returns how many. */
  prune(before: number): Promise<number>;
}

type Row = Selectable<AuditTable>;

/** Rows that one statement removes or counts; the embedded engine counts 10,000 in 1 ms. */
const PRUNE_COUNT = 1_000;

export function auditIn(database: Database): Audit {
  return {
    append: (records) =>
      database.write(async ({ db }) => {
        const rows = records.map((record) => rowOf(record, database.nextOrdinal()));
        for await (const batch of inBatches(rows, 100)) {
          await db
            .insertInto('audit')
            .values([...batch])
            .execute();
        }
      }),
    list: (query) => database.read((db) => list(db, query)),
    prune: (before) => prune(database, before),
  };
}

async function list(
  db: Kysely<Schema>,
  { since = 0, until = Number.MAX_SAFE_INTEGER, offset, limit }: AuditQuery,
): Promise<Page<AuditRecord>> {
  const all = db.selectFrom('audit').where('timestamp', '>=', since).where('timestamp', '<', until);
  const { total } = await all
    .select((select) => select.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await all
    .selectAll()
    .orderBy('timestamp', 'desc')
    .orderBy('ordinal', 'desc')
    .orderBy('id', 'desc')
    .offset(offset)
    .limit(limit)
    .execute();
  return { total, rows: rows.map(recordOf) };
}

async function prune(database: Database, before: number): Promise<number> {
  let removed = 0;
  for (;;) {
    const count = await database.write(async ({ db }) => {
      const oldest = db
        .selectFrom('audit')
        .select('id')
        .where('timestamp', '<', before)
        .orderBy('timestamp')
        .limit(PRUNE_COUNT);
      const result = await db.deleteFrom('audit').where('id', 'in', oldest).executeTakeFirst();
      return Number(result.numDeletedRows);
    });
    removed += count;
    if (count < PRUNE_COUNT) return removed;
    await setImmediate();
  }
}

function rowOf(record: NewAuditRecord, ordinal: number): Row {
  return {
    id: randomUUID(),
    timestamp: record.timestamp,
    ordinal,
    action: storable(record.action),
    actor_id: storable(record.actorId),
    actor_type: storable(record.actorType),
    target_id: storable(record.targetId),
    target_type: storable(record.targetType),
    product_version: storable(record.productVersion),
    metadata: record.metadata === null ? null : JSON.stringify(record.metadata),
    org_id: storable(record.orgId),
  };
}

function recordOf(row: Row): AuditRecord {
  return {
    id: row.id,
    timestamp: row.timestamp,
    action: row.action,
    actorId: row.actor_id,
    actorType: row.actor_type,
    targetId: row.target_id,
    targetType: row.target_type,
    productVersion: row.product_version,
    metadata: row.metadata === null ? null : JSON.parse(row.metadata),
    orgId: row.org_id,
  };
}
