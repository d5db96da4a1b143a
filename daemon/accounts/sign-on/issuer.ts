// An OpenID Connect issuer: its metadata (discovery) and keys, fetched on demand and cached; the sign-on by authorization
// code with PKCE, state and nonce; and its claims about a person. openid-client implements the protocol; jose checks
// signatures, with the same keys as for access tokens.

import {
  createRemoteJWKSet,
  customFetch as joseFetch,
  errors,
  jwtVerify,
  type JWTVerifyGetKey,
} from 'jose';
import * as client from 'openid-client';
import type { OpenIdSettings } from '../../base/config/file-schema.ts';
import type { Environment } from '../../base/config/dispatcher.ts';
import { type Identity, identityOf, type SaidOfAddress, type SaidOfPerson } from './identity.ts';
import { ISSUER_LIMITS, issuerFetch, type IssuerFetch } from './issuer-fetch.ts';
import { SignOnRefusal } from './refusals.ts';
import { type Challenge, exchangeCode, secretNow, type Tokens } from './sign-on-callback.ts';
import { HOUR_MS } from '../../base/durations.ts';

export const SKEW_SECONDS = 60;

/** Asymmetric signatures only: a published key cannot sign. */
export const ALGORITHMS = ['RS', 'PS', 'ES']
  .flatMap((kind) => [`${kind}256`, `${kind}384`, `${kind}512`])
  .concat('EdDSA');

export interface IssuerOptions {
  readonly settings: OpenIdSettings;
  readonly env: Environment;
  readonly limits?: Partial<typeof ISSUER_LIMITS>;
}

export interface OpenIssuer {
  readonly metadata: client.ServerMetadata;
  readonly keys: JWTVerifyGetKey;
  readonly openedMs: number;
}

export class Issuer {
  readonly settings: OpenIdSettings;
  readonly #url: URL;
  readonly #fetch: IssuerFetch;
  readonly #env: Environment;
  readonly #limits: typeof ISSUER_LIMITS;
  #opened: OpenIssuer | undefined;
  #opening: Promise<OpenIssuer> | undefined;

  constructor({ settings, env, limits }: IssuerOptions) {
    this.settings = settings;
    this.#env = env;
    this.#url = new URL(settings.issuer);
    this.#limits = { ...ISSUER_LIMITS, ...limits };
    this.#fetch = issuerFetch({ issuer: this.#url, env, limits: this.#limits });
  }

  /** Whether a token that names this issuer may belong to it. */
  isIssuerOf(issuer: string): boolean {
    return URL.canParse(issuer) && new URL(issuer).href === this.#url.href;
  }

  /** Errors: SignOnRefusal `unreachable`. */
  async open(): Promise<OpenIssuer> {
    const cached = this.#opened;
    const isFresh = cached !== undefined && performance.now() - cached.openedMs < HOUR_MS;
    if (isFresh) return cached;
    this.#opening ??= this.#discover().finally(() => {
      this.#opening = undefined;
    });
    try {
      this.#opened = await this.#opening;
      return this.#opened;
    } catch (error) {
      // Metadata from an hour ago is better than no sign-in.
      if (cached !== undefined) return cached;
      throw new SignOnRefusal('unreachable', error);
    }
  }

  async #discover(): Promise<OpenIssuer> {
    const { clientId } = this.settings;
    const { answerMs, keysMs, restMs } = this.#limits;
    const found = await client.discovery(this.#url, clientId, undefined, client.None(), {
      [client.customFetch]: this.#fetch,
      timeout: answerMs / 1000,
      execute: this.#isPlain ? [client.allowInsecureRequests] : [],
    });
    const metadata = found.serverMetadata();
    if (metadata.jwks_uri === undefined || metadata.authorization_endpoint === undefined)
      throw new Error('the issuer names no address of its keys, or none to sign in at');
    const remoteKeys = createRemoteJWKSet(new URL(metadata.jwks_uri), {
      [joseFetch]: this.#fetch,
      cacheMaxAge: keysMs,
      cooldownDuration: restMs,
      timeoutDuration: answerMs,
    });
    const keys: JWTVerifyGetKey = (header, token) =>
      remoteKeys(header, token).catch((error: unknown) => {
        if (error instanceof errors.JWKSNoMatchingKey) throw error;
        if (error instanceof errors.JWKSMultipleMatchingKeys) throw error;
        throw new SignOnRefusal('unreachable', error);
      });
    return { metadata, keys, openedMs: performance.now() };
  }

  /** The configured issuer has no TLS. */
  get #isPlain(): boolean {
    return this.#url.protocol === 'http:';
  }

  /** The address to redirect the person to. Errors: SignOnRefusal. */
  async address(challenge: Challenge, redirectUri: string): Promise<URL> {
    const configuration = this.#configuration(await this.open());
    return client.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: this.settings.scopes,
      state: challenge.state,
      nonce: challenge.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(challenge.verifier),
      code_challenge_method: 'S256',
    });
  }

  /**
   * Identifies the returning person.
   *
   * @param url  the redirect address, with the issuer's parameters
   * Errors: SignOnRefusal.
   */
  async identity(challenge: Challenge, url: URL): Promise<Identity> {
    const open = await this.open();
    const configuration = this.#configuration(open);
    const tokens = await exchangeCode(configuration, url, {
      expectedState: challenge.state,
      expectedNonce: challenge.nonce,
      pkceCodeVerifier: challenge.verifier,
      idTokenExpected: true,
    });
    try {
      const said = await this.#said(configuration, open, tokens);
      return identityOf(open.metadata.issuer, said, [said]);
    } catch (error) {
      if (error instanceof SignOnRefusal) throw error;
      throw new SignOnRefusal('invalid', error);
    }
  }

  /** Claims of the id token; if it has no address, those fetched with the access token. */
  async #said(
    configuration: client.Configuration,
    { metadata, keys }: OpenIssuer,
    tokens: Tokens,
  ): Promise<SaidOfPerson & SaidOfAddress> {
    const { payload } = await jwtVerify(tokens.id_token ?? '', keys, {
      algorithms: ALGORITHMS,
      issuer: metadata.issuer,
      audience: this.settings.clientId,
      clockTolerance: SKEW_SECONDS,
    });
    const { sub = '', email, email_verified: verified, name } = payload;
    const isWhole = email !== undefined && verified !== undefined;
    if (isWhole || metadata.userinfo_endpoint === undefined) return { sub, email, verified, name };
    const userInfo = await client.fetchUserInfo(configuration, tokens.access_token, sub);
    return {
      sub,
      email: userInfo.email,
      verified: userInfo.email_verified,
      name: userInfo.name ?? name,
    };
  }

  /** Why not once: the secret may have been replaced. Errors: SignOnRefusal if it is missing. */
  #configuration({ metadata }: OpenIssuer): client.Configuration {
    const { clientId, clientSecret } = this.settings;
    const made = new client.Configuration(
      metadata,
      clientId,
      { [client.clockTolerance]: SKEW_SECONDS },
      secretAuthentication(metadata, secretNow(clientSecret, this.#env)),
    );
    made[client.customFetch] = this.#fetch;
    made.timeout = this.#limits.answerMs / 1000;
    if (this.#isPlain) client.allowInsecureRequests(made);
    return made;
  }
}

/** The client secret is sent in the header if the issuer supports that, or does not say; else in the form. */
function secretAuthentication(metadata: client.ServerMetadata, secret: string): client.ClientAuth {
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return methods.includes('client_secret_basic')
    ? client.ClientSecretBasic(secret)
    : client.ClientSecretPost(secret);
}
