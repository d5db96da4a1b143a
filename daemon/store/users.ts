// Users with role and state. Two rules hold whatever several daemons do at once: once there was an active owner there
// always is one, and there are no more active members than seats.

import { omitUndefined } from '../base/omit-undefined.ts';
import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import { appendAudit, type NewAuditRecord } from './audit.ts';
import { countOf, deleted, selectBatches } from './batches.ts';
import type { Database, Writing } from './database.ts';
import { StoreError } from './error.ts';
import { removeGrantsOf } from './grants.ts';
import type { ApiKeyTable, Schema, UserTable } from './schema.ts';
import { takeLinks, type UsedLink } from './setup-links.ts';
import { storable, storableOrNull } from './text.ts';

export type Role = UserTable['role'];

export interface User extends Omit<UserTable, 'requestsPerDay' | 'ordinal'> {
  /** Null: the default of the instance. */
  readonly requestsPerDay: number | 'unlimited' | null;
}

export type NewUser = Pick<User, 'email' | 'role'> & Partial<Pick<User, 'name' | 'passwordHash'>>;

/**
 * Absent members stay unchanged.
 * Invariant: the e-mail address cannot be changed. It was given by an owner, the operator or an identity provider that
 * verified it when the user was created. So it counts as verified when a host's lists of readers are matched by it
 * (accounts/host-lists.ts); any feature that lets users change it must end that.
 */
export type UserChanges = Partial<
  Pick<User, 'name' | 'role' | 'suspendedAt' | 'passwordHash' | 'requestsPerDay'>
>;

export interface SeatOptions {
  /** Active users allowed by the licence; undefined: any number. */
  readonly seatMax?: number | undefined;
}

export interface UpdateOptions extends SeatOptions {
  /** Only if the user still has this one. */
  readonly passwordHash?: string | null;
  /** With a new password: only if the link is valid, and the user is active. */
  readonly link?: UsedLink;
  /** Hash of the session that a new password does not end. */
  readonly sessionHash?: string;
  /** Audit records, stored with the change. */
  readonly recordsOf?: (after: User, before: User) => readonly NewAuditRecord[];
}

export interface CreateOptions extends SeatOptions {
  /** Only if this link for the first owner is valid, and there is no user. */
  readonly link?: UsedLink;
  /** Audit records, stored with the user. */
  readonly recordsOf?: (user: User) => readonly NewAuditRecord[];
}

/** @param keys  those of the user, which are removed too */
export type RemovalRecords = (
  user: User,
  keys: readonly Pick<ApiKeyTable, 'id' | 'name'>[],
) => readonly NewAuditRecord[];

/** 'unlimited' in the table. */
const UNLIMITED = -1;

export function usersIn(database: Database) {
  return {
    /** Errors: USER_ALREADY_EXISTS, ORG_SEAT_COUNT_REACHED, NOT_FOUND (the link). */
    create: (user: NewUser, options: CreateOptions = {}): Promise<User> =>
      database.write((writing) => create(database, writing, user, options)),
    get: (id: string): Promise<User | undefined> =>
      database.read(async (db) => userOf(await find(db, 'id', id))),
    /** Ignores case and surrounding blanks. */
    byEmail: (email: string): Promise<User | undefined> =>
      database.read(async (db) => userOf(await find(db, 'email', normalizedEmail(email)))),
    /** All, in order of creation. */
    list: (): Promise<User[]> => database.read(list),
    /**
     * Undefined: there is no such user, or it has another password hash. Suspending a user ends
     * its sessions and scoped tokens; a new password ends its sessions and links.
     * Errors: NOT_FOUND (the link), LAST_OWNER_CANNOT_BE_DEMOTED, LAST_OWNER_CANNOT_BE_REMOVED (suspended), ORG_SEAT_COUNT_REACHED (restored).
     */
    update: (
      id: string,
      changes: UserChanges,
      options: UpdateOptions = {},
    ): Promise<User | undefined> =>
      database.write((writing) => update(database, writing, id, changes, options)),
    /**
     * Removes the user with all the user's data, except audit records. False: there is no such user.
     * @param recordsOf  audit records, stored with the removal
     * Errors: LAST_OWNER_CANNOT_BE_REMOVED.
     */
    remove: (id: string, recordsOf: RemovalRecords = () => []): Promise<boolean> =>
      database.write((writing) => remove(writing, id, recordsOf)),
    /** Records activity; a time older than the recorded one is ignored. */
    touch: (id: string, at: number): Promise<void> => database.write(({ db }) => touch(db, id, at)),
    count: (): Promise<number> => database.read((db) => countOf(db.selectFrom('users'))),
    /** Those who are not suspended. */
    countActive: (): Promise<number> => database.read(countActive),
    /** Removes what expired at `now` or before, of all users; returns the number of rows. */
    pruneExpired: (now: number): Promise<number> => pruneExpired(database, now),
  };
}

function normalizedEmail(email: string): string {
  return storable(email).trim().toLowerCase();
}

async function find(
  db: Kysely<Schema>,
  column: 'id' | 'email',
  value: string,
): Promise<UserTable | undefined> {
  return await db.selectFrom('users').selectAll().where(column, '=', value).executeTakeFirst();
}

async function create(
  database: Database,
  writing: Writing,
  { email, name = null, role, passwordHash = null }: NewUser,
  { link, seatMax, recordsOf }: CreateOptions,
): Promise<User> {
  const { db } = writing;
  await writing.lockMembership();
  if (link !== undefined) {
    const isTaken = await takeLinks(db, null, link);
    if (!isTaken || (await countOf(db.selectFrom('users'))) > 0) throw noLink();
  }
  const normalized = normalizedEmail(email);
  if ((await find(db, 'email', normalized)) !== undefined) {
    throw new StoreError('USER_ALREADY_EXISTS', `user ${normalized} already exists`);
  }
  await takeSeat(db, seatMax);
  const now = database.now();
  const row: UserTable = {
    id: randomUUID(),
    email: normalized,
    name: storableOrNull(name),
    role,
    passwordHash,
    suspendedAt: null,
    createdAt: now,
    updatedAt: now,
    lastActivityAt: null,
    requestsPerDay: null,
    ordinal: writing.nextOrdinal(),
  };
  await db.insertInto('users').values(row).execute();
  writing.changed({ userId: row.id });
  const created = userFrom(row);
  await appendAudit(writing, recordsOf?.(created) ?? []);
  return created;
}

/** Reads in batches: users added or removed meanwhile may be included or not. */
async function list(db: Kysely<Schema>): Promise<User[]> {
  const users: User[] = [];
  const query = db.selectFrom('users').selectAll();
  for await (const rows of selectBatches(query, ['createdAt', 'ordinal', 'id'])) {
    for (const row of rows) users.push(userFrom(row));
  }
  return users;
}

async function update(
  database: Database,
  writing: Writing,
  id: string,
  changes: UserChanges,
  { seatMax, passwordHash, link, sessionHash = '', recordsOf }: UpdateOptions,
): Promise<User | undefined> {
  const { db } = writing;
  await writing.lockMembership();
  const before = await find(db, 'id', id);
  if (before === undefined) return undefined;
  if (passwordHash !== undefined && passwordHash !== before.passwordHash) return undefined;
  if (changes.passwordHash !== undefined) {
    const isTaken = await takeLinks(db, id, link);
    if (link !== undefined && (!isTaken || before.suspendedAt !== null)) throw noLink();
  }
  const columns = { ...columnsOf(changes), updatedAt: database.now() };
  const after: UserTable = { ...before, ...columns };
  await checkOwners(db, before, after);
  const isSuspended = before.suspendedAt === null && after.suspendedAt !== null;
  if (before.suspendedAt !== null && after.suspendedAt === null) await takeSeat(db, seatMax);
  await db.updateTable('users').set(columns).where('id', '=', id).execute();
  if (isSuspended || changes.passwordHash !== undefined) {
    const sessions = db.deleteFrom('sessions').where('userId', '=', id);
    await (isSuspended ? sessions : sessions.where('hash', '!=', sessionHash)).execute();
  }
  if (isSuspended) {
    await db.deleteFrom('scoped_tokens').where('userId', '=', id).execute();
    await db.deleteFrom('oauth_requests').where('userId', '=', id).execute();
    await db.deleteFrom('oauth_consents').where('userId', '=', id).execute();
  }
  writing.changed({ userId: id });
  const updated = userFrom(after);
  await appendAudit(writing, recordsOf?.(updated, userFrom(before)) ?? []);
  return updated;
}

function noLink(): StoreError {
  return new StoreError('NOT_FOUND', 'the link does not exist');
}

function columnsOf(changes: UserChanges): Partial<UserTable> {
  const { name, role, suspendedAt, passwordHash, requestsPerDay: requests } = changes;
  return omitUndefined({
    name: name === undefined ? undefined : storableOrNull(name),
    role,
    suspendedAt,
    passwordHash,
    requestsPerDay: requests === 'unlimited' ? UNLIMITED : requests,
  });
}

async function remove(writing: Writing, id: string, recordsOf: RemovalRecords): Promise<boolean> {
  const { db } = writing;
  await writing.lockMembership();
  const user = await find(db, 'id', id);
  if (user === undefined) return false;
  await checkOwners(db, user, undefined);
  const keys = await db
    .selectFrom('api_keys')
    .select(['id', 'name'])
    .where('userId', '=', id)
    .orderBy('createdAt')
    .orderBy('ordinal')
    .execute();
  await appendAudit(writing, recordsOf(userFrom(user), keys));
  // Why: a user may have very many grants; the rest goes with the user's row.
  await removeGrantsOf(db, id);
  await db.deleteFrom('usage').where('userId', '=', id).execute();
  await db.deleteFrom('users').where('id', '=', id).execute();
  writing.changed({ userId: id });
  return true;
}

async function touch(db: Kysely<Schema>, id: string, at: number): Promise<void> {
  await db
    .updateTable('users')
    .set({ lastActivityAt: at })
    .where('id', '=', id)
    .where((where) =>
      where.or([where('lastActivityAt', 'is', null), where('lastActivityAt', '<', at)]),
    )
    .execute();
}

/**
 * Refuses a change that would leave no active owner; `after` undefined: the user is removed.
 *
 * An owner who can sign in may only be removed while another one can: an owner who was only invited may never come.
 */
async function checkOwners(
  db: Kysely<Schema>,
  before: UserTable,
  after: UserTable | undefined,
): Promise<void> {
  if (!isActiveOwner(before) || (after !== undefined && isActiveOwner(after))) return;
  const owners = db
    .selectFrom('users')
    .select('id')
    .where('role', '=', 'OWNER')
    .where('suspendedAt', 'is', null)
    .limit(1);
  const entered = owners.where((where) =>
    where.or([
      where('passwordHash', 'is not', null),
      where('lastActivityAt', 'is not', null),
      where('id', 'in', db.selectFrom('api_keys').select('userId')),
    ]),
  );
  const hasEntered = (await entered.where('id', '=', before.id).execute()).length > 0;
  const others = await (hasEntered ? entered : owners).where('id', '!=', before.id).execute();
  if (others.length > 0) return;
  const isDemoted = after !== undefined && after.role !== 'OWNER';
  const deed = isDemoted ? 'demoted' : after === undefined ? 'removed' : 'suspended';
  throw new StoreError(
    isDemoted ? 'LAST_OWNER_CANNOT_BE_DEMOTED' : 'LAST_OWNER_CANNOT_BE_REMOVED',
    `the last active owner cannot be ${deed}; an owner who was invited counts after the first sign-in`,
  );
}

function isActiveOwner({ role, suspendedAt }: UserTable): boolean {
  return role === 'OWNER' && suspendedAt === null;
}

async function takeSeat(db: Kysely<Schema>, seatMax: number | undefined): Promise<void> {
  if (seatMax === undefined) return;
  if ((await countActive(db)) < seatMax) return;
  throw new StoreError('ORG_SEAT_COUNT_REACHED', `all ${seatMax} seats of the licence are taken`);
}

function countActive(db: Kysely<Schema>): Promise<number> {
  return countOf(db.selectFrom('users').where('suspendedAt', 'is', null));
}

const EXPIRING_TABLES = [
  'sessions',
  'setup_links',
  'scoped_tokens',
  'oauth_requests',
  'oauth_tokens',
  'oauth_consents',
] as const;

async function pruneExpired(database: Database, now: number): Promise<number> {
  return database.write(async ({ db }) => {
    let count = 0;
    for (const table of EXPIRING_TABLES)
      count += await deleted(db.deleteFrom(table).where('expiresAt', '<=', now));
    return count;
  });
}

function userOf(row: UserTable | undefined): User | undefined {
  return row === undefined ? undefined : userFrom(row);
}

function userFrom(row: UserTable): User {
  const { requestsPerDay: requests } = row;
  // Why one by one: there may be 100,000, and spreading the rest of a row takes longer.
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    role: row.role,
    passwordHash: row.passwordHash,
    suspendedAt: row.suspendedAt,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    lastActivityAt: row.lastActivityAt,
    requestsPerDay: requests === UNLIMITED ? 'unlimited' : requests,
  };
}
