// Browser sessions, by the hash of their cookie's value. Callers check expiry.

import type { Database } from './database.ts';
import { StoreError } from './error.ts';
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
        const session = db.updateTable('sessions').set({ expiresAt }).where('hash', '=', hash);
        const row = await session.returning('userId').executeTakeFirst();
        if (row !== undefined) changed(row);
        return row !== undefined;
      }),
    /** False: not found. */
    remove: (hash: string): Promise<boolean> =>
      database.write(async ({ db, changed }) => {
        const session = db.deleteFrom('sessions').where('hash', '=', hash);
        const row = await session.returning('userId').executeTakeFirst();
        if (row !== undefined) changed(row);
        return row !== undefined;
      }),
  };
}
