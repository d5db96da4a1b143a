// Browser sessions, by the hash of the value in their cookie. Whether one has expired is for the caller to
// say, who has the clock.

import type { Database } from './database.ts';
import { StoreError } from './error.ts';
import { pruneExpired } from './expiry.ts';

export interface Session {
  readonly hash: string;
  readonly userId: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface Sessions {
  /** Errors: NOT_FOUND if there is no such active user. */
  create(session: Session): Promise<void>;
  byHash(hash: string): Promise<Session | undefined>;
  /** False: there is no such session any more. */
  renew(hash: string, expiresAt: number): Promise<boolean>;
  /** False: there was none. */
  remove(hash: string): Promise<boolean>;
  /** Ends all sessions of a user but one; returns how many. */
  removeAllOf(userId: string, exceptHash?: string): Promise<number>;
  /** Removes those that expired at `now` or before; returns how many. */
  prune(now: number): Promise<number>;
}

export function sessionsIn(database: Database): Sessions {
  return {
    create: ({ hash, userId, createdAt, expiresAt }) =>
      database.write(async ({ db, holdActiveUser }) => {
        if (!(await holdActiveUser(userId))) throw new StoreError('NOT_FOUND', 'user not found');
        const row = { hash, user_id: userId, created_at: createdAt, expires_at: expiresAt };
        await db.insertInto('sessions').values(row).execute();
      }),
    byHash: (hash) =>
      database.read((db) =>
        db
          .selectFrom('sessions')
          .select([
            'hash',
            'user_id as userId',
            'created_at as createdAt',
            'expires_at as expiresAt',
          ])
          .where('hash', '=', hash)
          .executeTakeFirst(),
      ),
    renew: (hash, expiresAt) =>
      database.write(async ({ db, changed }) => {
        const row = await db
          .updateTable('sessions')
          .set({ expires_at: expiresAt })
          .where('hash', '=', hash)
          .returning('user_id as userId')
          .executeTakeFirst();
        if (row !== undefined) changed(row);
        return row !== undefined;
      }),
    remove: (hash) =>
      database.write(async ({ db, changed }) => {
        const row = await db
          .deleteFrom('sessions')
          .where('hash', '=', hash)
          .returning('user_id as userId')
          .executeTakeFirst();
        if (row !== undefined) changed(row);
        return row !== undefined;
      }),
    removeAllOf: (userId, exceptHash = '') =>
      database.write(async ({ db, changed }) => {
        const result = await db
          .deleteFrom('sessions')
          .where('user_id', '=', userId)
          .where('hash', '!=', exceptHash)
          .executeTakeFirst();
        if (result.numDeletedRows > 0n) changed({ userId });
        return Number(result.numDeletedRows);
      }),
    prune: (now) => pruneExpired(database, 'sessions', now),
  };
}
