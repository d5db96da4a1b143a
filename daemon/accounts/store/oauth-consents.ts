// What users let clients of OAuth do: a request that waits for the user's word, the consent that a word makes, and its tokens.
// A consent begins with a code that is used once, and goes on with a refresh token that is replaced at each use; each step is
// one statement that only the first of those who try at once can do. Whether something has expired is for the caller to say.

import type { Kysely } from 'kysely';
import { appendAudit, type NewAuditRecord } from './audit.ts';
import type { Database, Writing } from './database.ts';
import { StoreError } from './error.ts';
import type { Schema } from './schema.ts';
import { surplusIds } from './surplus.ts';
import { storableOrNull } from './text.ts';

/** What a client asks a user for. */
export interface OAuthRequest {
  readonly hash: string;
  readonly userId: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  readonly state: string | null;
  /** Address of what is to be reached. */
  readonly resource: string;
  readonly expiresAt: number;
}

export interface OAuthConsent {
  readonly id: string;
  readonly userId: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  readonly resource: string;
  readonly codeHash: string;
  /** Of what all its refresh tokens have in common; null: its code was not used yet. */
  readonly familyHash: string | null;
  /** Of the refresh token that is good. */
  readonly refreshHash: string | null;
  /** Thumbprint of the key that its refresh tokens are bound to; null: none. */
  readonly keyHash: string | null;
  readonly createdAt: number;
  /** When it gave tokens last. */
  readonly usedAt: number;
  /** Of the code, or of the refresh token. */
  readonly expiresAt: number;
}

export interface OAuthToken {
  readonly hash: string;
  readonly resource: string;
  readonly keyHash: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** Of which user a token is, and of what. */
export interface HeldOAuthToken extends OAuthToken {
  readonly userId: string;
  readonly consentId: string;
  readonly clientId: string;
}

/** Tokens that a consent gives next. */
export interface NextTokens {
  readonly refreshHash: string;
  readonly keyHash: string | null;
  readonly token: OAuthToken;
  /** Of the refresh token. */
  readonly expiresAt: number;
  /** What the audit says of it, kept with it. */
  readonly records: readonly NewAuditRecord[];
}

/** A consent as its user sees it. */
export interface ShownConsent {
  readonly id: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly redirectUri: string;
  readonly resource: string;
  readonly createdAt: number;
  readonly usedAt: number;
}

export interface OAuthConsents {
  /** Errors: NOT_FOUND if there is no such active user or no such client. */
  ask(request: OAuthRequest, perUserMax: number): Promise<void>;
  /** Undefined: this user has no such request that expires after `now`. */
  request(hash: string, userId: string, now: number): Promise<OAuthRequest | undefined>;
  /** Uses a request up. False: it is not there any more. */
  deny(hash: string, userId: string): Promise<boolean>;
  /** The same, and makes a consent of it; of more than `perUserMax` the least recently used go. */
  allow(
    hash: string,
    consent: Omit<OAuthConsent, 'familyHash' | 'refreshHash' | 'keyHash'>,
    perUserMax: number,
  ): Promise<boolean>;
  byCode(codeHash: string): Promise<OAuthConsent | undefined>;
  byFamily(familyHash: string): Promise<OAuthConsent | undefined>;
  /** Gives the first tokens. False: somebody else was given them, or the consent is gone. */
  redeem(id: string, familyHash: string, next: NextTokens): Promise<boolean>;
  /** Gives tokens for a refresh token. False: it is not the good one any more. */
  rotate(id: string, refreshHash: string, next: NextTokens): Promise<boolean>;
  token(hash: string): Promise<HeldOAuthToken | undefined>;
  /** False: there is none. */
  removeToken(hash: string, records: readonly NewAuditRecord[]): Promise<boolean>;
  /** Those of a user whose code was used, that expire after `now`: the last used first. */
  list(userId: string, now: number): Promise<ShownConsent[]>;
  /** Ends a consent with all its tokens. False: the user has none of this id. */
  remove(id: string, userId: string, records: readonly NewAuditRecord[]): Promise<boolean>;
  /** Removes what expired at `now` or before; returns how many rows. */
  prune(now: number): Promise<number>;
}

const REQUEST_COLUMNS = [
  'hash',
  'user_id as userId',
  'client_id as clientId',
  'redirect_uri as redirectUri',
  'code_challenge as codeChallenge',
  'state',
  'resource',
  'expires_at as expiresAt',
] as const;

const CONSENT_COLUMNS = [
  'id',
  'user_id as userId',
  'client_id as clientId',
  'redirect_uri as redirectUri',
  'code_challenge as codeChallenge',
  'resource',
  'code_hash as codeHash',
  'family_hash as familyHash',
  'refresh_hash as refreshHash',
  'key_hash as keyHash',
  'created_at as createdAt',
  'used_at as usedAt',
  'expires_at as expiresAt',
] as const;

/** Access tokens that a consent may have at once: those of requests that are still under way. */
const TOKENS_MAX = 5;

export function oauthConsentsIn(database: Database): OAuthConsents {
  /** A change that is kept with its records, if it is one. */
  const recorded = (
    records: readonly NewAuditRecord[],
    change: (writing: Writing) => Promise<boolean>,
  ): Promise<boolean> =>
    database.write(async (writing) => {
      const isDone = await change(writing);
      if (isDone) await appendAudit(writing.db, records, () => database.nextOrdinal());
      return isDone;
    });
  const consentBy = (column: 'code_hash' | 'family_hash', hash: string) =>
    database.read((db) =>
      db
        .selectFrom('oauth_consents')
        .select(CONSENT_COLUMNS)
        .where(column, '=', hash)
        .executeTakeFirst(),
    );
  return {
    ask: (request, perUserMax) =>
      database.write((writing) => addRequest(writing, request, perUserMax)),
    request: (hash, userId, now) =>
      database.read((db) =>
        db
          .selectFrom('oauth_requests')
          .select(REQUEST_COLUMNS)
          .where('hash', '=', hash)
          .where('user_id', '=', userId)
          .where('expires_at', '>', now)
          .executeTakeFirst(),
      ),
    deny: (hash, userId) => database.write(({ db }) => takeRequest(db, hash, userId)),
    allow: (hash, consent, perUserMax) =>
      database.write((writing) => allow(writing, hash, consent, perUserMax)),
    byCode: (codeHash) => consentBy('code_hash', codeHash),
    byFamily: (familyHash) => consentBy('family_hash', familyHash),
    redeem: (id, familyHash, next) =>
      recorded(next.records, (writing) => redeem(writing, id, familyHash, next)),
    rotate: (id, refreshHash, next) =>
      recorded(next.records, (writing) => rotate(writing, id, refreshHash, next)),
    token: (hash) => database.read((db) => tokenBy(db, hash)),
    removeToken: (hash, records) => recorded(records, (writing) => removeToken(writing, hash)),
    list: (userId, now) => database.read((db) => list(db, userId, now)),
    remove: (id, userId, records) => recorded(records, (writing) => remove(writing, id, userId)),
    prune: (now) => database.write(({ db }) => prune(db, now)),
  };
}

async function addRequest(
  { db, holdActiveUser }: Writing,
  request: OAuthRequest,
  perUserMax: number,
): Promise<void> {
  const { userId, clientId } = request;
  if (!(await holdActiveUser(userId))) throw new StoreError('NOT_FOUND', 'user not found');
  const client = db.selectFrom('oauth_clients').select('id').where('id', '=', clientId);
  if ((await client.executeTakeFirst()) === undefined)
    throw new StoreError('NOT_FOUND', 'client not found');
  const asked = db
    .selectFrom('oauth_requests')
    .select('hash as id')
    .where('user_id', '=', userId)
    .orderBy('expires_at', 'desc')
    .orderBy('hash');
  const hashes = await surplusIds(asked, perUserMax);
  if (hashes.length > 0)
    await db.deleteFrom('oauth_requests').where('hash', 'in', hashes).execute();
  const row = {
    hash: request.hash,
    user_id: userId,
    client_id: clientId,
    redirect_uri: request.redirectUri,
    code_challenge: request.codeChallenge,
    state: storableOrNull(request.state),
    resource: request.resource,
    expires_at: request.expiresAt,
  };
  await db.insertInto('oauth_requests').values(row).execute();
}

async function takeRequest(db: Kysely<Schema>, hash: string, userId: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('oauth_requests')
    .where('hash', '=', hash)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

async function allow(
  { db, changed, holdActiveUser }: Writing,
  hash: string,
  consent: Parameters<OAuthConsents['allow']>[1],
  perUserMax: number,
): Promise<boolean> {
  const { id, userId, clientId, usedAt } = consent;
  if (!(await holdActiveUser(userId))) return false;
  if (!(await takeRequest(db, hash, userId))) return false;
  const others = db
    .selectFrom('oauth_consents')
    .select('id')
    .where('user_id', '=', userId)
    .orderBy('used_at', 'desc')
    .orderBy('id');
  const ids = await surplusIds(others, perUserMax);
  if (ids.length > 0) {
    await db.deleteFrom('oauth_consents').where('id', 'in', ids).execute();
    changed({ userId });
  }
  await db
    .updateTable('oauth_clients')
    .set({ used_at: usedAt })
    .where('id', '=', clientId)
    .execute();
  const row = {
    id,
    user_id: userId,
    client_id: clientId,
    redirect_uri: consent.redirectUri,
    code_challenge: consent.codeChallenge,
    resource: consent.resource,
    code_hash: consent.codeHash,
    family_hash: null,
    refresh_hash: null,
    key_hash: null,
    created_at: consent.createdAt,
    used_at: usedAt,
    expires_at: consent.expiresAt,
  };
  await db.insertInto('oauth_consents').values(row).execute();
  return true;
}

function columnsOf({ refreshHash, keyHash, token, expiresAt }: NextTokens) {
  return {
    refresh_hash: refreshHash,
    key_hash: keyHash,
    used_at: token.createdAt,
    expires_at: expiresAt,
  };
}

async function redeem(
  writing: Writing,
  id: string,
  familyHash: string,
  next: NextTokens,
): Promise<boolean> {
  const { numUpdatedRows } = await writing.db
    .updateTable('oauth_consents')
    .set({ ...columnsOf(next), family_hash: familyHash })
    .where('id', '=', id)
    .where('family_hash', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) await give(writing, id, next);
  return numUpdatedRows > 0n;
}

async function rotate(
  writing: Writing,
  id: string,
  refreshHash: string,
  next: NextTokens,
): Promise<boolean> {
  const { numUpdatedRows } = await writing.db
    .updateTable('oauth_consents')
    .set(columnsOf(next))
    .where('id', '=', id)
    .where('refresh_hash', '=', refreshHash)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) await give(writing, id, next);
  return numUpdatedRows > 0n;
}

/** Adds an access token to a consent that this transaction has changed, and removes those that are too many. */
async function give({ db, changed }: Writing, id: string, { token }: NextTokens): Promise<void> {
  const row = {
    hash: token.hash,
    consent_id: id,
    resource: token.resource,
    key_hash: token.keyHash,
    created_at: token.createdAt,
    expires_at: token.expiresAt,
  };
  const others = db
    .selectFrom('oauth_tokens')
    .select('hash as id')
    .where('consent_id', '=', id)
    .orderBy('created_at', 'desc')
    .orderBy('hash');
  const hashes = await surplusIds(others, TOKENS_MAX);
  if (hashes.length > 0) await db.deleteFrom('oauth_tokens').where('hash', 'in', hashes).execute();
  await db.insertInto('oauth_tokens').values(row).execute();
  const consent = await db
    .selectFrom('oauth_consents')
    .select(['user_id as userId', 'client_id as clientId'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  await db
    .updateTable('oauth_clients')
    .set({ used_at: token.createdAt })
    .where('id', '=', consent.clientId)
    .execute();
  if (hashes.length > 0) changed({ userId: consent.userId });
}

async function removeToken({ db, changed }: Writing, hash: string): Promise<boolean> {
  const held = await tokenBy(db, hash);
  if (held === undefined) return false;
  await db.deleteFrom('oauth_tokens').where('hash', '=', hash).execute();
  changed({ userId: held.userId });
  return true;
}

async function remove({ db, changed }: Writing, id: string, userId: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('oauth_consents')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  if (numDeletedRows > 0n) changed({ userId });
  return numDeletedRows > 0n;
}

async function tokenBy(db: Kysely<Schema>, hash: string): Promise<HeldOAuthToken | undefined> {
  return await db
    .selectFrom('oauth_tokens as token')
    .innerJoin('oauth_consents as consent', 'consent.id', 'token.consent_id')
    .select([
      'token.hash',
      'token.resource',
      'token.key_hash as keyHash',
      'token.created_at as createdAt',
      'token.expires_at as expiresAt',
      'consent.user_id as userId',
      'consent.id as consentId',
      'consent.client_id as clientId',
    ])
    .where('token.hash', '=', hash)
    .executeTakeFirst();
}

async function list(db: Kysely<Schema>, userId: string, now: number): Promise<ShownConsent[]> {
  return await db
    .selectFrom('oauth_consents as consent')
    .innerJoin('oauth_clients as client', 'client.id', 'consent.client_id')
    .select([
      'consent.id',
      'client.id as clientId',
      'client.name as clientName',
      'consent.redirect_uri as redirectUri',
      'consent.resource',
      'consent.created_at as createdAt',
      'consent.used_at as usedAt',
    ])
    .where('consent.user_id', '=', userId)
    .where('consent.family_hash', 'is not', null)
    .where('consent.expires_at', '>', now)
    .orderBy('consent.used_at', 'desc')
    .orderBy('consent.id')
    .execute();
}

async function prune(db: Kysely<Schema>, now: number): Promise<number> {
  let count = 0;
  for (const table of ['oauth_requests', 'oauth_tokens', 'oauth_consents'] as const) {
    const { numDeletedRows } = await db
      .deleteFrom(table)
      .where('expires_at', '<=', now)
      .executeTakeFirst();
    count += Number(numDeletedRows);
  }
  return count;
}
