// Sign-on by the configured identity providers (API.md 4.10): signs in, creates, links or refuses a user by the issuer's
// claims, and audits it. The protocol is in sign-on/, loaded on demand.
//
// A verified address identifies the user. The account is then linked with the user, and both stay together: an address
// already linked with another account, or a linked account with another address, is refused until the link is removed.

import type { Configuration } from '../base/config/configuration.ts';
import type { ProviderSettings } from '../base/config/file-schema.ts';
import { isShortage } from '../base/caught.ts';
import { Slots } from '../base/slots.ts';
import { type Actor, ORG } from './audit-log.ts';
import type { AccountsContext } from './context.ts';
import { AccountError } from './error.ts';
import type { Members } from './members.ts';
import type { SignedIn, SignIn } from './sign-in.ts';
import type { PendingSignOn } from './sign-on/pending-sign-ons.ts';
import type { Identity } from './sign-on/identity.ts';
import type { GithubSignOn } from './sign-on/github-sign-on.ts';
import type { Issuer } from './sign-on/issuer.ts';
import type { TokenIdentity } from './sign-on/issuer-token.ts';
import { type RefusalReason, SignOnRefusal } from './sign-on/refusals.ts';
import { ownPath } from './sign-on/return-path.ts';
import { StoreError } from '../store/error.ts';
import type { User } from '../store/users.ts';
import { omitUndefined } from '../base/omit-undefined.ts';

export const SIGN_ON_PATH = '/api/auth/oidc';

interface SingleSignOnOptions extends AccountsContext {
  readonly configuration: Pick<Configuration, 'identityProviders' | 'env'>;
  readonly members: Members;
  readonly signIn: SignIn;
  readonly hasBearer: () => boolean;
}

export interface ProviderView {
  readonly name: string;
  readonly url: string;
}

export interface SignOnReturn {
  /** Of the daemon, without trailing slash. */
  readonly baseUrl: string;
  /** The issuer's parameters of the redirect address. */
  readonly query: URLSearchParams;
  readonly sealed: string | undefined;
}

export interface TokenUser {
  readonly userId: string;
  readonly provider: ProviderSettings;
  readonly expiresAtMs: number;
}

const loadProtocol = async () => ({
  ...(await import('./sign-on/pending-sign-ons.ts')),
  ...(await import('./sign-on/github-sign-on.ts')),
  ...(await import('./sign-on/issuer.ts')),
  ...(await import('./sign-on/issuer-token.ts')),
  ...(await import('./sign-on/sign-on-callback.ts')),
});
type Protocol = Awaited<ReturnType<typeof loadProtocol>>;

export class SingleSignOn {
  readonly #options: SingleSignOnOptions;
  readonly #issuers = new Map<string, Issuer | GithubSignOn>();
  readonly #slots = new Slots({
    runningMax: 16,
    // A slow issuer does not delay the others.
    runningOfOneMax: 8,
    waitingMax: 64,
    busyError: () => new AccountError('SERVER_OVERLOADED', 'Too many sign-ins at the moment.', 1),
  });
  #pending: InstanceType<Protocol['PendingSignOns']> | undefined;

  constructor(options: SingleSignOnOptions) {
    this.#options = options;
  }

  get #providers(): Configuration['identityProviders'] {
    return this.#options.configuration.identityProviders;
  }

  get isConfigured(): boolean {
    return Object.keys(this.#providers).length > 0;
  }

  /** In configuration order. */
  views(baseUrl: string): ProviderView[] {
    return Object.entries(this.#providers).map(([id, { type, displayName }]) => ({
      name: displayName ?? (type === 'github' ? 'GitHub' : id),
      url: `${baseUrl}${SIGN_ON_PATH}/${id}`,
    }));
  }

  /**
   * Starts a sign-on: returns the address to redirect to, and the cookie for the browser.
   *
   * @param returnTo  the page to continue at
   * Errors: NOT_FOUND; SignOnRefusal; SERVER_OVERLOADED.
   */
  async begin(
    id: string,
    baseUrl: string,
    returnTo: string | null,
  ): Promise<{ readonly address: string; readonly sealed: string }> {
    const protocol = await loadProtocol();
    const issuer = this.#issuerOf(protocol, id);
    const challenge = protocol.newChallenge();
    const redirectUri = redirectUriOf(id, baseUrl);
    const address = await this.#slots
      .run(id, undefined, () => issuer.address(challenge, redirectUri))
      .catch((error: unknown) => this.#failed(protocol, id, error));
    const pending: PendingSignOn = { provider: id, returnTo: ownPath(returnTo), ...challenge };
    return { address: address.href, sealed: await this.#pendingIn(protocol).seal(pending) };
  }

  /** Signs in a person who returns from an issuer. Errors: NOT_FOUND; SignOnRefusal; SERVER_OVERLOADED; NOT_READY. */
  async finish(
    id: string,
    { baseUrl, query, sealed }: SignOnReturn,
  ): Promise<SignedIn & { readonly returnTo: string }> {
    const protocol = await loadProtocol();
    const issuer = this.#issuerOf(protocol, id);
    const pending = await this.#pendingIn(protocol).take(sealed, id, query.get('state'));
    if (pending === undefined) throw new SignOnRefusal('stale');
    const url = new URL(redirectUriOf(id, baseUrl));
    url.search = query.toString();
    const { returnTo } = pending;
    try {
      const identity = await this.#slots
        .run(id, undefined, () => issuer.identity(pending, url))
        .catch((error: unknown) => this.#failed(protocol, id, error));
      return { ...(await this.#signOn(id, issuer.settings, identity)), returnTo };
    } catch (error) {
      if (error instanceof SignOnRefusal) error.returnTo = returnTo;
      throw error;
    }
  }

  /**
   * The user of an issuer's access token; undefined: not valid here.
   * Errors: NOT_READY if the store cannot be reached.
   */
  async tokenUser(value: string): Promise<TokenUser | undefined> {
    if (!this.#options.hasBearer() || !this.isBearerAccepted) return undefined;
    const protocol = await loadProtocol();
    const issuerName = protocol.issuerOfToken(value);
    if (issuerName === undefined) return undefined;
    for (const id of Object.keys(this.#providers)) {
      const issuer = this.#issuerOf(protocol, id);
      if (!(issuer instanceof protocol.Issuer)) continue;
      if (!issuer.settings.acceptBearer || !issuer.isIssuerOf(issuerName)) continue;
      const user = await this.#tokenUserBy(protocol, id, issuer, value);
      if (user !== undefined) return user;
    }
    return undefined;
  }

  get isBearerAccepted(): boolean {
    return Object.values(this.#providers).some((one) => one.type === 'oidc' && one.acceptBearer);
  }

  isAccepting(provider: ProviderSettings | undefined): boolean {
    return (
      this.#options.hasBearer() && Object.values(this.#providers).some((one) => one === provider)
    );
  }

  async #tokenUserBy(
    { tokenIdentity, causesOf }: Protocol,
    id: string,
    issuer: Issuer,
    value: string,
  ): Promise<TokenUser | undefined> {
    const { now, log } = this.#options;
    const identity = await tokenIdentity(value, issuer, now()).catch((error: unknown) => {
      log.warn('tokens of an identity provider could not be verified', {
        provider: id,
        reason: causesOf(error),
      });
      return undefined;
    });
    if (identity === undefined) return undefined;
    const userId = await this.#userIdOf(identity);
    if (userId === undefined) return undefined;
    return { userId, provider: issuer.settings, expiresAtMs: identity.expiresAtMs };
  }

  /** By the link; without one, by the address, if that user has no other account of the issuer. */
  async #userIdOf({ issuer, subject, email }: TokenIdentity): Promise<string | undefined> {
    const { users, signOnAccounts } = this.#options.store;
    const linked = await signOnAccounts.userOf({ issuer, subject });
    const issuerName = email === undefined ? undefined : (await users.byEmail(email))?.id;
    if (linked !== undefined)
      return email === undefined || linked === issuerName ? linked : undefined;
    if (issuerName === undefined) return undefined;
    const accounts = await signOnAccounts.of(issuerName);
    return accounts.some((account) => account.issuer === issuer) ? undefined : issuerName;
  }

  async #signOn(id: string, settings: ProviderSettings, identity: Identity): Promise<SignedIn> {
    const { signIn, auditLog } = this.#options;
    const actor: Actor = { id: `identity-provider:${id}`, type: 'user' };
    const [email] = identity.emails;
    let user: User | undefined;
    try {
      user = await this.#userFor(settings, identity, actor);
      return await signIn.signOn(user, id);
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === undefined) throw error;
      const { reason } = refusal;
      await auditLog.record(actor, 'user.sign_in_failed', ORG, { provider: id, email, reason });
      throw refusal;
    }
  }

  /** The matching user, linked with the account. Errors: SignOnRefusal; those of the store. */
  async #userFor(settings: ProviderSettings, identity: Identity, actor: Actor): Promise<User> {
    const { store, now } = this.#options;
    const { issuer, subject, emails } = identity;
    const linked = await store.signOnAccounts.userOf({ issuer, subject });
    const existing = (await Promise.all(emails.map((email) => store.users.byEmail(email)))).filter(
      (one) => one !== undefined,
    );
    const candidate = linked === undefined ? existing[0] : existing.find(({ id }) => id === linked);
    if (linked !== undefined && candidate === undefined) throw new SignOnRefusal('linked');
    const user = candidate ?? (await this.#signUp(settings, identity, actor));
    if (user.suspendedAt !== null) throw new SignOnRefusal('unknown');
    if (await store.signOnAccounts.link(user.id, { issuer, subject }, now())) return user;
    throw new SignOnRefusal('linked');
  }

  /** Why not the first account: the first person at the issuer would own the instance. Errors: as `#userFor`. */
  async #signUp(
    settings: ProviderSettings,
    { emails: [email], name }: Identity,
    actor: Actor,
  ): Promise<User> {
    const { store, members } = this.#options;
    const isAllowed = settings.type === 'oidc' && settings.allowSignUp;
    if (!isAllowed || (await store.users.count()) === 0) throw new SignOnRefusal('unknown');
    const { id } = await members.create(actor, { email, ...omitUndefined({ name }) });
    const user = await store.users.get(id);
    if (user === undefined) throw new SignOnRefusal('unknown');
    return user;
  }

  /** Errors: NOT_FOUND. */
  #issuerOf({ Issuer, GithubSignOn }: Protocol, id: string): Issuer | GithubSignOn {
    const settings = Object.hasOwn(this.#providers, id) ? this.#providers[id] : undefined;
    if (settings === undefined)
      throw new AccountError('NOT_FOUND', 'There is no such identity provider.');
    const cached = this.#issuers.get(id);
    if (cached?.settings === settings) return cached;
    const { env } = this.#options.configuration;
    const isGithub = settings.type === 'github';
    const made = isGithub ? new GithubSignOn({ settings, env }) : new Issuer({ settings, env });
    this.#issuers.set(id, made);
    return made;
  }

  #pendingIn({ PendingSignOns }: Protocol): InstanceType<Protocol['PendingSignOns']> {
    const { secret, now } = this.#options;
    this.#pending ??= new PendingSignOns(secret, now);
    return this.#pending;
  }

  /** Logs the reason, which the person is not told. Errors: always. */
  #failed({ causesOf }: Protocol, id: string, error: unknown): never {
    const { log } = this.#options;
    if (error instanceof AccountError || isShortage(error)) throw error;
    const refusal = refusalOf(error) ?? new SignOnRefusal('unreachable', error);
    const { reason } = refusal;
    log.warn('a sign-on failed', { provider: id, refusal: reason, reason: causesOf(refusal) });
    throw refusal;
  }
}

function redirectUriOf(id: string, baseUrl: string): string {
  return `${baseUrl}${SIGN_ON_PATH}/${id}/callback`;
}

const REFUSED_BY_STORE: Readonly<Record<string, RefusalReason>> = {
  ORG_SEAT_COUNT_REACHED: 'seats',
  // Created, suspended or removed meanwhile: a retry reports the current state.
  USER_ALREADY_EXISTS: 'stale',
  NOT_FOUND: 'unknown',
};

/** Undefined: not a refusal. */
function refusalOf(error: unknown): SignOnRefusal | undefined {
  if (error instanceof SignOnRefusal) return error;
  const reason = error instanceof StoreError ? REFUSED_BY_STORE[error.errorCode] : undefined;
  return reason === undefined ? undefined : new SignOnRefusal(reason, error);
}
