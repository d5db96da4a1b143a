// OAuth clients: programs that registered themselves to sign people in. Anybody may register, so the number of unused
// clients is limited, and clients out of use are removed.

import { sql } from 'kysely';
import { appendAudit, type NewAuditRecord } from './audit.ts';
import type { Database, Writing } from './database.ts';
import { deleted, rowsBeyond } from './batches.ts';

export interface OAuthClient {
  readonly id: string;
  /** The name that the client gave itself. */
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly createdAt: number;
}

export function oauthClientsIn(database: Database) {
  return {
    /**
     * @param unusedMax  this many clients without any consent stay, the newest
     * @param records    its audit records, stored with it
     */
    create: (
      client: OAuthClient,
      unusedMax: number,
      records: readonly NewAuditRecord[],
    ): Promise<void> =>
      database.write(async (writing) => {
        await appendAudit(writing, records);
        await create(writing, client, unusedMax);
      }),
    get: (id: string): Promise<OAuthClient | undefined> =>
      database.read(async (db) => {
        const row = await db
          .selectFrom('oauth_clients')
          .select(['id', 'name', 'redirectUris', 'createdAt'])
          .where('id', '=', id)
          .executeTakeFirst();
        if (row === undefined) return undefined;
        const redirectUris: string[] = JSON.parse(row.redirectUris);
        return { ...row, redirectUris };
      }),
    /** Removes those without consent that were used last at `before` or earlier; returns their number. */
    prune: (before: number): Promise<number> =>
      database.write(({ db }) => {
        const last = sql<number>`coalesce(used_at, created_at)`;
        const old = db.deleteFrom('oauth_clients').where(last, '<=', before);
        const used = db.selectFrom('oauth_consents').select('clientId');
        return deleted(old.where('id', 'not in', used));
      }),
  };
}

async function create({ db }: Writing, client: OAuthClient, unusedMax: number): Promise<void> {
  const unused = db
    .selectFrom('oauth_clients')
    .select('id')
    .where('usedAt', 'is', null)
    .orderBy('createdAt', 'desc')
    .orderBy('id');
  await db
    .deleteFrom('oauth_clients')
    .where('id', 'in', rowsBeyond(unused, unusedMax))
    // A user may have consented meanwhile.
    .where('usedAt', 'is', null)
    .execute();
  const row = {
    ...client,
    redirectUris: JSON.stringify(client.redirectUris),
    usedAt: null,
  };
  await db.insertInto('oauth_clients').values(row).execute();
}
