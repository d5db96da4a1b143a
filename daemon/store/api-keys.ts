// API keys, by the hash of their value. Removing a key also removes the scoped tokens made with it.

import { randomUUID } from 'node:crypto';
import { appendAudit, type NewAuditRecord } from './audit.ts';
import { selectBatches } from './batches.ts';
import type { Database, Writing } from './database.ts';
import { StoreError } from './error.ts';
import type { ApiKeyTable } from './schema.ts';

export type ApiKey = Omit<ApiKeyTable, 'ordinal'>;

export type NewApiKey = Pick<ApiKey, 'userId' | 'name' | 'hash'>;

export type ReplacementRecords = (
  created: ApiKey,
  removed: readonly ApiKey[],
) => readonly NewAuditRecord[];

export const BOOTSTRAP_KEY_NAME = 'bootstrap';

const COLUMNS = ['id', 'userId', 'name', 'hash', 'createdAt', 'lastUsedAt'] as const;

export function apiKeysIn(database: Database) {
  return {
    /**
     * @param recordsOf  its audit records, stored with it
     * Errors: API_KEY_ALREADY_EXISTS; NOT_FOUND if there is no such user.
     */
    create: (
      key: NewApiKey,
      recordsOf: (created: ApiKey) => readonly NewAuditRecord[] = () => [],
    ): Promise<ApiKey> =>
      database.write(async (writing) => {
        const created = await create(database, writing, key);
        await appendAudit(writing, recordsOf(created));
        return created;
      }),
    byHash: (hash: string): Promise<ApiKey | undefined> =>
      database.read((db) =>
        db.selectFrom('api_keys').select(COLUMNS).where('hash', '=', hash).executeTakeFirst(),
      ),
    get: (id: string): Promise<ApiKey | undefined> =>
      database.read((db) =>
        db.selectFrom('api_keys').select(COLUMNS).where('id', '=', id).executeTakeFirst(),
      ),
    /** Those of a user, or all, in order of creation. */
    list: (userId?: string): Promise<ApiKey[]> => list(database, userId),
    /**
     * @param userId   only if the key belongs to this user
     * @param records  audit records, stored with the removal
     * False: not found.
     */
    remove: (
      id: string,
      userId?: string,
      records: readonly NewAuditRecord[] = [],
    ): Promise<boolean> =>
      database.write(async (writing) => {
        const isRemoved = await remove(writing, id, userId);
        if (isRemoved) await appendAudit(writing, records);
        return isRemoved;
      }),
    /**
     * Makes the key with this value the user's key named `bootstrap`, and the only one with this value. Does nothing if it
     * already is.
     * @param recordsOf  audit records of the change, stored with it
     * Errors: NOT_FOUND if there is no such user.
     */
    replaceBootstrap: (
      userId: string,
      hash: string,
      recordsOf: ReplacementRecords = () => [],
    ): Promise<ApiKey> =>
      database.write((writing) => replaceBootstrap(database, writing, userId, hash, recordsOf)),
    /** Records use; a time older than the recorded one is ignored. */
    touch: (id: string, at: number): Promise<void> =>
      database.write(async ({ db }) => {
        await db
          .updateTable('api_keys')
          .set({ lastUsedAt: at })
          .where('id', '=', id)
          .where((where) =>
            where.or([where('lastUsedAt', 'is', null), where('lastUsedAt', '<', at)]),
          )
          .execute();
      }),
  };
}

async function create(
  database: Database,
  { db, changed, nextOrdinal }: Writing,
  { userId, name, hash }: NewApiKey,
): Promise<ApiKey> {
  const row: ApiKeyTable = {
    id: randomUUID(),
    userId,
    name,
    hash,
    createdAt: database.now(),
    lastUsedAt: null,
    ordinal: nextOrdinal(),
  };
  const created = await db
    .insertInto('api_keys')
    .values(row)
    .onConflict((conflict) => conflict.columns(['userId', 'name']).doNothing())
    .returning(COLUMNS)
    .executeTakeFirst();
  if (created === undefined) {
    throw new StoreError('API_KEY_ALREADY_EXISTS', `a key named ${row.name} already exists`);
  }
  changed({ userId });
  return created;
}

async function list(database: Database, userId: string | undefined): Promise<ApiKey[]> {
  return await database.read(async (db) => {
    const all = db.selectFrom('api_keys').selectAll();
    const query = userId === undefined ? all : all.where('userId', '=', userId);
    const keys: ApiKey[] = [];
    for await (const rows of selectBatches(query, ['createdAt', 'ordinal', 'id'])) {
      for (const { ordinal: _, ...key } of rows) keys.push(key);
    }
    return keys;
  });
}

async function remove(
  { db, changed }: Writing,
  id: string,
  userId: string | undefined,
): Promise<boolean> {
  const key = db.deleteFrom('api_keys').where('id', '=', id);
  const removed = await (userId === undefined ? key : key.where('userId', '=', userId))
    .returning('userId')
    .executeTakeFirst();
  if (removed !== undefined) changed(removed);
  return removed !== undefined;
}

async function replaceBootstrap(
  database: Database,
  writing: Writing,
  userId: string,
  hash: string,
  recordsOf: ReplacementRecords,
): Promise<ApiKey> {
  const { db, changed } = writing;
  // Two daemons may start at once.
  await writing.lockMembership();
  const present = await db
    .selectFrom('api_keys')
    .select(COLUMNS)
    .where((where) =>
      where.or([where('hash', '=', hash), where.and({ userId, name: BOOTSTRAP_KEY_NAME })]),
    )
    .execute();
  const isSame = (key: ApiKey): boolean =>
    key.userId === userId && key.name === BOOTSTRAP_KEY_NAME && key.hash === hash;
  const same = present.find(isSame);
  if (same !== undefined) return same;
  for (const key of present) {
    await db.deleteFrom('api_keys').where('id', '=', key.id).execute();
    changed({ userId: key.userId });
  }
  const created = await create(database, writing, { userId, name: BOOTSTRAP_KEY_NAME, hash });
  await appendAudit(writing, recordsOf(created, present));
  return created;
}
