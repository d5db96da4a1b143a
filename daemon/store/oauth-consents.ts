// OAuth consents: a request that waits for the user's decision, the resulting consent, and its tokens. A consent starts
// with a code that is used once, and continues with a refresh token that is replaced at each use; each step is one
// statement that succeeds for only one of several concurrent callers. Callers check expiry.

import type { Kysely } from 'kysely';
import { appendAudit, type NewAuditRecord } from './audit.ts';
import type { Database, Writing } from './database.ts';
import { StoreError } from './error.ts';
import type { OAuthConsentTable, OAuthRequestTable, OAuthTokenTable, Schema } from './schema.ts';
import { deleted, rowsBeyond } from './batches.ts';

export type OAuthRequest = OAuthRequestTable;
export type OAuthConsent = OAuthConsentTable;

/** A consent whose code was not used yet. */
export type NewOAuthConsent = Omit<OAuthConsent, 'familyHash' | 'refreshHash' | 'keyHash'>;

export type StoredOAuthToken = OAuthTokenTable & Pick<OAuthConsent, 'userId' | 'clientId'>;

export interface NextTokens {
  readonly refreshHash: string;
  readonly keyHash: string | null;
  readonly token: Omit<OAuthTokenTable, 'consentId'>;
  /** Of the refresh token. */
  readonly expiresAt: number;
  readonly records: readonly NewAuditRecord[];
}

export interface ConsentView extends Pick<
  OAuthConsent,
  'id' | 'clientId' | 'redirectUri' | 'resource' | 'createdAt' | 'usedAt'
> {
  readonly clientName: string;
}

/** Access tokens that a consent may have at once: those of requests still running. */
const TOKENS_MAX = 5;

export function oauthConsentsIn(database: Database) {
  /** Stores a change together with its records, if it changed anything. */
  const recorded = (
    records: readonly NewAuditRecord[],
    change: (writing: Writing) => Promise<boolean>,
  ): Promise<boolean> =>
    database.write(async (writing) => {
      const isDone = await change(writing);
      if (isDone) await appendAudit(writing, records);
      return isDone;
    });
  const consentBy = (
    column: 'codeHash' | 'familyHash',
    hash: string,
  ): Promise<OAuthConsent | undefined> =>
    database.read((db) =>
      db.selectFrom('oauth_consents').selectAll().where(column, '=', hash).executeTakeFirst(),
    );
  return {
    /** Errors: NOT_FOUND if there is no such active user or no such client. */
    addRequest: (request: OAuthRequest, perUserMax: number): Promise<void> =>
      database.write((writing) => addRequest(writing, request, perUserMax)),
    /** Undefined: this user has no such request that expires after `now`. */
    request: (hash: string, userId: string, now: number): Promise<OAuthRequest | undefined> =>
      database.read((db) => {
        const request = db.selectFrom('oauth_requests').selectAll().where('hash', '=', hash);
        return request.where('userId', '=', userId).where('expiresAt', '>', now).executeTakeFirst();
      }),
    /** Consumes a request. False: it no longer exists. */
    deny: (hash: string, userId: string): Promise<boolean> =>
      database.write(({ db }) => takeRequest(db, hash, userId)),
    /** The same, and creates its consent; beyond `perUserMax` the least recently used are removed. */
    allow: (hash: string, consent: NewOAuthConsent, perUserMax: number): Promise<boolean> =>
      database.write((writing) => allow(writing, hash, consent, perUserMax)),
    byCode: (codeHash: string) => consentBy('codeHash', codeHash),
    byFamily: (familyHash: string) => consentBy('familyHash', familyHash),
    /** Issues the first tokens. False: another caller got them, or the consent is gone. */
    redeem: (id: string, familyHash: string, next: NextTokens): Promise<boolean> =>
      recorded(next.records, (writing) => redeem(writing, id, familyHash, next)),
    /** Issues tokens for a refresh token. False: it is no longer the current one. */
    rotate: (id: string, refreshHash: string, next: NextTokens): Promise<boolean> =>
      recorded(next.records, (writing) => rotate(writing, id, refreshHash, next)),
    token: (hash: string): Promise<StoredOAuthToken | undefined> =>
      database.read((db) => tokenBy(db, hash)),
    /** False: not found. */
    removeToken: (hash: string, records: readonly NewAuditRecord[]): Promise<boolean> =>
      recorded(records, (writing) => removeToken(writing, hash)),
    /** A user's consents whose code was used, that expire after `now`: the last used first. */
    list: (userId: string, now: number): Promise<ConsentView[]> =>
      database.read((db) => list(db, userId, now)),
    /** Removes a consent with all its tokens. False: the user has none of this id. */
    remove: (id: string, userId: string, records: readonly NewAuditRecord[]): Promise<boolean> =>
      recorded(records, (writing) => remove(writing, id, userId)),
  };
}

async function addRequest(
  { db, lockActiveUser }: Writing,
  request: OAuthRequest,
  perUserMax: number,
): Promise<void> {
  const { userId, clientId } = request;
  if (!(await lockActiveUser(userId))) throw new StoreError('NOT_FOUND', 'user not found');
  const client = db.selectFrom('oauth_clients').select('id').where('id', '=', clientId);
  if ((await client.executeTakeFirst()) === undefined)
    throw new StoreError('NOT_FOUND', 'client not found');
  const requested = db
    .selectFrom('oauth_requests')
    .select('hash')
    .where('userId', '=', userId)
    .orderBy('expiresAt', 'desc')
    .orderBy('hash');
  await db
    .deleteFrom('oauth_requests')
    .where('hash', 'in', rowsBeyond(requested, perUserMax))
    .execute();
  await db.insertInto('oauth_requests').values(request).execute();
}

async function takeRequest(db: Kysely<Schema>, hash: string, userId: string): Promise<boolean> {
  const request = db.deleteFrom('oauth_requests').where('hash', '=', hash);
  return (await deleted(request.where('userId', '=', userId))) > 0;
}

async function allow(
  { db, changed, lockActiveUser }: Writing,
  hash: string,
  consent: NewOAuthConsent,
  perUserMax: number,
): Promise<boolean> {
  const { userId, clientId, usedAt } = consent;
  if (!(await lockActiveUser(userId))) return false;
  if (!(await takeRequest(db, hash, userId))) return false;
  const others = db
    .selectFrom('oauth_consents')
    .select('id')
    .where('userId', '=', userId)
    .orderBy('usedAt', 'desc')
    .orderBy('id');
  const surplus = db.deleteFrom('oauth_consents').where('id', 'in', rowsBeyond(others, perUserMax));
  if ((await deleted(surplus)) > 0) changed({ userId });
  await db.updateTable('oauth_clients').set({ usedAt }).where('id', '=', clientId).execute();
  const row = { ...consent, familyHash: null, refreshHash: null, keyHash: null };
  await db.insertInto('oauth_consents').values(row).execute();
  return true;
}

function columnsOf({ refreshHash, keyHash, token, expiresAt }: NextTokens) {
  return { refreshHash, keyHash, usedAt: token.createdAt, expiresAt };
}

const NAME_COLUMNS = ['id', 'userId', 'clientId'] as const;

async function redeem(
  writing: Writing,
  id: string,
  familyHash: string,
  next: NextTokens,
): Promise<boolean> {
  const update = writing.db.updateTable('oauth_consents').set({ ...columnsOf(next), familyHash });
  const unused = update.where('id', '=', id).where('familyHash', 'is', null);
  return await give(writing, await unused.returning(NAME_COLUMNS).executeTakeFirst(), next);
}

async function rotate(
  writing: Writing,
  id: string,
  refreshHash: string,
  next: NextTokens,
): Promise<boolean> {
  const update = writing.db.updateTable('oauth_consents').set(columnsOf(next));
  const current = update.where('id', '=', id).where('refreshHash', '=', refreshHash);
  return await give(writing, await current.returning(NAME_COLUMNS).executeTakeFirst(), next);
}

/** Adds an access token to a consent changed by this transaction, if any, and removes surplus ones. */
async function give(
  { db, changed }: Writing,
  consent: Pick<OAuthConsent, (typeof NAME_COLUMNS)[number]> | undefined,
  { token }: NextTokens,
): Promise<boolean> {
  if (consent === undefined) return false;
  const { id, userId, clientId } = consent;
  const others = db
    .selectFrom('oauth_tokens')
    .select('hash')
    .where('consentId', '=', id)
    .orderBy('createdAt', 'desc')
    .orderBy('hash');
  const surplus = db.deleteFrom('oauth_tokens').where('hash', 'in', rowsBeyond(others, TOKENS_MAX));
  if ((await deleted(surplus)) > 0) changed({ userId });
  await db
    .insertInto('oauth_tokens')
    .values({ ...token, consentId: id })
    .execute();
  const client = db.updateTable('oauth_clients').where('id', '=', clientId);
  await client.set({ usedAt: token.createdAt }).execute();
  return true;
}

async function removeToken({ db, changed }: Writing, hash: string): Promise<boolean> {
  const stored = await tokenBy(db, hash);
  if (stored === undefined) return false;
  await db.deleteFrom('oauth_tokens').where('hash', '=', hash).execute();
  changed({ userId: stored.userId });
  return true;
}

async function remove({ db, changed }: Writing, id: string, userId: string): Promise<boolean> {
  const consent = db.deleteFrom('oauth_consents').where('id', '=', id);
  const isRemoved = (await deleted(consent.where('userId', '=', userId))) > 0;
  if (isRemoved) changed({ userId });
  return isRemoved;
}

async function tokenBy(db: Kysely<Schema>, hash: string): Promise<StoredOAuthToken | undefined> {
  return await db
    .selectFrom('oauth_tokens as token')
    .innerJoin('oauth_consents as consent', 'consent.id', 'token.consentId')
    .selectAll('token')
    .select(['consent.userId', 'consent.clientId'])
    .where('token.hash', '=', hash)
    .executeTakeFirst();
}

async function list(db: Kysely<Schema>, userId: string, now: number): Promise<ConsentView[]> {
  return await db
    .selectFrom('oauth_consents as consent')
    .innerJoin('oauth_clients as client', 'client.id', 'consent.clientId')
    .select([
      'consent.id',
      'client.id as clientId',
      'client.name as clientName',
      'consent.redirectUri',
      'consent.resource',
      'consent.createdAt',
      'consent.usedAt',
    ])
    .where('consent.userId', '=', userId)
    .where('consent.familyHash', 'is not', null)
    .where('consent.expiresAt', '>', now)
    .orderBy('consent.usedAt', 'desc')
    .orderBy('consent.id')
    .execute();
}
