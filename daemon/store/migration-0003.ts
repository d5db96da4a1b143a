// Migration 3 of the store: request counts without leases, as daemons on one store ask it for each request. A released
// migration is never changed.

import { type Kysely, type Migration, sql } from 'kysely';

export const migration0003: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table usage drop column leases`.execute(db);
    await sql`alter table usage drop column wanted_until`.execute(db);
  },
};
