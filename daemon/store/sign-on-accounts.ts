// Accounts of identity providers, linked with users. An account belongs to one user, and a user has at most one per issuer.

import { appendAudit, type NewAuditRecord } from './audit.ts';
import { deleted } from './batches.ts';
import type { Database, Writing } from './database.ts';

/** An account, with its issuer's id. */
export interface SignOnAccount {
  readonly issuer: string;
  readonly subject: string;
}

export function signOnAccountsIn(database: Database) {
  return {
    /** Id of the user; undefined: not linked. */
    userOf: ({ issuer, subject }: SignOnAccount): Promise<string | undefined> =>
      database.read(async (db) => {
        const users = db.selectFrom('sign_on_accounts').select('userId');
        const ofIssuer = users.where('issuer', '=', issuer);
        const account = ofIssuer.where('subject', '=', subject);
        return (await account.executeTakeFirst())?.userId;
      }),
    /** Of a user. */
    of: (userId: string): Promise<SignOnAccount[]> =>
      database.read((db) => {
        const accounts = db.selectFrom('sign_on_accounts').select(['issuer', 'subject']);
        return accounts.where('userId', '=', userId).orderBy('issuer').execute();
      }),
    /** Issuers with links. */
    issuers: (): Promise<string[]> =>
      database.read(async (db) => {
        const rows = await db.selectFrom('sign_on_accounts').select('issuer').distinct().execute();
        return rows.map(({ issuer }) => issuer);
      }),
    /** Those of an issuer. */
    ofIssuer: (issuer: string): Promise<{ readonly userId: string; readonly subject: string }[]> =>
      database.read((db) => {
        const accounts = db.selectFrom('sign_on_accounts').select(['userId', 'subject']);
        return accounts.where('issuer', '=', issuer).execute();
      }),
    /** Links them unless they are linked. False: one of them is linked with another, or there is no such active user. */
    link: (userId: string, account: SignOnAccount, at: number): Promise<boolean> =>
      database.write((writing) => link(writing, userId, account, at)),
    /** Removes all links of a user; returns their number. @param recordsOf  audit records, stored with the removal */
    unlink: (
      userId: string,
      recordsOf: (count: number) => readonly NewAuditRecord[] = () => [],
    ): Promise<number> =>
      database.write(async (writing) => {
        const { db, changed } = writing;
        const count = await deleted(db.deleteFrom('sign_on_accounts').where('userId', '=', userId));
        if (count === 0) return 0;
        changed({ userId });
        await appendAudit(writing, recordsOf(count));
        return count;
      }),
  };
}

async function link(
  { db, lockMembership, lockActiveUser, changed }: Writing,
  userId: string,
  { issuer, subject }: SignOnAccount,
  at: number,
): Promise<boolean> {
  // Why: while a list of readers is replaced, only the users linked before it are notified.
  await lockMembership();
  if (!(await lockActiveUser(userId))) return false;
  const made = await db
    .insertInto('sign_on_accounts')
    .values({ issuer, subject, userId, createdAt: at })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (made.numInsertedOrUpdatedRows === 1n) {
    changed({ userId });
    return true;
  }
  const own = db.selectFrom('sign_on_accounts').select('userId').where('userId', '=', userId);
  const same = own.where('issuer', '=', issuer).where('subject', '=', subject);
  return (await same.executeTakeFirst()) !== undefined;
}
