// Grants: which user may see which repo. There may be a million, so every operation reads or counts only the rows of one
// user or one repo.

import type { Kysely, Transaction } from 'kysely';
import { setImmediate } from 'node:timers/promises';
import { appendAudit, type NewAuditRecord } from './audit.ts';
import { countOf, deleted, inBatches, selectBatches, SHORT_ROW_COUNT } from './batches.ts';
import type { Database, Writing } from './database.ts';
import { StoreError } from './error.ts';
import type { Page, Window } from './page.ts';
import type { Schema } from './schema.ts';

export interface Grant {
  readonly userId: string;
  readonly repoId: number;
}

export function grantsIn(database: Database) {
  /** Stores a change together with its audit record. */
  const recorded =
    (change: typeof add) =>
    (
      userId: string,
      repoIds: readonly number[],
      records: readonly NewAuditRecord[] = [],
    ): Promise<number> =>
      database.write(async (writing) => {
        await appendAudit(writing, records);
        return change(writing, userId, repoIds);
      });
  return {
    /** Returns the number of new ones. Errors: NOT_FOUND if there is no such user; nothing is added. */
    add: recorded(add),
    /** Returns the number removed. */
    remove: recorded(remove),
    /** Ascending. */
    repoIdsOf: (userId: string): Promise<number[]> => database.read((db) => repoIdsOf(db, userId)),
    /** By repoId. */
    listOfUser: (userId: string, window: Window): Promise<Page<Grant>> =>
      list(database, 'userId', userId, window),
    /** By userId. */
    listOfRepo: (repoId: number, window: Window): Promise<Page<Grant>> =>
      list(database, 'repoId', repoId, window),
  };
}

async function add(
  { db, changed }: Writing,
  userId: string,
  repoIds: readonly number[],
): Promise<number> {
  const user = db.selectFrom('users').select('id').where('id', '=', userId);
  if ((await user.executeTakeFirst()) === undefined)
    throw new StoreError('NOT_FOUND', 'user not found');
  let added = 0;
  for await (const batch of inBatches(sorted(repoIds))) {
    const result = await db
      .insertInto('grants')
      .values(batch.map((repoId) => ({ userId, repoId })))
      .onConflict((conflict) => conflict.columns(['userId', 'repoId']).doNothing())
      .executeTakeFirst();
    added += Number(result.numInsertedOrUpdatedRows ?? 0n);
  }
  if (added > 0) changed({ userId });
  return added;
}

async function remove(
  { db, changed }: Writing,
  userId: string,
  repoIds: readonly number[],
): Promise<number> {
  let removed = 0;
  for await (const batch of inBatches(sorted(repoIds))) {
    const own = db.deleteFrom('grants').where('userId', '=', userId);
    removed += await deleted(own.where('repoId', 'in', batch));
  }
  if (removed > 0) changed({ userId });
  return removed;
}

/** Why: without repeats each row counts once; in one order two writers cannot deadlock. */
function sorted(repoIds: readonly number[]): number[] {
  return [...new Set(repoIds)].sort((a, b) => a - b);
}

async function repoIdsOf(db: Kysely<Schema>, userId: string): Promise<number[]> {
  const query = db.selectFrom('grants').select('repoId').where('userId', '=', userId);
  const repoIds: number[] = [];
  for await (const rows of selectBatches(query, ['repoId'], SHORT_ROW_COUNT)) {
    for (const row of rows) repoIds.push(row.repoId);
  }
  return repoIds;
}

/** Removes all grants of a user, in the caller's transaction. */
export async function removeGrantsOf(db: Transaction<Schema>, userId: string): Promise<void> {
  const repoIds = db.selectFrom('grants').select('repoId').where('userId', '=', userId);
  const own = db.deleteFrom('grants').where('userId', '=', userId);
  const batch = own.where('repoId', 'in', repoIds.limit(SHORT_ROW_COUNT));
  while ((await deleted(batch)) === SHORT_ROW_COUNT) await setImmediate();
}

async function list(
  database: Database,
  column: 'userId' | 'repoId',
  value: string | number,
  { offset, limit }: Window,
): Promise<Page<Grant>> {
  return await database.read(async (db) => {
    const all = db.selectFrom('grants').where(column, '=', value);
    const rows = await all
      .select(['userId', 'repoId'])
      .orderBy(column === 'userId' ? 'repoId' : 'userId')
      .offset(offset)
      .limit(limit)
      .execute();
    return { total: await countOf(all), rows };
  });
}
