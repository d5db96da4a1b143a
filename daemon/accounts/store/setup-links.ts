// One-time links: to make the first owner, or for a user to set a password. A link is used by taking it, and
// only one of those who take it at once gets it.

import type { Database } from './database.ts';
import { pruneExpired } from './expiry.ts';

export interface SetupLink {
  readonly hash: string;
  /** Null: makes the first owner. */
  readonly userId: string | null;
  readonly createdAt: number;
  /** Null: valid until it is used or removed. */
  readonly expiresAt: number | null;
}

export interface SetupLinks {
  /** Errors: NOT_FOUND if there is no such user. */
  create(link: SetupLink): Promise<void>;
  /** What `take` would give; the link stays. */
  find(hash: string, now: number): Promise<{ readonly userId: string | null } | undefined>;
  /** Uses the link up; undefined: there is none, or it expired at `now` or before. */
  take(hash: string, now: number): Promise<{ readonly userId: string | null } | undefined>;
  /** Removes links that make the first owner; returns how many. */
  removeFirstOwnerLinks(): Promise<number>;
  /** Removes those that expired at `now` or before; returns how many. */
  prune(now: number): Promise<number>;
}

export function setupLinksIn(database: Database): SetupLinks {
  return {
    create: ({ hash, userId, createdAt, expiresAt }) =>
      database.write(async ({ db }) => {
        const row = { hash, user_id: userId, created_at: createdAt, expires_at: expiresAt };
        await db.insertInto('setup_links').values(row).execute();
      }),
    find: (hash, now) =>
      database.read(async (db) => {
        const query = db
          .selectFrom('setup_links')
          .select(['user_id as userId', 'expires_at as expiresAt']);
        const row = await query.where('hash', '=', hash).executeTakeFirst();
        if (row === undefined || (row.expiresAt !== null && row.expiresAt <= now)) return undefined;
        return { userId: row.userId };
      }),
    take: (hash, now) =>
      database.write(async ({ db }) => {
        const row = await db
          .deleteFrom('setup_links')
          .where('hash', '=', hash)
          .returning(['user_id as userId', 'expires_at as expiresAt'])
          .executeTakeFirst();
        if (row === undefined || (row.expiresAt !== null && row.expiresAt <= now)) return undefined;
        return { userId: row.userId };
      }),
    removeFirstOwnerLinks: () =>
      database.write(async ({ db }) => {
        const result = await db
          .deleteFrom('setup_links')
          .where('user_id', 'is', null)
          .executeTakeFirst();
        return Number(result.numDeletedRows);
      }),
    prune: (now) => pruneExpired(database, 'setup_links', now),
  };
}
