// Request counts: a row for each user and UTC day. Counting up to a limit is one transaction, so that several daemons on
// one store together admit exactly the limit. accounts/limits.ts decides when to ask.

import { setImmediate } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Database } from './database.ts';
import type { Schema } from './schema.ts';

/** A daemon's report and request for one user. */
export interface UsageRequest {
  readonly userId: string;
  /** `YYYY-MM-DD`. */
  readonly day: string;
  /** Requests admitted before; they count whatever the limit. */
  readonly uncounted: number;
  /** Requests that wait to be admitted. */
  readonly need: number;
  readonly limit: number;
}

export interface UsageAnswer {
  /** By all daemons, including those admitted now. */
  readonly used: number;
  /** How many of `need` are admitted within the limit. */
  readonly admitted: number;
}

/** Days kept, of those with counts: a clock that was wrong once does not delete the others. */
const DAY_COUNT_KEPT = 8;

const PRUNED_ROW_COUNT = 500;

export type Usage = ReturnType<typeof usageIn>;

export function usageIn(database: Database) {
  return {
    /** Several daemons may count on this store. */
    isShared: database.kind === 'postgres',
    /**
     * Counts for several users in one transaction.
     *
     * @param requests  at most one for each user and day; some hundred at most
     * @returns         the answers in their order
     * Errors: NOT_READY; PostgreSQL may then have counted nevertheless.
     */
    count: (requests: readonly UsageRequest[]): Promise<UsageAnswer[]> =>
      database.write(({ db }) => countAll(db, requests)),
    /** The reported use. */
    read: (userId: string, day: string): Promise<number> =>
      database.read(async (db) => {
        const query = db.selectFrom('usage').select('used').where('userId', '=', userId);
        return (await query.where('day', '=', day).executeTakeFirst())?.used ?? 0;
      }),
    /** Removes all but the last days with counts. */
    prune: (): Promise<void> => prune(database),
  };
}

/** Adds everything, which locks the rows, and takes back what exceeds the limits. */
async function countAll(
  db: Kysely<Schema>,
  requests: readonly UsageRequest[],
): Promise<UsageAnswer[]> {
  // In one order, so that no two transactions deadlock.
  const rows = requests
    .map(({ userId, day, uncounted, need }) => ({ userId, day, used: uncounted + need }))
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const counted = await db
    .insertInto('usage')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['userId', 'day']).doUpdateSet({ used: sql`usage.used + excluded.used` }),
    )
    .returningAll()
    .execute();
  const usedBy = new Map(counted.map((row) => [keyOf(row), row.used]));
  const answers: UsageAnswer[] = [];
  for (const request of requests) {
    const { userId, day, need, limit } = request;
    const sum = usedBy.get(keyOf(request)) ?? 0;
    const refused = Math.max(0, Math.min(need, sum - limit));
    const used = sum - refused;
    if (refused > 0) {
      const row = db.updateTable('usage').where('userId', '=', userId).where('day', '=', day);
      await row.set({ used }).execute();
    }
    answers.push({ used, admitted: need - refused });
  }
  return answers;
}

function keyOf({ userId, day }: Pick<UsageRequest, 'userId' | 'day'>): string {
  return `${day} ${userId}`;
}

async function prune(database: Database): Promise<void> {
  const oldest = await oldestKeptDay(database);
  if (oldest === undefined) return;
  const old = (db: Kysely<Schema>) =>
    db.selectFrom('usage').select('userId').where('day', '<', oldest).limit(PRUNED_ROW_COUNT);
  for (let count = 1n; count > 0n; await setImmediate()) {
    const removed = await database.write(({ db }) => {
      const rows = db.deleteFrom('usage').where('day', '<', oldest);
      return rows.where('userId', 'in', old(db)).executeTakeFirst();
    });
    count = removed.numDeletedRows;
  }
}

/** Undefined: there are no more days than are kept. */
async function oldestKeptDay(database: Database): Promise<string | undefined> {
  let day: string | undefined = '9999-99-99';
  for (let i = 0; i < DAY_COUNT_KEPT && day !== undefined; i++) {
    const before: string = day;
    day = await database.read(async (db) => {
      const query = db.selectFrom('usage').select('day').where('day', '<', before);
      return (await query.orderBy('day', 'desc').limit(1).executeTakeFirst())?.day;
    });
  }
  return day;
}
