// Request counts: a row for each user and UTC day. Counting up to a limit is one transaction, so that several daemons on
// one store together admit exactly the limit. daemon/accounts/limits/ decides when to ask, and what is decided in memory.

import { setImmediate } from 'node:timers/promises';
import type { Database, Writing } from './database.ts';

/** A daemon's report and request for one user. */
export interface UsageRequest {
  readonly userId: string;
  /** Requests admitted before; they count whatever the limit. */
  readonly uncounted: number;
  /** At least this many were used in total: known only by a daemon with its own store, and safe to repeat. */
  readonly atLeast: number;
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
     * Counts for several users at once, in one transaction.
     *
     * @param day       `YYYY-MM-DD`
     * @param requests  at most one for each user; some hundred at most
     * @returns         the answers in the order of the requests
     *
     * Errors: NOT_READY; the requests may then have been counted nevertheless.
     */
    count: async (day: string, requests: readonly UsageRequest[]): Promise<UsageAnswer[]> => {
      for (;;) {
        const answers = await database.write((writing) =>
          countAll(database, writing, day, requests),
        );
        if (answers !== undefined) return answers;
        await addRows(database, day, requests);
      }
    },
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

/** Undefined: rows are missing, nothing was changed. */
async function countAll(
  database: Database,
  { db }: Writing,
  day: string,
  requests: readonly UsageRequest[],
): Promise<UsageAnswer[] | undefined> {
  const userIds = requests.map(({ userId }) => userId);
  const query = db
    .selectFrom('usage')
    .select(['userId', 'used'])
    .where('day', '=', day)
    .where('userId', 'in', userIds)
    // In one order, so that no two transactions deadlock.
    .orderBy('userId');
  // The embedded store has one writer at a time.
  const rows = await (database.kind === 'postgres' ? query.forUpdate() : query).execute();
  if (database.kind === 'postgres' && rows.length < requests.length) return undefined;
  const usedBy = new Map(rows.map(({ userId, used }) => [userId, used]));
  const answers = requests.map((request) => answerTo(request, usedBy.get(request.userId) ?? 0));
  await db
    .insertInto('usage')
    .values(answers.map(({ used }, index) => ({ userId: userIds[index]!, day, used })))
    .onConflict((conflict) =>
      conflict
        .columns(['userId', 'day'])
        .doUpdateSet((set) => ({ used: set.ref('excluded.used') })),
    )
    .execute();
  return answers;
}

/** Computes the answer. @param counted  the count so far */
export function answerTo(
  { uncounted, atLeast, need, limit }: UsageRequest,
  counted: number,
): UsageAnswer {
  const before = Math.max(counted, atLeast) + uncounted;
  const admitted = Math.max(0, Math.min(need, limit - before));
  return { used: before + admitted, admitted };
}

/** Adds the missing rows, in one order, in a transaction of its own that holds no other lock. */
async function addRows(
  database: Database,
  day: string,
  requests: readonly UsageRequest[],
): Promise<void> {
  const userIds = requests.map(({ userId }) => userId).sort();
  await database.write(async ({ db }) => {
    await db
      .insertInto('usage')
      .values(userIds.map((userId) => ({ userId, day, used: 0 })))
      .onConflict((conflict) => conflict.columns(['userId', 'day']).doNothing())
      .execute();
  });
}

async function prune(database: Database): Promise<void> {
  const oldest = await oldestKeptDay(database);
  if (oldest === undefined) return;
  for (;;) {
    const rows = await database.read((db) =>
      db
        .selectFrom('usage')
        .select('userId')
        .where('day', '<', oldest)
        .limit(PRUNED_ROW_COUNT)
        .execute(),
    );
    if (rows.length === 0) return;
    const userIds = rows.map((row) => row.userId);
    await database.write(async ({ db }) => {
      const old = db.deleteFrom('usage').where('day', '<', oldest);
      await old.where('userId', 'in', userIds).execute();
    });
    await setImmediate();
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
