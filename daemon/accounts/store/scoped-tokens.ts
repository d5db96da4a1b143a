// Scoped access tokens, by the hash of their value. One ends by being removed: it then looks as if it had
// never been. Whether one has expired is for the caller to say, who has the clock.

import type { Database, Writing } from './database.ts';
import { StoreError } from './error.ts';
import { pruneExpired } from './expiry.ts';

export interface ScopedToken {
  readonly id: string;
  readonly hash: string;
  readonly userId: string;
  /** The key that made it. */
  readonly apiKeyId: string;
  /** In the order they were asked for. */
  readonly repoIds: readonly number[];
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface ScopedTokens {
  /** Errors: NOT_FOUND if there is no such active user, or it has no such key. */
  create(token: ScopedToken): Promise<void>;
  byHash(hash: string): Promise<ScopedToken | undefined>;
  /** Those of a user that expire after `now`, in the order they were made. */
  listActive(userId: string, now: number): Promise<ScopedToken[]>;
  /** False: there is no such token of this user that expires after `now`. */
  revoke(id: string, userId: string, now: number): Promise<boolean>;
  /** Removes those that expired at `now` or before; returns how many. */
  prune(now: number): Promise<number>;
}

const COLUMNS = [
  'id',
  'hash',
  'user_id as userId',
  'api_key_id as apiKeyId',
  'repo_ids as repoIds',
  'created_at as createdAt',
  'expires_at as expiresAt',
] as const;

export function scopedTokensIn(database: Database): ScopedTokens {
  return {
    create: (token) => database.write((writing) => create(writing, token)),
    byHash: (hash) =>
      database.read(async (db) => {
        const query = db.selectFrom('scoped_tokens').select(COLUMNS).where('hash', '=', hash);
        const row = await query.executeTakeFirst();
        return row === undefined ? undefined : tokenFrom(row);
      }),
    listActive: (userId, now) =>
      database.read(async (db) => {
        const rows = await db
          .selectFrom('scoped_tokens')
          .select(COLUMNS)
          .where('user_id', '=', userId)
          .where('expires_at', '>', now)
          .orderBy('created_at')
          .orderBy('id')
          .execute();
        return rows.map(tokenFrom);
      }),
    revoke: (id, userId, now) =>
      database.write(async ({ db, changed }) => {
        const result = await db
          .deleteFrom('scoped_tokens')
          .where('id', '=', id)
          .where('user_id', '=', userId)
          .where('expires_at', '>', now)
          .executeTakeFirst();
        if (result.numDeletedRows > 0n) changed({ userId });
        return result.numDeletedRows > 0n;
      }),
    prune: (now) => pruneExpired(database, 'scoped_tokens', now),
  };
}

async function create({ db, holdActiveUser }: Writing, token: ScopedToken): Promise<void> {
  if (!(await holdActiveUser(token.userId))) throw new StoreError('NOT_FOUND', 'user not found');
  const key = await db
    .selectFrom('api_keys')
    .select('id')
    .where('id', '=', token.apiKeyId)
    .where('user_id', '=', token.userId)
    .executeTakeFirst();
  if (key === undefined) throw new StoreError('NOT_FOUND', 'API key not found');
  const row = {
    id: token.id,
    hash: token.hash,
    user_id: token.userId,
    api_key_id: token.apiKeyId,
    repo_ids: JSON.stringify(token.repoIds),
    created_at: token.createdAt,
    expires_at: token.expiresAt,
  };
  await db.insertInto('scoped_tokens').values(row).execute();
}

function tokenFrom({
  repoIds,
  ...token
}: Omit<ScopedToken, 'repoIds'> & { repoIds: string }): ScopedToken {
  const ids: number[] = JSON.parse(repoIds);
  return { ...token, repoIds: ids };
}
