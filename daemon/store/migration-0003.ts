// The third form of the store: counts of requests without leases, as daemons that share a store ask it for each request. A
// migration that has been released is never changed; the next form is the next file.

import { type Kysely, type Migration, sql } from 'kysely';

export const migration0003: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table usage drop column leases`.execute(db);
    await sql`alter table usage drop column wanted_until`.execute(db);
  },
};
