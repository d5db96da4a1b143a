// What ends by itself is removed some time after its end.

import type { Database } from './database.ts';

/** Removes the rows of a table that expired at `now` or before; returns how many. */
export function pruneExpired(
  database: Database,
  table: 'scoped_tokens' | 'sessions' | 'setup_links',
  now: number,
): Promise<number> {
  return database.write(async ({ db }) => {
    const result = await db.deleteFrom(table).where('expiresAt', '<=', now).executeTakeFirst();
    return Number(result.numDeletedRows);
  });
}
