// Scoped access tokens, by the hash of their value. A token ends by removal: afterwards it looks as if it had never
// existed. Callers check expiry.

import { appendAudit, type NewAuditRecord } from './audit.ts';
import { deleted } from './batches.ts';
import type { Database, Writing } from './database.ts';
import { StoreError } from './error.ts';
import type { ScopedTokenTable } from './schema.ts';

export interface ScopedToken extends Omit<ScopedTokenTable, 'repoIds'> {
  /** As requested. */
  readonly repoIds: readonly number[];
}

export function scopedTokensIn(database: Database) {
  return {
    /**
     * @param records  its audit records, stored with it
     * Errors: NOT_FOUND if there is no such active user, or it has no such key.
     */
    create: (token: ScopedToken, records: readonly NewAuditRecord[] = []): Promise<void> =>
      database.write(async (writing) => {
        await create(writing, token);
        await appendAudit(writing, records);
      }),
    byHash: (hash: string): Promise<ScopedToken | undefined> =>
      database.read(async (db) => {
        const query = db.selectFrom('scoped_tokens').selectAll().where('hash', '=', hash);
        const row = await query.executeTakeFirst();
        return row === undefined ? undefined : tokenFrom(row);
      }),
    /** Those of a user that expire after `now`, in order of creation. */
    listActive: (userId: string, now: number): Promise<ScopedToken[]> =>
      database.read(async (db) => {
        const own = db.selectFrom('scoped_tokens').selectAll().where('userId', '=', userId);
        const active = own.where('expiresAt', '>', now).orderBy('createdAt').orderBy('id');
        return (await active.execute()).map(tokenFrom);
      }),
    /**
     * @param records  audit records, stored with the removal
     * False: this user has no such token that expires after `now`.
     */
    revoke: (
      id: string,
      userId: string,
      now: number,
      records: readonly NewAuditRecord[] = [],
    ): Promise<boolean> =>
      database.write(async (writing) => {
        const { db, changed } = writing;
        const token = db.deleteFrom('scoped_tokens').where('id', '=', id);
        const active = token.where('userId', '=', userId).where('expiresAt', '>', now);
        const isRevoked = (await deleted(active)) > 0;
        if (!isRevoked) return false;
        changed({ userId });
        await appendAudit(writing, records);
        return true;
      }),
  };
}

async function create({ db, lockActiveUser }: Writing, token: ScopedToken): Promise<void> {
  if (!(await lockActiveUser(token.userId))) throw new StoreError('NOT_FOUND', 'user not found');
  const key = db.selectFrom('api_keys').select('id').where('id', '=', token.apiKeyId);
  if ((await key.where('userId', '=', token.userId).executeTakeFirst()) === undefined)
    throw new StoreError('NOT_FOUND', 'API key not found');
  const row = { ...token, repoIds: JSON.stringify(token.repoIds) };
  await db.insertInto('scoped_tokens').values(row).execute();
}

function tokenFrom(row: ScopedTokenTable): ScopedToken {
  return { ...row, repoIds: JSON.parse(row.repoIds) };
}
