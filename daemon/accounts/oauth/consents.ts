// OAuth consents: a request is validated, displayed to a signed-in user, and answered with a code sent to the client's
// registered address. Nobody is redirected before a user of this instance has said yes or no, as the client's owner chooses
// the address.

import { randomUUID } from 'node:crypto';
import type { OAuthClient } from '../../store/oauth-clients.ts';
import type { OAuthConsent, OAuthRequest, ConsentView } from '../../store/oauth-consents.ts';
import { OAuthError } from './error.ts';
import { type OAuthContext, randomHex } from './oauth-context.ts';
import type { Parameters } from './parameters.ts';
import { isRegistered, redirectHost, redirectTo } from './redirects.ts';
import { resourceOf } from './resources.ts';

/** A client's request, before the user is known. */
export interface RequestedConsent {
  readonly client: OAuthClient;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  readonly state: string | null;
  readonly resource: string;
}

export interface ConsentRequest {
  readonly clientName: string;
  readonly redirectHost: string;
  readonly resource: string;
}

export type Decision = 'allow' | 'deny';

/** PKCE (RFC 7636): SHA-256 of the verifier as base64url. Errors: OAuthError if it is missing, or of another method. */
function challengeOf(parameters: Parameters): string {
  const challenge = parameters.require('code_challenge');
  if (parameters.get('code_challenge_method') !== 'S256')
    throw new OAuthError('invalid_request', 'code_challenge_method: expected S256');
  if (!/^[A-Za-z0-9_-]{43}$/.test(challenge))
    throw new OAuthError('invalid_request', 'code_challenge: expected 43 characters of base64url');
  return challenge;
}

type ConsentName = Pick<OAuthConsent, 'id' | 'userId' | 'clientId'>;

export class Consents {
  readonly #context: OAuthContext;

  constructor(context: OAuthContext) {
    this.#context = context;
  }

  /** Errors: OAuthError; NOT_READY. */
  async read(parameters: Parameters): Promise<RequestedConsent> {
    const { store, baseUrl } = this.#context;
    const client = await store.oauthClients.get(parameters.require('client_id'));
    if (client === undefined) throw new OAuthError('invalid_client', 'client_id: not registered');
    const redirectUri = parameters.require('redirect_uri');
    if (!isRegistered(client.redirectUris, redirectUri))
      throw new OAuthError('invalid_redirect_uri', 'redirect_uri: not registered by this client');
    if (parameters.require('response_type') !== 'code')
      throw new OAuthError('invalid_request', 'response_type: expected code');
    return {
      client,
      redirectUri,
      codeChallenge: challengeOf(parameters),
      state: parameters.get('state') ?? null,
      resource: resourceOf(parameters.get('resource') ?? baseUrl(), baseUrl()),
    };
  }

  /** Stores a request for a user. @returns  its id, which only this user can use. Errors: NOT_READY. */
  async addRequest({ client, ...requested }: RequestedConsent, userId: string): Promise<string> {
    const { store, hash, now } = this.#context;
    const id = randomHex(32);
    const request = { ...requested, hash: hash(id), userId, clientId: client.id };
    // The user has ten minutes to decide. Of each user 20 requests stay.
    await store.oauthConsents.addRequest({ ...request, expiresAt: now() + 600_000 }, 20);
    return id;
  }

  #request(id: string, userId: string): Promise<OAuthRequest | undefined> {
    const { store, hash, now } = this.#context;
    return store.oauthConsents.request(hash(id), userId, now());
  }

  /** Undefined: this user no longer has such a request. Errors: NOT_READY. */
  async view(id: string, userId: string): Promise<ConsentRequest | undefined> {
    const request = await this.#request(id, userId);
    const client = request && (await this.#context.store.oauthClients.get(request.clientId));
    if (request === undefined || client === undefined) return undefined;
    const { redirectUri, resource } = request;
    return { clientName: client.name, redirectHost: redirectHost(redirectUri), resource };
  }

  /**
   * Applies a user's decision, once.
   *
   * @returns  the browser's next address; undefined: this user no longer has such a request
   * Errors: NOT_READY.
   */
  async decide(id: string, userId: string, decision: Decision): Promise<string | undefined> {
    const request = await this.#request(id, userId);
    if (request === undefined) return undefined;
    const said = decision === 'allow' ? await this.#allow(request) : await this.#deny(request);
    if (said === undefined) return undefined;
    const state = request.state === null ? {} : { state: request.state };
    // Why `iss`: it tells a client of several servers whose answer this is (RFC 9207).
    return redirectTo(request.redirectUri, { ...said, ...state, iss: this.#context.baseUrl() });
  }

  async #deny({ hash, userId }: OAuthRequest): Promise<{ error: string } | undefined> {
    const isTaken = await this.#context.store.oauthConsents.deny(hash, userId);
    return isTaken ? { error: 'access_denied' } : undefined;
  }

  async #allow(request: OAuthRequest): Promise<{ code: string } | undefined> {
    const { store, hash, now, settings } = this.#context;
    const { userId, clientId, redirectUri, codeChallenge, resource } = request;
    const code = randomHex(32);
    const nowMs = now();
    const consent = {
      id: randomUUID(),
      userId,
      clientId,
      redirectUri,
      codeChallenge,
      resource,
      codeHash: hash(code),
      createdAt: nowMs,
      usedAt: nowMs,
      expiresAt: nowMs + settings().codeTtlSeconds * 1000,
    };
    const isTaken = await store.oauthConsents.allow(request.hash, consent, 100);
    return isTaken ? { code } : undefined;
  }

  /** Current consents of a user. Errors: NOT_READY. */
  list(userId: string): Promise<ConsentView[]> {
    const { store, now } = this.#context;
    return store.oauthConsents.list(userId, now());
  }

  /** Ends a consent. False: not found. Errors: NOT_READY. */
  async end(id: string, userId: string): Promise<boolean> {
    const consents = await this.list(userId);
    const consent = consents.find((one) => one.id === id);
    if (consent === undefined) return false;
    const { clientId, clientName } = consent;
    return await this.#remove({ id, userId, clientId }, { reason: 'by its user', clientName });
  }

  /** Ends a consent after reuse of a code or token: somebody else has it. Errors: NOT_READY. */
  async endMisused(consent: ConsentName, reason: string): Promise<void> {
    const { id, userId, clientId } = consent;
    if (await this.#remove(consent, { reason }))
      this.#context.log.warn('tokens were revoked', { reason, consentId: id, userId, clientId });
  }

  /** The client ends its consent. Errors: NOT_READY. */
  async endRevoked(consent: ConsentName): Promise<void> {
    await this.#remove(consent, { reason: 'by the client' });
  }

  async #remove(
    { id, userId, clientId }: ConsentName,
    metadata: Readonly<Record<string, string>>,
  ): Promise<boolean> {
    const { store, auditLog } = this.#context;
    const records = auditLog.made(
      { id: userId, type: 'user' },
      'oauth.token_revoked',
      { id: clientId, type: 'oauth_client' },
      { ...metadata, consentId: id },
    );
    return await store.oauthConsents.remove(id, userId, records);
  }
}
