// Browser sessions, by the hash of their cookie's value. Callers check expiry.

import type { Database } from './database.ts';
import { StoreError } from './error.ts';
import { pruneExpired } from './expiry.ts';
import type { SessionTable } from './schema.ts';

export type Session = SessionTable;

export function sessionsIn(database: Database) {
  return {
    /** Errors: NOT_FOUND if there is no such active user. */
    create: (session: Session): Promise<void> =>
      database.write(async ({ db, lockActiveUser }) => {
        if (!(await lockActiveUser(session.userId)))
          throw new StoreError('NOT_FOUND', 'user not found');
        await db.insertInto('sessions').values(session).execute();
      }),
    byHash: (hash: string): Promise<Session | undefined> =>
      database.read((db) =>
        db.selectFrom('sessions').selectAll().where('hash', '=', hash).executeTakeFirst(),
      ),
    /** False: the session no longer exists. */
    renew: (hash: string, expiresAt: number): Promise<boolean> =>
      database.write(async ({ db, changed }) => {
        const row = await db
          .updateTable('sessions')
          .set({ expiresAt })
          .where('hash', '=', hash)
          .returning('userId')
          .executeTakeFirst();
        if (row !== undefined) changed(row);
        return row !== undefined;
      }),
    /** False: not found. */
    remove: (hash: string): Promise<boolean> =>
      database.write(async ({ db, changed }) => {
        const row = await db
          .deleteFrom('sessions')
          .where('hash', '=', hash)
          .returning('userId')
          .executeTakeFirst();
        if (row !== undefined) changed(row);
        return row !== undefined;
      }),
    /** Ends all sessions of a user but one; returns their number. */
    removeAllOf: (userId: string, exceptHash: string = ''): Promise<number> =>
      database.write(async ({ db, changed }) => {
        const result = await db
          .deleteFrom('sessions')
          .where('userId', '=', userId)
          .where('hash', '!=', exceptHash)
          .executeTakeFirst();
        if (result.numDeletedRows > 0n) changed({ userId });
        return Number(result.numDeletedRows);
      }),
    /** Removes those that expired at `now` or before; returns their number. */
    prune: (now: number): Promise<number> => pruneExpired(database, 'sessions', now),
  };
}
