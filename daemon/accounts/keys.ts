// API keys and scoped access tokens of a user: create, list, remove (API.md 4.3, 4.4, 15.2 to 15.4). Their values are
// returned once, on creation; the store has their hashes (credentials.ts).

import { randomUUID } from 'node:crypto';
import { canSee } from '../repos/repo-access.ts';
import type { NewAuditRecord } from '../store/audit.ts';
import type { ApiKey } from '../store/api-keys.ts';
import type { ScopedToken } from '../store/scoped-tokens.ts';
import { type Actor, userTarget } from './audit-log.ts';
import type { Caller, Person } from './caller.ts';
import type { AccountsContext } from './context.ts';
import { hashCredential, makeCredential } from './credentials.ts';
import { AccountError } from './error.ts';
import { HOUR_MS } from '../base/durations.ts';

/** How long a scoped access token is valid. It cannot be extended. */
const SCOPED_TOKEN_MS = HOUR_MS;
export const KEY_NAME_LENGTH_MAX = 64;

interface KeysOptions extends AccountsContext {
  readonly mayMembersCreate: () => boolean;
}

/** With its value, returned only once. */
export interface MadeKey extends ApiKey {
  readonly value: string;
}

export interface MadeToken extends ScopedToken {
  readonly value: string;
}

export class Keys {
  readonly #options: KeysOptions;

  constructor(options: KeysOptions) {
    this.#options = options;
  }

  list(person: Person): Promise<ApiKey[]> {
    return this.#options.store.apiKeys.list(person.id);
  }

  /** Errors: INSUFFICIENT_PERMISSIONS, API_KEY_ALREADY_EXISTS. */
  async create(actor: Actor | undefined, person: Person, name: string): Promise<MadeKey> {
    if (person.role === 'OWNER' || this.#options.mayMembersCreate())
      return this.createFor(actor, person, name);
    await this.#recordFailure(actor, person, name);
    throw new AccountError('INSUFFICIENT_PERMISSIONS', 'Only owners may create API keys here.');
  }

  /** Creates a key even if the user may not. Errors: API_KEY_ALREADY_EXISTS; NOT_FOUND if the user is suspended. */
  async createFor(actor: Actor | undefined, person: Person, name: string): Promise<MadeKey> {
    const { store, secret, auditLog } = this.#options;
    const value = makeCredential('api_key');
    const hash = hashCredential(secret, value);
    const metadata = { name, userId: person.id, email: person.email };
    const recordsOf = ({ id }: ApiKey): readonly NewAuditRecord[] =>
      auditLog.made(actor, 'api_key.created', { id, type: 'api_key' }, metadata);
    try {
      const key = await store.apiKeys.create({ userId: person.id, name, hash }, recordsOf);
      return { ...key, value };
    } catch (error) {
      await this.#recordFailure(actor, person, name);
      throw error;
    }
  }

  #recordFailure(actor: Actor | undefined, { id }: Person, name: string): Promise<void> {
    const target = userTarget({ id });
    return this.#options.auditLog.record(actor, 'api_key.creation_failed', target, { name });
  }

  /** Removes a key of the user, with the tokens that it made. Errors: API_KEY_NOT_FOUND. */
  async remove(actor: Actor | undefined, keyId: string, userId?: string): Promise<void> {
    const { store, auditLog } = this.#options;
    const target = { id: keyId, type: 'api_key' } as const;
    const records = auditLog.made(actor, 'api_key.deleted', target);
    if (await store.apiKeys.remove(keyId, userId, records)) return;
    await auditLog.record(actor, 'api_key.deletion_failed', target);
    throw new AccountError('API_KEY_NOT_FOUND', `There is no API key ${keyId}.`);
  }

  /** Active tokens. */
  listTokens(person: Person): Promise<ScopedToken[]> {
    return this.#options.store.scopedTokens.listActive(person.id, this.#options.now());
  }

  /**
   * Creates a token with access to some of the repos that the caller of an API key may access.
   *
   * @param repoIds  duplicates are dropped
   * Errors: INVALID_REPOSITORY_SCOPE, the same for unknown and for invisible repos.
   */
  async createToken(
    actor: Actor | undefined,
    caller: Caller & { readonly person: Person },
    repoIds: readonly number[],
  ): Promise<MadeToken> {
    const { store, secret, auditLog, now, directory } = this.#options;
    const unique = [...new Set(repoIds)];
    const isGood = (repoId: number): boolean =>
      directory.byId(repoId) !== undefined && canSee(caller.repoAccess, repoId);
    if (!unique.every(isGood))
      throw new AccountError(
        'INVALID_REPOSITORY_SCOPE',
        'repoIds: some ids are not of repositories that you can see',
      );
    const value = makeCredential('scoped_access_token');
    const createdAt = now();
    const token: ScopedToken = {
      id: randomUUID(),
      hash: hashCredential(secret, value),
      userId: caller.person.id,
      apiKeyId: caller.credentialId ?? '',
      repoIds: unique,
      createdAt,
      expiresAt: createdAt + SCOPED_TOKEN_MS,
    };
    const target = { id: token.id, type: 'scoped_token' } as const;
    const metadata = { repoIds: unique.slice(0, 100) };
    const records = auditLog.made(actor, 'scoped_token.created', target, metadata);
    await store.scopedTokens.create(token, records);
    return { ...token, value };
  }

  /** Errors: SCOPED_ACCESS_TOKEN_NOT_FOUND: unknown, expired, revoked before, or of another user. */
  async revokeToken(actor: Actor | undefined, person: Person, tokenId: string): Promise<void> {
    const { store, auditLog, now } = this.#options;
    const target = { id: tokenId, type: 'scoped_token' } as const;
    const records = auditLog.made(actor, 'scoped_token.revoked', target);
    if (!(await store.scopedTokens.revoke(tokenId, person.id, now(), records)))
      throw new AccountError('SCOPED_ACCESS_TOKEN_NOT_FOUND', 'There is no such active token.');
  }
}
