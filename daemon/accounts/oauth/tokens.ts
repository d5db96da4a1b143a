// Issues tokens for codes and refresh tokens, and revokes them. Each code and each refresh token is valid once: a second
// use revokes all tokens issued for the first one, since one of the two users of it should not have it. Of concurrent uses one is
// served, and revoked too.
//
// A refresh token begins with 32 digits shared with its successors: this distinguishes an old token from an unknown one
// without storing old ones.

import { createHash } from 'node:crypto';
import type { OAuthConsent } from '../../store/oauth-consents.ts';
import type { Consents } from './consents.ts';
import { OAuthError } from './error.ts';
import { ACCESS_TOKEN_PREFIX, type OAuthContext, randomHex } from './oauth-context.ts';
import type { Parameters } from './parameters.ts';
import type { ProvenRequest } from './proofs.ts';
import { covers, resourceOf } from './resources.ts';

const REFRESH_TOKEN = /^svor_(?<family>[0-9a-f]{32})[0-9a-f]{32}$/;
const ACCESS_TOKEN = new RegExp(`^${ACCESS_TOKEN_PREFIX}[0-9a-f]{64}$`);
/** Bytes of a refresh token's new part, and of its inherited part. */
const HALF_SIZE = 16;

export interface Proof {
  /** Of the header `DPoP`; undefined: missing. */
  readonly value: string | undefined;
  readonly request: ProvenRequest;
}

export interface TokenAnswer {
  readonly access_token: string;
  readonly token_type: 'Bearer' | 'DPoP';
  /** Seconds. */
  readonly expires_in: number;
  readonly refresh_token: string;
}

interface TokenGrant {
  readonly consent: OAuthConsent;
  readonly family: string;
  readonly keyHash: string | null;
  readonly resource: string;
  readonly grantType: string;
}

export class Tokens {
  readonly #context: OAuthContext;
  readonly #consents: Consents;

  constructor(context: OAuthContext, consents: Consents) {
    this.#context = context;
    this.#consents = consents;
  }

  /** The user whose code or token a request has, for rate limits; undefined: unknown. Errors: NOT_READY. */
  async userOf(parameters: Parameters): Promise<string | undefined> {
    const { store, hash } = this.#context;
    const code = parameters.get('code');
    if (code !== undefined) return (await store.oauthConsents.byCode(hash(code)))?.userId;
    const token = parameters.get('refresh_token') ?? parameters.get('token') ?? '';
    const stored = ACCESS_TOKEN.test(token)
      ? await store.oauthConsents.token(hash(token))
      : await this.#consentOf(token);
    return stored?.userId;
  }

  /** Errors: OAuthError; NOT_READY. */
  async issue(parameters: Parameters, proof: Proof): Promise<TokenAnswer> {
    const grantType = parameters.require('grant_type');
    const isCode = grantType === 'authorization_code';
    if (!isCode && grantType !== 'refresh_token')
      throw new OAuthError(
        'unsupported_grant_type',
        'grant_type: expected authorization_code or refresh_token',
      );
    const clientId = parameters.require('client_id');
    if ((await this.#context.store.oauthClients.get(clientId)) === undefined)
      throw new OAuthError('invalid_client', 'client_id: not registered');
    return isCode
      ? await this.#redeem(parameters, clientId, proof)
      : await this.#rotate(parameters, clientId, proof);
  }

  async #redeem(parameters: Parameters, clientId: string, proof: Proof): Promise<TokenAnswer> {
    const { store, hash } = this.#context;
    const verifier = parameters.require('code_verifier');
    const consent = await store.oauthConsents.byCode(hash(parameters.require('code')));
    if (consent === undefined) throw badGrant();
    if (consent.familyHash !== null) throw await this.#misused(consent, 'a code was used twice');
    this.#checkClient(consent, clientId);
    const redirectUri = parameters.get('redirect_uri') ?? consent.redirectUri;
    if (redirectUri !== consent.redirectUri || !isVerified(verifier, consent.codeChallenge))
      throw badGrant();
    const resource = this.#resourceOf(parameters, consent);
    const keyHash = await this.#keyOf(consent, proof);
    const family = randomHex(HALF_SIZE);
    const grant = { consent, family, keyHash, resource, grantType: 'authorization_code' };
    const made = this.#make(grant);
    if (!(await store.oauthConsents.redeem(consent.id, hash(family), made.next)))
      throw await this.#misused(consent, 'a code was used twice');
    return made.answer;
  }

  async #rotate(parameters: Parameters, clientId: string, proof: Proof): Promise<TokenAnswer> {
    const { store, hash } = this.#context;
    const value = parameters.require('refresh_token');
    const consent = await this.#consentOf(value);
    if (consent === undefined) throw badGrant();
    const refreshHash = hash(value);
    if (consent.refreshHash !== refreshHash)
      throw await this.#misused(consent, 'a refresh token was used twice');
    this.#checkClient(consent, clientId);
    const resource = this.#resourceOf(parameters, consent);
    const keyHash = await this.#keyOf(consent, proof);
    const family = familyOf(value) ?? '';
    const made = this.#make({ consent, family, keyHash, resource, grantType: 'refresh_token' });
    if (!(await store.oauthConsents.rotate(consent.id, refreshHash, made.next)))
      throw await this.#misused(consent, 'a refresh token was used twice');
    return made.answer;
  }

  async #consentOf(refreshToken: string): Promise<OAuthConsent | undefined> {
    const { store, hash } = this.#context;
    const family = familyOf(refreshToken);
    return family === undefined ? undefined : await store.oauthConsents.byFamily(hash(family));
  }

  #checkClient({ clientId, expiresAt }: OAuthConsent, callerId: string): void {
    if (clientId !== callerId || expiresAt <= this.#context.now()) throw badGrant();
  }

  #resourceOf(parameters: Parameters, { resource }: OAuthConsent): string {
    const baseUrl = this.#context.baseUrl();
    const resourceParameter = parameters.get('resource');
    if (resourceParameter === undefined) return resource;
    const requested = resourceOf(resourceParameter, baseUrl);
    if (covers(resource, requested, baseUrl)) return requested;
    throw new OAuthError('invalid_target', 'resource: more than what was allowed');
  }

  /** The key to bind tokens to: that of the proof, if any; it never changes for a consent. */
  async #keyOf({ keyHash }: OAuthConsent, { value, request }: Proof): Promise<string | null> {
    if (value === undefined && keyHash === null) return null;
    if (value === undefined) throw new OAuthError('invalid_dpop_proof', 'DPoP proof: required');
    return await this.#context.proofs.check(value, request, keyHash === null ? {} : { keyHash });
  }

  #make({ consent, family, keyHash, resource, grantType }: TokenGrant) {
    const { hash, now, settings, auditLog } = this.#context;
    const { accessTokenTtlSeconds, refreshTokenTtlSeconds } = settings();
    const createdAt = now();
    const accessToken = `${ACCESS_TOKEN_PREFIX}${randomHex(32)}`;
    const refreshToken = `svor_${family}${randomHex(HALF_SIZE)}`;
    const records = auditLog.made(
      { id: consent.userId, type: 'user' },
      'oauth.token_issued',
      { id: consent.clientId, type: 'oauth_client' },
      { grantType, resource, consentId: consent.id },
    );
    const expiresAt = createdAt + accessTokenTtlSeconds * 1000;
    const token = { hash: hash(accessToken), resource, keyHash, createdAt, expiresAt };
    // An access token is removed with its consent.
    const ttlSeconds = Math.max(refreshTokenTtlSeconds, accessTokenTtlSeconds);
    const answer: TokenAnswer = {
      access_token: accessToken,
      token_type: keyHash === null ? 'Bearer' : 'DPoP',
      expires_in: accessTokenTtlSeconds,
      refresh_token: refreshToken,
    };
    const next = {
      refreshHash: hash(refreshToken),
      keyHash,
      token,
      expiresAt: createdAt + ttlSeconds * 1000,
      records,
    };
    return { answer, next };
  }

  async #misused(consent: OAuthConsent, reason: string): Promise<OAuthError> {
    await this.#consents.endMisused(consent, reason);
    return badGrant();
  }

  /** Revokes a token: a refresh token with all tokens of its consent. An unknown token is no error. Errors: NOT_READY. */
  async revoke(parameters: Parameters): Promise<void> {
    const value = parameters.get('token') ?? '';
    const clientId = parameters.get('client_id');
    const isOwnToken = (stored: { readonly clientId: string } | undefined): boolean =>
      stored !== undefined && (clientId === undefined || clientId === stored.clientId);
    if (ACCESS_TOKEN.test(value)) return await this.#revokeAccess(value, isOwnToken);
    const consent = await this.#consentOf(value);
    if (consent !== undefined && isOwnToken(consent)) await this.#consents.endRevoked(consent);
  }

  async #revokeAccess(
    value: string,
    isOwnToken: (stored: { readonly clientId: string } | undefined) => boolean,
  ): Promise<void> {
    const { store, hash, auditLog } = this.#context;
    const stored = await store.oauthConsents.token(hash(value));
    if (stored === undefined || !isOwnToken(stored)) return;
    const records = auditLog.made(
      { id: stored.userId, type: 'user' },
      'oauth.token_revoked',
      { id: stored.clientId, type: 'oauth_client' },
      { reason: 'by the client', consentId: stored.consentId },
    );
    await store.oauthConsents.removeToken(stored.hash, records);
  }
}

/** Whether the challenge of a request was made of this verifier (PKCE). */
function isVerified(verifier: string, challenge: string): boolean {
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) return false;
  return createHash('sha256').update(verifier).digest('base64url') === challenge;
}

function familyOf(refreshToken: string): string | undefined {
  return REFRESH_TOKEN.exec(refreshToken)?.groups?.['family'];
}

/** The same for every fault of a code or a token. */
function badGrant(): OAuthError {
  return new OAuthError('invalid_grant', 'the code or token is not valid, or not for this client');
}
