// One-time links: to create the first owner, or for a user to set a password. A link is used in the transaction of that
// change (users.ts).

import type { Transaction } from 'kysely';
import { deleted } from './batches.ts';
import type { Database } from './database.ts';
import type { Schema, SetupLinkTable } from './schema.ts';

export type SetupLink = SetupLinkTable;

/** A link as somebody uses it. */
export interface UsedLink {
  readonly hash: string;
  readonly now: number;
}

export function setupLinksIn(database: Database) {
  return {
    /** Errors: NOT_FOUND if there is no such user. */
    create: (link: SetupLink): Promise<void> =>
      database.write(async ({ db }) => {
        await db.insertInto('setup_links').values(link).execute();
      }),
    /** Undefined: not found, or expired at `now` or before. */
    find: (hash: string, now: number): Promise<{ readonly userId: string | null } | undefined> =>
      database.read(async (db) => {
        const query = db.selectFrom('setup_links').select(['userId', 'expiresAt']);
        const link = await query.where('hash', '=', hash).executeTakeFirst();
        return link === undefined || isExpired(link, now) ? undefined : { userId: link.userId };
      }),
    /** Removes links that create the first owner; returns their number. */
    removeFirstOwnerLinks: (): Promise<number> =>
      database.write(({ db }) => deleted(db.deleteFrom('setup_links').where('userId', 'is', null))),
  };
}

function isExpired({ expiresAt }: Pick<SetupLink, 'expiresAt'>, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

/**
 * Removes all links of a user, or those that create the first owner. Whether the used one is among them and valid; a caller
 * that needs it rolls back otherwise.
 */
export async function takeLinks(
  db: Transaction<Schema>,
  userId: string | null,
  used: UsedLink | undefined,
): Promise<boolean> {
  const links = db
    .deleteFrom('setup_links')
    .where('userId', userId === null ? 'is' : '=', userId)
    .returning(['hash', 'expiresAt']);
  const taken = (await links.execute()).find(({ hash }) => hash === used?.hash);
  return used !== undefined && taken !== undefined && !isExpired(taken, used.now);
}
