// Lists of readers from code hosts: one list for each repo and connection, replaced as a whole. There may be 100,000
// readers of a repo and 10,000 repos, so work runs in steps, and only differences are written. Callers decide what a list
// grants, and for how long. A connection is a text of `listingConnection`.

import { setImmediate } from 'node:timers/promises';
import { type Kysely, sql, type SqlBool } from 'kysely';
import { appendAudit, type NewAuditRecord } from './audit.ts';
import { inBatches, selectBatches, SHORT_ROW_COUNT } from './batches.ts';
import { type Database, incremented, type Writing } from './database.ts';
import type { ListStamp } from './engine.ts';
import type { Schema } from './schema.ts';
import { storable } from './text.ts';

export interface HostReaderList extends ListStamp {
  readonly takenAt: number;
  readonly readerCount: number;
}

/** Numbers of changed accounts. */
export interface ReaderChanges {
  readonly added: number;
  readonly removed: number;
  readonly altered: number;
}

/** Repos that a connection's lists let somebody read. */
export interface HostedRepos {
  readonly connection: string;
  readonly repoIds: readonly number[];
}

export interface HostAccount {
  readonly connection: string;
  /** The host's id. */
  readonly accountId: string;
}

export interface ReaderCounts {
  readonly count: number;
  /** Accounts matched with a user. */
  readonly known: number;
}

type RecordsOf = (changes: ReaderChanges) => readonly NewAuditRecord[];

export type ListKey = Pick<ListStamp, 'repoId' | 'connection'>;

/**
 * A connection as lists name it. Why not its name alone: daemons on one store have connections of the same name, and one
 * may move to another host, whose accounts have the same ids.
 */
export function listingConnection(
  instance: string,
  name: string,
  { type, url }: { readonly type: string; readonly url: string },
): string {
  return `${instance} ${type} ${url} ${name}`;
}

/** Its name in the configuration. */
export function nameOfListing(connection: string): string {
  return connection.replace(/^\S+ \S+ \S+ /, '');
}

const EMAIL = /^[^\s@]+@[^\s@]+$/;
/** Of an account. */
const EMAILS_MAX = 20;

/**
 * A verified address in the form that can match a user's; undefined: it cannot match.
 * Why only A to Z: other letters have lower cases that are letters of other addresses (the sign of Kelvin is k).
 */
function matchableEmail(text: string): string | undefined {
  if (text.length > 320) return undefined;
  const email = storable(text)
    .trim()
    .replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
  return EMAIL.test(email) ? email : undefined;
}

/** Collects the readers of a list: each account once, whatever pages repeat. */
export class ReaderSet {
  readonly #byAccount = new Map<string, string[]>();

  get size(): number {
    return this.#byAccount.size;
  }

  /** Ignores an id that cannot be stored. */
  add(accountId: string, emails: readonly string[]): void {
    const id = storable(accountId);
    if (id === '' || id.length > 255) return;
    const all = this.#byAccount.get(id) ?? [];
    for (const text of emails.slice(0, EMAILS_MAX)) {
      const email = matchableEmail(text);
      if (email !== undefined && all.length < EMAILS_MAX && !all.includes(email)) all.push(email);
    }
    this.#byAccount.set(id, all);
  }

  has({ accountId, email }: ReaderRow): boolean {
    const emails = this.#byAccount.get(accountId);
    if (emails === undefined) return false;
    return emails.length === 0 ? email === '' : emails.includes(email);
  }

  *rows(): Generator<ReaderRow> {
    for (const [accountId, emails] of this.#byAccount)
      for (const email of emails.length === 0 ? [''] : emails) yield { accountId, email };
  }
}

interface ReaderRow {
  readonly accountId: string;
  readonly email: string;
}

export type HostReaders = ReturnType<typeof hostReadersIn>;

export function hostReadersIn(database: Database) {
  /** A long transaction with the audit records of what it changed. */
  const inOneGo = (
    recordsOf: RecordsOf,
    run: (writing: Writing) => Promise<ReaderChanges>,
  ): Promise<ReaderChanges> =>
    database.write(
      async (writing) => {
        const changes = await run(writing);
        if (changes.added + changes.removed + changes.altered > 0)
          await appendAudit(writing, recordsOf(changes));
        return changes;
      },
      { isLong: true },
    );
  return {
    /** All lists, in the order they were first fetched. */
    lists: (): Promise<HostReaderList[]> => database.read(lists),
    /**
     * Replaces a list as a whole: readers see either the old one or the new one. The transaction may be long. A list
     * that was taken later stays, unless the clock has not come to its time: then that was a wrong clock.
     *
     * @param takenAt    a time before the host was asked; milliseconds since the epoch
     * @param recordsOf  its audit records, stored with it; called only if a reader changed
     * Errors: NOT_FOUND if there is no such repo.
     */
    replace: (
      key: ListKey,
      readers: ReaderSet,
      takenAt: number,
      recordsOf: RecordsOf = () => [],
    ): Promise<ReaderChanges> =>
      inOneGo(recordsOf, (writing) => replace(writing, key, readers, takenAt, database.now())),
    /** Removes a list; returns its number of readers, 0 also if there is none. */
    remove: async (key: ListKey, recordsOf: RecordsOf = () => []): Promise<number> =>
      (await inOneGo(recordsOf, (writing) => remove(writing, key))).removed,
    /** Repos whose lists contain the address, in a user's form, or one of the accounts. */
    reposOf: (email: string, accounts: readonly HostAccount[] = []): Promise<HostedRepos[]> =>
      database.read((db) => reposOf(db, email, accounts)),
    /** Those of a connection's accounts that are in its list of a repo. */
    accountsAmong: (
      repoId: number,
      connection: string,
      ids: readonly string[],
    ): Promise<string[]> => database.read((db) => accountsAmong(db, repoId, connection, ids)),
    /**
     * Number of accounts in the lists of a connection, at most COUNTED_MAX.
     *
     * @param issuers  whose accounts are those of the host
     */
    counts: (connection: string, issuers: readonly string[]): Promise<ReaderCounts> =>
      database.read((db) => countsOf(db, connection, issuers)),
    /** The addresses that are in lists of a repo, once for each list. */
    readersAmong: (
      repoId: number,
      emails: readonly string[],
    ): Promise<{ readonly email: string; readonly connection: string }[]> =>
      database.read((db) => readersAmong(db, repoId, emails)),
  };
}

async function lists(db: Kysely<Schema>): Promise<HostReaderList[]> {
  const found: HostReaderList[] = [];
  const query = db.selectFrom('host_reader_lists').selectAll();
  for await (const rows of selectBatches(query, ['id']))
    for (const { id: _, ...list } of rows) found.push(list);
  return found;
}

async function replace(
  writing: Writing,
  key: ListKey,
  readers: ReaderSet,
  takenAt: number,
  now: number,
): Promise<ReaderChanges> {
  const { db } = writing;
  const listId = await lockList(db, key, { takenAt, readerCount: readers.size }, now);
  const difference: Difference = { before: new Set(), after: new Set(), emails: new Set() };
  if (listId === undefined) return changesIn(difference);
  const { kept, gone } = await compared(db, listId, readers);
  await removeRows(db, listId, gone, difference);
  for await (const rows of stepped(readers.rows())) {
    const fresh = rows.filter((row) => !kept.has(keyOf(row)));
    await insertRows(db, listId, fresh, difference);
  }
  await notifyUsers(writing, difference);
  writing.changed({ list: { ...key, takenAt } });
  return changesIn(difference);
}

interface Difference {
  readonly before: Set<string>;
  readonly after: Set<string>;
  readonly emails: Set<string>;
}

/** Id of the list, created if missing; undefined: a later one stays. Locks the list until this transaction ends. */
async function lockList(
  db: Kysely<Schema>,
  { repoId, connection }: ListKey,
  state: Pick<HostReaderList, 'takenAt' | 'readerCount'>,
  now: number,
): Promise<number | undefined> {
  const stored = sql.ref('host_reader_lists.takenAt');
  const isReplaced = sql<SqlBool>`(${stored} <= ${state.takenAt} or ${stored} > ${now})`;
  const existing = await db
    .updateTable('host_reader_lists')
    .set(state)
    .where('repoId', '=', repoId)
    .where('connection', '=', connection)
    .where(isReplaced)
    .returning('id')
    .executeTakeFirst();
  if (existing !== undefined) return existing.id;
  const made = await db
    .insertInto('host_reader_lists')
    .values({ id: await incremented(db, 'host_reader_list'), repoId, connection, ...state })
    .onConflict((conflict) =>
      conflict.columns(['repoId', 'connection']).doUpdateSet(state).where(isReplaced),
    )
    .returning('id')
    .executeTakeFirst();
  return made?.id;
}

/** The rows to keep, by key, and the rows to remove. */
async function compared(
  db: Kysely<Schema>,
  listId: number,
  readers: ReaderSet,
): Promise<{ readonly kept: ReadonlySet<string>; readonly gone: readonly ReaderRow[] }> {
  const kept = new Set<string>();
  const gone: ReaderRow[] = [];
  for await (const rows of rowsOf(db, listId))
    for (const row of rows)
      if (readers.has(row)) kept.add(keyOf(row));
      else gone.push(row);
  return { kept, gone };
}

function rowsOf(db: Kysely<Schema>, listId: number): AsyncGenerator<ReaderRow[]> {
  const query = db
    .selectFrom('host_readers')
    .select(['accountId', 'email'])
    .where('listId', '=', listId);
  return selectBatches(query, ['accountId', 'email'], SHORT_ROW_COUNT);
}

/** Safety: no text of the store contains the character NUL. */
function keyOf({ accountId, email }: ReaderRow): string {
  return `${accountId}\0${email}`;
}

async function removeRows(
  db: Kysely<Schema>,
  listId: number,
  gone: readonly ReaderRow[],
  { before, emails }: Difference,
): Promise<void> {
  for await (const rows of inBatches(gone)) {
    for (const { accountId, email } of rows) {
      before.add(accountId);
      if (email !== '') emails.add(email);
    }
    const pairs = sql.join(rows.map(({ accountId: id, email }) => sql`(${id}, ${email})`));
    await db
      .deleteFrom('host_readers')
      .where('listId', '=', listId)
      .where(sql<SqlBool>`(account_id, email) in (values ${pairs})`)
      .execute();
  }
}

async function insertRows(
  db: Kysely<Schema>,
  listId: number,
  rows: readonly ReaderRow[],
  { after, emails }: Difference,
): Promise<void> {
  if (rows.length === 0) return;
  for (const { accountId, email } of rows) {
    after.add(accountId);
    if (email !== '') emails.add(email);
  }
  await db
    .insertInto('host_readers')
    .values(rows.map((row) => ({ listId, ...row })))
    .execute();
}

/** In steps of 250. */
async function* stepped(rows: Iterable<ReaderRow>): AsyncGenerator<readonly ReaderRow[]> {
  let step: ReaderRow[] = [];
  for (const row of rows) {
    step.push(row);
    if (step.length < 250) continue;
    yield step;
    step = [];
    await setImmediate();
  }
  yield step;
}

function changesIn({ before, after }: Difference): ReaderChanges {
  let altered = 0;
  for (const accountId of after) if (before.has(accountId)) altered++;
  return { added: after.size - altered, removed: before.size - altered, altered };
}

/** More changed users than this are reported as everybody. */
const NOTIFIED_MAX = 100;

/** Notifies caches of the users with the addresses or accounts of a difference. */
async function notifyUsers(writing: Writing, { before, after, emails }: Difference): Promise<void> {
  if (before.size + after.size === 0) return;
  // Why: a user created or linked meanwhile could be cached with the former lists.
  await writing.lockMembership({ isPatient: true });
  const userIds: string[] = await linkedUsers(writing, new Set([...before, ...after]));
  if (userIds.length > NOTIFIED_MAX) return writing.changed({ topic: 'readers' });
  for await (const batch of inBatches([...emails])) {
    const users = await writing.db
      .selectFrom('users')
      .select('id')
      .where('email', 'in', batch)
      .execute();
    userIds.push(...users.map(({ id }) => id));
    if (userIds.length > NOTIFIED_MAX) return writing.changed({ topic: 'readers' });
  }
  for (const userId of userIds) writing.changed({ userId });
}

/** Users linked with an account of such an id, of any issuer. Few users are linked, so all links are read. */
async function linkedUsers({ db }: Writing, accountIds: ReadonlySet<string>): Promise<string[]> {
  const found: string[] = [];
  const query = db.selectFrom('sign_on_accounts').select(['issuer', 'subject', 'userId']);
  for await (const rows of selectBatches(query, ['issuer', 'subject'], SHORT_ROW_COUNT))
    for (const row of rows) if (accountIds.has(row.subject)) found.push(row.userId);
  return found;
}

async function remove(writing: Writing, { repoId, connection }: ListKey): Promise<ReaderChanges> {
  const { db } = writing;
  const list = await db
    .updateTable('host_reader_lists')
    .set({ takenAt: 0 })
    .where('repoId', '=', repoId)
    .where('connection', '=', connection)
    .returning('id')
    .executeTakeFirst();
  const difference: Difference = { before: new Set(), after: new Set(), emails: new Set() };
  if (list === undefined) return changesIn(difference);
  const { gone } = await compared(db, list.id, new ReaderSet());
  await removeRows(db, list.id, gone, difference);
  await db.deleteFrom('host_reader_lists').where('id', '=', list.id).execute();
  await notifyUsers(writing, difference);
  writing.changed({ list: { repoId, connection, takenAt: null } });
  return changesIn(difference);
}

async function reposOf(
  db: Kysely<Schema>,
  email: string,
  accounts: readonly HostAccount[],
): Promise<HostedRepos[]> {
  const byConnection = new Map<string, Set<number>>();
  const readers = db
    .selectFrom('host_readers')
    .innerJoin('host_reader_lists', 'host_reader_lists.id', 'host_readers.listId')
    .select(['listId', 'connection', 'repoId']);
  const byEmail = readers.where('email', '=', email).where('email', '<>', sql.lit(''));
  // Why by the lists: there may be ten million readers, and no index by account, but 10,000 lists.
  const byAccount = accounts.map(({ connection, accountId }) =>
    readers.where('connection', '=', connection).where('accountId', '=', accountId),
  );
  for (const query of [byEmail, ...byAccount])
    for await (const rows of selectBatches(query, ['listId'], SHORT_ROW_COUNT))
      for (const { connection, repoId } of rows) {
        const existing = byConnection.get(connection) ?? new Set();
        byConnection.set(connection, existing.add(repoId));
      }
  return [...byConnection].map(([connection, repoIds]) => ({ connection, repoIds: [...repoIds] }));
}

async function accountsAmong(
  db: Kysely<Schema>,
  repoId: number,
  connection: string,
  ids: readonly string[],
): Promise<string[]> {
  const found = new Set<string>();
  for await (const batch of inBatches(ids)) {
    const rows = await db
      .selectFrom('host_reader_lists')
      .innerJoin('host_readers', 'host_readers.listId', 'host_reader_lists.id')
      .select('accountId')
      .where('repoId', '=', repoId)
      .where('connection', '=', connection)
      .where('accountId', 'in', batch)
      .execute();
    for (const { accountId } of rows) found.add(accountId);
  }
  return [...found];
}

/** Bound: memory while counting. */
const COUNTED_MAX = 100_000;

async function countsOf(
  db: Kysely<Schema>,
  connection: string,
  issuers: readonly string[],
): Promise<ReaderCounts> {
  const emails = new Set<string>();
  for await (const users of selectBatches(db.selectFrom('users').select(['id', 'email']), ['id']))
    for (const { email } of users) emails.add(email);
  const linked = new Set<string>();
  const accounts = db
    .selectFrom('sign_on_accounts')
    .select(['issuer', 'subject'])
    .where('issuer', 'in', issuers.length === 0 ? [''] : issuers);
  for await (const rows of selectBatches(accounts, ['issuer', 'subject'], SHORT_ROW_COUNT))
    for (const { subject } of rows) linked.add(subject);
  const readers = new Set<string>();
  const existing = new Set<string>();
  const lists = db
    .selectFrom('host_reader_lists')
    .select('id')
    .where('connection', '=', connection);
  for await (const some of selectBatches(lists, ['id']))
    for (const { id } of some)
      for await (const rows of rowsOf(db, id))
        for (const { accountId, email } of rows) {
          if (readers.size < COUNTED_MAX) readers.add(accountId);
          if (!readers.has(accountId)) continue;
          if (linked.has(accountId) || emails.has(email)) existing.add(accountId);
        }
  return { count: readers.size, known: existing.size };
}

async function readersAmong(
  db: Kysely<Schema>,
  repoId: number,
  emails: readonly string[],
): Promise<{ readonly email: string; readonly connection: string }[]> {
  const found: { readonly email: string; readonly connection: string }[] = [];
  for await (const batch of inBatches(emails)) {
    const rows = await db
      .selectFrom('host_reader_lists')
      .innerJoin('host_readers', 'host_readers.listId', 'host_reader_lists.id')
      .select(['email', 'connection'])
      .distinct()
      .where('repoId', '=', repoId)
      .where('email', 'in', batch)
      .where('email', '<>', sql.lit(''))
      .execute();
    found.push(...rows);
  }
  return found;
}
