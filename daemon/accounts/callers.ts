// Authenticates requests: credential -> caller (API.md 4.2). The store's data about credentials and users is cached, so a
// request normally needs no database. The store reports every change: cached data of that user is dropped before the change
// is acknowledged. A wrong, expired or revoked credential counts as none.

import { LRUCache } from 'lru-cache';
import { DAY_MS } from '../base/durations.ts';
import { entryBound } from '../base/entry-bound.ts';
import { type MaybePromise, thenDo } from '../base/maybe-promise.ts';
import { compactIds } from '../repos/repo-id-set.ts';
import { NO_REPOS } from '../repos/repo-access.ts';
import type { ProviderSettings } from '../base/config/file-schema.ts';
import type { Settings } from '../base/config/settings.ts';
import type { PresentedToken, TokenBounds } from './oauth/proofs.ts';
import { StoreError } from '../store/error.ts';
import type { HostAccount } from '../store/host-readers.ts';
import { type Caller, type Person, personOf } from './caller.ts';
import type { AccountsContext } from './context.ts';
import {
  hashCredential,
  presentedCredentials,
  presentsCredential,
  SESSION_MS,
  sessionCookie,
  type CookieScope,
  type CredentialSource,
} from './credentials.ts';
import type { Granted, RepoAccessResolver } from './repo-access-resolver.ts';
import type { TokenUser } from './single-sign-on.ts';

/** After this time the time of last use is written again, and an issuer's token verified: its key may be withdrawn. */
const FRESH_MS = 5 * 60_000;
/** Users and credentials. Bound: memory; each takes about 1 KB. */
const KEPT_MAX = 200_000;

/** Members that some kinds of credentials lack. */
const BLANK = { id: '', repoIds: [], expiresAtMs: Infinity, stampedMs: 0 } as const;

type Headers = ReadonlyMap<string, string>;

type TokenUse = (bounds: TokenBounds) => MaybePromise<boolean>;

/** Lookup key of a presented credential in the store. */
interface HashedCredential {
  readonly source: CredentialSource;
  readonly hash: string;
  /** Only of an issuer's tokens, which have no stored hash. */
  readonly value?: string;
  /** Of OAuth tokens. */
  readonly use?: TokenUse;
}

/** Cached data of a user. A change creates a new object. */
interface CachedPerson {
  readonly person: Person;
  readonly granted: Granted;
  stampedMs: number;
}

/** Cached data of a credential; invalid once `cached` is no longer the cached one. */
interface CachedCredential {
  readonly cached: CachedPerson;
  readonly source: CredentialSource;
  readonly id: string;
  readonly hash: string;
  /** Only of scoped tokens. */
  readonly repoIds: readonly number[];
  /** Only of an issuer's tokens. */
  readonly provider?: ProviderSettings;
  /** Only of OAuth tokens. */
  readonly bounds?: TokenBounds;
  /** Infinity: never. */
  expiresAtMs: number;
  stampedMs: number;
}

interface CallersOptions extends Pick<AccountsContext, 'store' | 'secret' | 'now' | 'log'> {
  readonly accessResolver: RepoAccessResolver;
  readonly settings: () => Pick<Settings, 'storeGraceMs' | 'apiKeyHeaderAliases'>;
  readonly isAnonymousAllowed: () => boolean;
  readonly hasScopedTokens: () => boolean;
  readonly hostAccountsOf: (userId: string) => Promise<readonly HostAccount[]>;
  readonly issuerTokens: {
    readonly userOf: (value: string) => Promise<TokenUser | undefined>;
    /** Whether provider and licence still accept its tokens. */
    readonly isAccepted: (provider: ProviderSettings | undefined) => boolean;
  };
  readonly hasOAuth: () => boolean;
  readonly tokenUse: (presentedToken: PresentedToken) => TokenUse;
  readonly cookieScope: () => CookieScope;
}

export class Callers {
  readonly #options: CallersOptions;
  readonly #credentials = new LRUCache<string, CachedCredential>(entryBound(KEPT_MAX));
  readonly #people = new LRUCache<string, CachedPerson>(entryBound(KEPT_MAX));
  readonly #ignore: () => void;
  /** Rises with every change: data read before it is not cached. */
  #changeCount = 0;
  /** Nobody has an account, and local callers may read. */
  #allowsLocalAnonymous = false;
  #mayAllowLocalAnonymous = false;

  constructor(options: CallersOptions) {
    this.#options = options;
    this.#ignore = options.store.onChange((change) => {
      this.#changeCount++;
      if ('userId' in change) {
        this.#people.delete(change.userId);
        // The user concerned has an account.
        this.#allowsLocalAnonymous = false;
      } else if ('topic' in change && change.topic === 'readers') this.#people.clear();
      else if ('topic' in change && change.topic === 'all') {
        this.#people.clear();
        this.#allowsLocalAnonymous = false;
        this.#inBackground(this.#checkForAccounts());
      }
    });
  }

  close(): void {
    this.#ignore();
  }

  /** From now on local callers may read without credential as long as nobody has an account. Errors: NOT_READY. */
  async allowLocalAnonymous(): Promise<void> {
    this.#mayAllowLocalAnonymous = true;
    await this.#checkForAccounts();
  }

  async #checkForAccounts(): Promise<void> {
    if (!this.#mayAllowLocalAnonymous) return;
    const changeCount = this.#changeCount;
    const userCount = await this.#options.store.users.count();
    if (userCount > 0) this.#mayAllowLocalAnonymous = false;
    else if (changeCount === this.#changeCount) this.#allowsLocalAnonymous = true;
    // The change in between may be the first account.
    else await this.#checkForAccounts();
  }

  /** Whether local callers may read without credential. Never while changes may be missed. */
  get allowsLocalAnonymous(): boolean {
    return this.#allowsLocalAnonymous && this.#options.store.isInformed;
  }

  /**
   * Authenticates a request; each call uses the store's current data; undefined: no valid credential. Returns a promise
   * only if the store must be asked. Repeated calls compute no hash.
   *
   * @param request          the request, for tokens that are not valid for all
   * @param isAtThisMachine  whether the request was sent by a program on this machine, to this machine
   * Errors, of the function returned: NOT_READY if the store must be asked and cannot be reached.
   */
  finder(
    headers: Headers,
    request: () => PresentedToken['request'],
    isAtThisMachine = () => false,
  ): () => MaybePromise<Caller | undefined> {
    const { secret, settings, tokenUse } = this.#options;
    const { apiKeyHeaderAliases } = settings();
    const hashed = presentedCredentials(headers, apiKeyHeaderAliases).map((presented) => {
      const { source, value, scheme = 'bearer' } = presented;
      const one: HashedCredential = { source, hash: hashCredential(secret, value) };
      if (source === 'issuer_token') return { ...one, value };
      if (source !== 'oauth') return one;
      const presentedToken = { value, scheme, proof: headers.get('dpop'), request: request() };
      return { ...one, use: tokenUse(presentedToken) };
    });
    return () => this.#tryFrom(hashed, 0, isAtThisMachine);
  }

  /** Whether a credential is presented, valid or not. */
  hasPresented(headers: Headers): boolean {
    return presentsCredential(headers, this.#options.settings().apiKeyHeaderAliases);
  }

  #withoutCredential(isAtThisMachine: () => boolean): Caller | undefined {
    const isLocal = this.allowsLocalAnonymous && isAtThisMachine();
    if (!isLocal && !this.#options.isAnonymousAllowed()) return undefined;
    return {
      source: isLocal ? 'local' : 'guest',
      repoAccess: this.#options.accessResolver.ofGuest(),
    };
  }

  /** Tries the credentials from an index on; the first valid one counts. */
  #tryFrom(
    presented: readonly HashedCredential[],
    index: number,
    isAtThisMachine: () => boolean,
  ): MaybePromise<Caller | undefined> {
    const one = presented[index];
    if (one === undefined) return this.#withoutCredential(isAtThisMachine);
    return thenDo(
      thenDo(this.#find(one), (found) => this.#ifAllowed(found, one)),
      (caller) => caller ?? this.#tryFrom(presented, index + 1, isAtThisMachine),
    );
  }

  /** The caller of a credential, if it may be used for this request. */
  #ifAllowed(
    credential: CachedCredential | undefined,
    { use }: HashedCredential,
  ): MaybePromise<Caller | undefined> {
    if (credential === undefined) return undefined;
    if (credential.bounds === undefined) return this.#callerOf(credential);
    return thenDo(use?.(credential.bounds) ?? false, (isAllowed) =>
      isAllowed ? this.#callerOf(credential) : undefined,
    );
  }

  #find(one: HashedCredential): MaybePromise<CachedCredential | undefined> {
    const { hash } = one;
    const { store } = this.#options;
    const found = this.#credentials.get(hash);
    const isOld =
      found?.source === 'issuer_token' && this.#options.now() - found.stampedMs >= FRESH_MS;
    const isCurrent = found && this.#people.get(found.cached.person.id) === found.cached;
    const kept = isCurrent === true && !isOld ? found : undefined;
    if (kept !== undefined && store.isInformed) return kept;
    const hasGrace = (): boolean => store.uninformedMs <= this.#options.settings().storeGraceMs;
    // The store notices by itself when it is back (store/database.ts).
    if (kept !== undefined && store.isAway && hasGrace()) return kept;
    return this.#read(one).catch((error: unknown) => {
      if (kept !== undefined && isStoreAway(error) && hasGrace()) return kept;
      throw error;
    });
  }

  async #read(one: HashedCredential): Promise<CachedCredential | undefined> {
    const { hash } = one;
    const changeCount = this.#changeCount;
    const found = await this.#readCredential(one);
    if (found === undefined) return undefined;
    const cached = await this.#readPerson(found.userId, changeCount);
    if (cached === undefined) return undefined;
    const { userId: _, ...rest } = found;
    const credential: CachedCredential = { cached, source: one.source, hash, ...rest };
    if (changeCount === this.#changeCount) this.#credentials.set(hash, credential);
    return credential;
  }

  async #readCredential({ source, hash, value = '' }: HashedCredential) {
    const { store, issuerTokens, now } = this.#options;
    switch (source) {
      case 'session': {
        const session = await store.sessions.byHash(hash);
        return session && { ...BLANK, userId: session.userId, expiresAtMs: session.expiresAt };
      }
      case 'api_key': {
        const key = await store.apiKeys.byHash(hash);
        return key && { ...BLANK, userId: key.userId, id: key.id, stampedMs: key.lastUsedAt ?? 0 };
      }
      case 'scoped_access_token': {
        const token = await store.scopedTokens.byHash(hash);
        if (token === undefined) return undefined;
        const { userId, id, repoIds, expiresAt: expiresAtMs } = token;
        return { ...BLANK, userId, id, repoIds, expiresAtMs };
      }
      case 'issuer_token': {
        const token = await issuerTokens.userOf(value);
        return token && { ...BLANK, ...token, stampedMs: now() };
      }
      case 'oauth': {
        const token = await store.oauthConsents.token(hash);
        if (token === undefined) return undefined;
        const { userId, consentId: id, resource, keyHash, expiresAt: expiresAtMs } = token;
        return { ...BLANK, userId, id, bounds: { resource, keyHash }, expiresAtMs };
      }
    }
  }

  async #readPerson(userId: string, changeCount: number): Promise<CachedPerson | undefined> {
    const kept = this.#people.get(userId);
    if (kept !== undefined && this.#options.store.isInformed) return kept;
    const { store } = this.#options;
    const user = await store.users.get(userId);
    if (user === undefined) return undefined;
    const person = personOf(user);
    const granted = await this.#readGranted(person);
    const cached = { person, granted, stampedMs: person.lastActivityAt ?? 0 };
    if (changeCount === this.#changeCount) this.#people.set(userId, cached);
    return cached;
  }

  /** Drops cached data from hosts about users. */
  forgetReaders(): void {
    this.#changeCount++;
    this.#people.clear();
  }

  async #readGranted({ id, email, role }: Person): Promise<Granted> {
    if (role === 'OWNER') return { repoIds: NO_REPOS, hosted: [] };
    const { grants, hostReaders } = this.#options.store;
    const repoIds = compactIds(await grants.repoIdsOf(id));
    const accounts = await this.#options.hostAccountsOf(id);
    const hosted = (await hostReaders.reposOf(email, accounts)).map(({ connection, repoIds }) => ({
      connection,
      repoIds: compactIds(repoIds),
    }));
    return { repoIds, hosted };
  }

  #callerOf(credential: CachedCredential): Caller | undefined {
    const { accessResolver, now, hasScopedTokens, hasOAuth, issuerTokens } = this.#options;
    const { cached, source, id } = credential;
    const { person, granted } = cached;
    const nowMs = now();
    if (person.suspendedAt !== null || nowMs >= credential.expiresAtMs) return undefined;
    if (source === 'scoped_access_token' && !hasScopedTokens()) return undefined;
    if (source === 'issuer_token' && !issuerTokens.isAccepted(credential.provider))
      return undefined;
    if (source === 'oauth' && !hasOAuth()) return undefined;
    this.#stamp(credential, nowMs);
    const repoAccess = accessResolver.ofPerson(person, granted);
    const caller = { person, role: person.role, repoAccess };
    if (source === 'session') return { ...caller, source, sessionHash: credential.hash };
    if (source === 'issuer_token') return { ...caller, source: 'oauth' };
    if (source !== 'scoped_access_token') return { ...caller, source, credentialId: id };
    const narrow = accessResolver.ofToken(repoAccess, credential.repoIds);
    return { ...caller, source, credentialId: id, repoAccess: narrow };
  }

  /** Records the use of a credential, without delaying the request. */
  #stamp(credential: CachedCredential, nowMs: number): void {
    const { store } = this.#options;
    const { cached, source, id } = credential;
    if (nowMs - cached.stampedMs >= FRESH_MS) {
      cached.stampedMs = nowMs;
      this.#inBackground(store.users.touch(cached.person.id, nowMs));
    }
    if (source === 'api_key' && nowMs - credential.stampedMs >= FRESH_MS) {
      credential.stampedMs = nowMs;
      this.#inBackground(store.apiKeys.touch(id, nowMs));
    }
  }

  #inBackground(work: Promise<unknown>): void {
    work.catch((error: unknown) =>
      this.#options.log.warn('the time of last use could not be written', { error: String(error) }),
    );
  }

  /**
   * Renews the session of a caller once a day.
   *
   * @param headers  of the caller's request
   * @returns        the `Set-Cookie` value for the answer; undefined: not necessary
   */
  async renewed(caller: Caller, headers: Headers): Promise<string | undefined> {
    const { store, now, cookieScope } = this.#options;
    const credential = this.#credentials.get(caller.sessionHash ?? '');
    if (credential === undefined || !needsRenewal(credential, now())) return undefined;
    const { expiresAtMs: before } = credential;
    const expiresAtMs = now() + SESSION_MS;
    credential.expiresAtMs = expiresAtMs;
    try {
      if (!(await store.sessions.renew(credential.hash, expiresAtMs))) {
        credential.expiresAtMs = before;
        this.#credentials.delete(credential.hash);
        return undefined;
      }
    } catch (error) {
      credential.expiresAtMs = before;
      // The session is valid without renewal.
      if (isStoreAway(error)) return undefined;
      throw error;
    }
    const value = presentedCredentials(headers).find(({ source }) => source === 'session')?.value;
    return value === undefined ? undefined : sessionCookie(value, cookieScope());
  }

  needsRenewal(caller: Caller): boolean {
    const credential = this.#credentials.get(caller.sessionHash ?? '');
    return credential !== undefined && needsRenewal(credential, this.#options.now());
  }
}

function isStoreAway(error: unknown): boolean {
  return error instanceof StoreError && error.errorCode === 'NOT_READY';
}

function needsRenewal({ source, expiresAtMs }: CachedCredential, nowMs: number): boolean {
  return source === 'session' && expiresAtMs - SESSION_MS + DAY_MS <= nowMs;
}
