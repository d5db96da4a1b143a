// Scoped access tokens, by the hash of their value. A token ends by removal: afterwards it looks as if it had never
// existed. Callers check expiry.

import type { Database, Writing } from './database.ts';
import { StoreError } from './error.ts';
import { pruneExpired } from './expiry.ts';
import type { ScopedTokenTable } from './schema.ts';

export interface ScopedToken extends Omit<ScopedTokenTable, 'repoIds'> {
  /** As requested. */
  readonly repoIds: readonly number[];
}

export function scopedTokensIn(database: Database) {
  return {
    /** Errors: NOT_FOUND if there is no such active user, or it has no such key. */
    create: (token: ScopedToken): Promise<void> =>
      database.write((writing) => create(writing, token)),
    byHash: (hash: string): Promise<ScopedToken | undefined> =>
      database.read(async (db) => {
        const query = db.selectFrom('scoped_tokens').selectAll().where('hash', '=', hash);
        const row = await query.executeTakeFirst();
        return row === undefined ? undefined : tokenFrom(row);
      }),
    /** Those of a user that expire after `now`, in order of creation. */
    listActive: (userId: string, now: number): Promise<ScopedToken[]> =>
      database.read(async (db) => {
        const rows = await db
          .selectFrom('scoped_tokens')
          .selectAll()
          .where('userId', '=', userId)
          .where('expiresAt', '>', now)
          .orderBy('createdAt')
          .orderBy('id')
          .execute();
        return rows.map(tokenFrom);
      }),
    /** False: this user has no such token that expires after `now`. */
    revoke: (id: string, userId: string, now: number): Promise<boolean> =>
      database.write(async ({ db, changed }) => {
        const result = await db
          .deleteFrom('scoped_tokens')
          .where('id', '=', id)
          .where('userId', '=', userId)
          .where('expiresAt', '>', now)
          .executeTakeFirst();
        if (result.numDeletedRows > 0n) changed({ userId });
        return result.numDeletedRows > 0n;
      }),
    /** Removes those that expired at `now` or before; returns their number. */
    prune: (now: number): Promise<number> => pruneExpired(database, 'scoped_tokens', now),
  };
}

async function create({ db, lockActiveUser }: Writing, token: ScopedToken): Promise<void> {
  if (!(await lockActiveUser(token.userId))) throw new StoreError('NOT_FOUND', 'user not found');
  const key = await db
    .selectFrom('api_keys')
    .select('id')
    .where('id', '=', token.apiKeyId)
    .where('userId', '=', token.userId)
    .executeTakeFirst();
  if (key === undefined) throw new StoreError('NOT_FOUND', 'API key not found');
  const row = { ...token, repoIds: JSON.stringify(token.repoIds) };
  await db.insertInto('scoped_tokens').values(row).execute();
}

function tokenFrom(row: ScopedTokenTable): ScopedToken {
  return { ...row, repoIds: JSON.parse(row.repoIds) };
}
