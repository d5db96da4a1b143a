// Removes expired rows.

import { deleted } from './batches.ts';
import type { Database } from './database.ts';

/** Removes a table's rows that expired at `now` or before; returns their number. */
export function pruneExpired(
  database: Database,
  table: 'scoped_tokens' | 'sessions' | 'setup_links',
  now: number,
): Promise<number> {
  return database.write(({ db }) => deleted(db.deleteFrom(table).where('expiresAt', '<=', now)));
}
