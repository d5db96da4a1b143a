// Counts of requests: a row for each user and UTC day, with what is used and which daemon holds leases of
// what is left (usage-exchange.ts). Deciding in memory, and when to ask here, is for daemon/accounts/limits/.

import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Insertable, Selectable } from 'kysely';
import { z } from 'zod';
import type { Database, Writing } from './database.ts';
import type { UsageNotice } from './engine.ts';
import type { UsageTable } from './schema.ts';
import { NO_USAGE, exchange } from './usage-exchange.ts';
import type {
  UsageAnswer,
  UsageLease,
  UsageRequest,
  UsageState,
  UsageTerms,
} from './usage-exchange.ts';

export interface Usage {
  /** Milliseconds that a lease holds without being renewed; Infinity: until the store is closed. */
  readonly leaseMs: number;
  /**
   * Reports and asks for several users at once, in one transaction.
   *
   * @param day       `YYYY-MM-DD`
   * @param requests  at most one for each user; some hundred at most
   * @returns         the answers in the order of the requests
   *
   * Errors: NOT_READY; it may then have been done nevertheless, which the totals of later requests put right.
   */
  exchange(day: string, requests: readonly UsageRequest[]): Promise<UsageAnswer[]>;
  /** What is used, as far as reported. */
  read(userId: string, day: string): Promise<number>;
  /** Removes all but the last days that have any count. */
  prune(): Promise<void>;
  /** Calls `listener` when a holder wants numbers of a user that others hold, or has given some back. */
  onNotice(listener: (notice: UsageNotice) => void): () => void;
}

const LEASE_MS = 6_000;

/** A lease on PostgreSQL takes at most this part of what is left. */
const SHARE_COUNT = 4;

/** Days, of those that have counts, that stay: a clock that was wrong for once does not cost the others. */
const DAY_COUNT_KEPT = 8;

const PRUNED_ROW_COUNT = 500;

type Row = Selectable<UsageTable>;

const leasesSchema = z.array(
  z.object({
    holder: z.string(),
    size: z.number(),
    limit: z.number(),
    total: z.number(),
    expiresAt: z.number(),
  }),
);

/** Terms of a transaction, once it knows the time. */
type TermsAt = (nowMs: number, requests: readonly UsageRequest[]) => UsageTerms;

/** @param leaseMs  how long a lease on PostgreSQL is live without being renewed */
export function usageIn(database: Database, leaseMs = LEASE_MS): Usage {
  const isShared = database.kind === 'postgres';
  const termsAt = isShared ? sharedTerms(leaseMs) : soleTerms();
  return {
    leaseMs: isShared ? leaseMs : Infinity,
    exchange: async (day, requests) => {
      for (;;) {
        const answers = await database.write((writing) =>
          exchangeAll(database, writing, termsAt, day, requests),
        );
        if (answers !== undefined) return answers;
        await addRows(database, day, requests);
      }
    },
    read: (userId, day) =>
      database.read(async (db) => {
        const query = db.selectFrom('usage').select('used').where('user_id', '=', userId);
        return (await query.where('day', '=', day).executeTakeFirst())?.used ?? 0;
      }),
    prune: () => prune(database),
    onNotice: (listener) => database.onUsage(listener),
  };
}

/** Several daemons: a lease lives until it expires by the clock of the server. */
function sharedTerms(leaseMs: number): TermsAt {
  return (nowMs) => ({
    nowMs,
    leaseMs,
    shareCount: SHARE_COUNT,
    isLive: ({ expiresAt }) => expiresAt > nowMs,
  });
}

/** One daemon: its leases live as long as it does, and those of an earlier run are dead from the start. */
function soleTerms(): TermsAt {
  const holders = new Set<string>();
  return (nowMs, requests) => {
    for (const { holder } of requests) holders.add(holder);
    return { nowMs, leaseMs: 0, shareCount: 1, isLive: ({ holder }) => holders.has(holder) };
  };
}

/** Undefined: rows are missing, nothing was changed. */
async function exchangeAll(
  database: Database,
  writing: Writing,
  termsAt: TermsAt,
  day: string,
  requests: readonly UsageRequest[],
): Promise<UsageAnswer[] | undefined> {
  const { rows, nowMs } = await lockRows(database, writing, day, requests);
  if (database.kind === 'postgres' && rows.size < requests.length) return undefined;
  const terms = termsAt(nowMs, requests);
  const results = requests.map((request) => ({
    request,
    ...exchange(stateOf(rows.get(request.userId)), request, terms),
  }));
  await writeRows(
    writing,
    results.map(({ request, state }) => rowOf(request.userId, day, state)),
  );
  for (const { request, isShort } of results) {
    const { userId: usageOf, holder, isReturn } = request;
    if (isShort) writing.changed({ usageOf, holder, kind: 'wanted' });
    if (isReturn) writing.changed({ usageOf, holder, kind: 'returned' });
  }
  return results.map(({ answer }) => answer);
}

/** The rows that are there, by user, locked in one order so that no two transactions wait for each other. */
async function lockRows(
  database: Database,
  { db }: Writing,
  day: string,
  requests: readonly UsageRequest[],
): Promise<{ readonly rows: ReadonlyMap<string, Row>; readonly nowMs: number }> {
  const userIds = requests.map(({ userId }) => userId);
  const query = db
    .selectFrom('usage')
    .selectAll()
    .where('day', '=', day)
    .where('user_id', 'in', userIds)
    .orderBy('user_id');
  if (database.kind === 'embedded') {
    return { rows: byUser(await query.execute()), nowMs: database.now() };
  }
  // Bound: the time before the rows are locked; so leases are taken to live longer, never shorter.
  const clock = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
  const rows = await query.select(clock.as('now')).forUpdate().execute();
  return { rows: byUser(rows), nowMs: rows[0]?.now ?? 0 };
}

function byUser(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [row.user_id, row]));
}

async function writeRows({ db }: Writing, rows: Insertable<UsageTable>[]): Promise<void> {
  await db
    .insertInto('usage')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'day']).doUpdateSet((set) => ({
        used: set.ref('excluded.used'),
        leases: set.ref('excluded.leases'),
        wanted_until: set.ref('excluded.wanted_until'),
      })),
    )
    .execute();
}

/** Adds the rows that are missing, in one order, in a transaction of its own that holds no other lock. */
async function addRows(
  database: Database,
  day: string,
  requests: readonly UsageRequest[],
): Promise<void> {
  const userIds = requests.map(({ userId }) => userId).sort();
  await database.write(async ({ db }) => {
    await db
      .insertInto('usage')
      .values(userIds.map((userId) => rowOf(userId, day, NO_USAGE)))
      .onConflict((conflict) => conflict.columns(['user_id', 'day']).doNothing())
      .execute();
  });
}

function stateOf(row: Row | undefined): UsageState {
  if (row === undefined) return NO_USAGE;
  const leases: UsageLease[] = leasesSchema.parse(JSON.parse(row.leases));
  return { used: row.used, leases, wantedUntil: row.wanted_until };
}

function rowOf(userId: string, day: string, state: UsageState): Insertable<UsageTable> {
  const { used, leases, wantedUntil } = state;
  return {
    user_id: userId,
    day,
    used,
    leases: JSON.stringify(leases),
    wanted_until: wantedUntil,
  };
}

async function prune(database: Database): Promise<void> {
  const oldest = await oldestKeptDay(database);
  if (oldest === undefined) return;
  for (;;) {
    const rows = await database.read((db) =>
      db
        .selectFrom('usage')
        .select('user_id')
        .where('day', '<', oldest)
        .limit(PRUNED_ROW_COUNT)
        .execute(),
    );
    if (rows.length === 0) return;
    const userIds = rows.map((row) => row.user_id);
    await database.write(async ({ db }) => {
      const old = db.deleteFrom('usage').where('day', '<', oldest);
      await old.where('user_id', 'in', userIds).execute();
    });
    await setImmediate();
  }
}

/** Undefined: there are no more days than stay. */
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
