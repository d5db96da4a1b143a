// One-time links: to create the first owner, or for a user to set a password. Taking a link consumes it; of concurrent
// callers one gets it.

import { deleted, pruneExpired } from './batches.ts';
import type { Database } from './database.ts';
import type { SetupLinkTable } from './schema.ts';

export type SetupLink = SetupLinkTable;

export function setupLinksIn(database: Database) {
  return {
    /** Errors: NOT_FOUND if there is no such user. */
    create: (link: SetupLink): Promise<void> =>
      database.write(async ({ db }) => {
        await db.insertInto('setup_links').values(link).execute();
      }),
    /** As `take`, but keeps the link. */
    find: (hash: string, now: number): Promise<{ readonly userId: string | null } | undefined> =>
      database.read(async (db) => {
        const query = db.selectFrom('setup_links').select(['userId', 'expiresAt']);
        return goodAt(now, await query.where('hash', '=', hash).executeTakeFirst());
      }),
    /** Consumes the link; undefined: not found, or expired at `now` or before. */
    take: (hash: string, now: number): Promise<{ readonly userId: string | null } | undefined> =>
      database.write(async ({ db }) => {
        const link = db.deleteFrom('setup_links').where('hash', '=', hash);
        return goodAt(now, await link.returning(['userId', 'expiresAt']).executeTakeFirst());
      }),
    /** Removes links that create the first owner; returns their number. */
    removeFirstOwnerLinks: (): Promise<number> =>
      database.write(({ db }) => deleted(db.deleteFrom('setup_links').where('userId', 'is', null))),
    /** Removes those that expired at `now` or before; returns their number. */
    prune: (now: number): Promise<number> => pruneExpired(database, 'setup_links', now),
  };
}

function goodAt(
  now: number,
  link: Pick<SetupLink, 'userId' | 'expiresAt'> | undefined,
): Pick<SetupLink, 'userId'> | undefined {
  if (link === undefined || (link.expiresAt !== null && link.expiresAt <= now)) return undefined;
  return { userId: link.userId };
}
