// Credentials: format and creation of keys, tokens, sessions and one-time links, their stored hashes, and which ones a
// request presents, in the order of trying. Callers look up the hash to check validity.

import { createHmac } from 'node:crypto';
import { API_KEY_PREFIX } from '../base/config/variables.ts';
import { DAY_MS } from '../base/durations.ts';
import { ACCESS_TOKEN_PREFIX, randomHex } from './oauth/oauth-context.ts';
import { PENDING_SECONDS } from './sign-on/return-path.ts';

export type CredentialSource =
  'session' | 'oauth' | 'issuer_token' | 'scoped_access_token' | 'api_key';

/** A well-formed credential of a request; the value is secret. */
export interface Presented {
  readonly source: CredentialSource;
  readonly value: string;
  /** Of `Authorization`; `dpop` only for OAuth tokens. */
  readonly scheme?: 'bearer' | 'dpop';
}

/** Header for API keys besides `Authorization`. */
export const API_KEY_HEADER = 'x-service-api-key';

const HEX = /^[0-9a-f]{64}$/;
/** What credentials begin with; 64 hex digits follow. */
const PREFIXES = {
  session: '',
  oauth: ACCESS_TOKEN_PREFIX,
  scoped_access_token: 'svst_',
  api_key: API_KEY_PREFIX,
} as const;
/** A JWT, of a configured issuer or any other. */
const ISSUER_TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const ISSUER_TOKEN_SIZE_MAX = 8_192;
const AUTHORIZATION = /^(?<scheme>bearer|dpop) +(?<value>\S+) *$/i;

export function makeCredential(source: 'scoped_access_token' | 'api_key'): string {
  return `${PREFIXES[source]}${makeSecretValue()}`;
}

/** Value of a session cookie or of a one-time link. */
export function makeSecretValue(): string {
  return randomHex(32);
}

/**
 * The stored hash of a credential: HMAC-SHA256 under the instance secret, 64 hex digits. Without the secret, neither the
 * hash nor the time of its lookup reveals the credential.
 */
export function hashCredential(secret: Buffer, value: string): string {
  return createHmac('sha256', secret).update(value).digest('hex');
}

/**
 * The credentials of a request in the order of trying: the first valid one identifies the caller. Malformed ones are
 * skipped. Nothing follows a scoped token or an OAuth token: they do not fall back to another header.
 *
 * @param headers  by lower-case name
 * @param aliases  further names of the header for API keys
 */
export function presentedCredentials(
  headers: ReadonlyMap<string, string>,
  aliases: readonly string[] = [],
): readonly Presented[] {
  return allPresented(headers, aliases).filter(isWellFormed);
}

/** Whether a credential is presented, valid, malformed or neither. */
export function presentsCredential(
  headers: ReadonlyMap<string, string>,
  aliases: readonly string[],
): boolean {
  return allPresented(headers, aliases).length > 0;
}

function allPresented(
  headers: ReadonlyMap<string, string>,
  aliases: readonly string[],
): readonly Presented[] {
  const sessionValue = cookieOf(headers.get('cookie'), SESSION_COOKIE, HEX);
  const session: Presented | undefined =
    sessionValue === undefined ? undefined : { source: 'session', value: sessionValue };
  const authorization = authorizationOf(headers.get('authorization'));
  const { source } = authorization ?? {};
  const isFinal = source === 'oauth' || source === 'scoped_access_token';
  const names = isFinal ? [] : [API_KEY_HEADER, ...aliases.map((name) => name.toLowerCase())];
  const keys = names.map((name): Presented | undefined => {
    const value = headers.get(name)?.trim() ?? '';
    return value === '' ? undefined : { source: 'api_key', value };
  });
  return [session, authorization, ...keys].filter((one) => one !== undefined);
}

/** Only the prefix decides the kind: a malformed token is not taken for a key. */
function authorizationOf(text: string | undefined): Presented | undefined {
  const { scheme, value } = AUTHORIZATION.exec(text?.trim() ?? '')?.groups ?? {};
  if (scheme === undefined || value === undefined) return undefined;
  const isDpop = scheme.toLowerCase() === 'dpop';
  if (value.startsWith(PREFIXES.oauth)) {
    return { source: 'oauth', value, scheme: isDpop ? 'dpop' : 'bearer' };
  }
  const source = bearerSourceOf(value);
  // A scheme that does not match the kind invalidates the credential.
  return { source, value: isDpop ? '' : value, scheme: 'bearer' };
}

function bearerSourceOf(value: string): CredentialSource {
  if (value.startsWith(PREFIXES.scoped_access_token)) return 'scoped_access_token';
  return ISSUER_TOKEN.test(value) ? 'issuer_token' : 'api_key';
}

function isWellFormed({ source, value }: Presented): boolean {
  if (source === 'issuer_token')
    return value.length <= ISSUER_TOKEN_SIZE_MAX && ISSUER_TOKEN.test(value);
  const prefix = PREFIXES[source];
  return value.startsWith(prefix) && HEX.test(value.slice(prefix.length));
}

const SESSION_COOKIE = 'trawl_session';

/** Life of a session from its last renewal. */
export const SESSION_MS = 30 * DAY_MS;

/** Value of the first cookie with this name and form: browsers send the one with the longest path first. */
function cookieOf(cookies: string | undefined, name: string, form: RegExp): string | undefined {
  return cookies
    ?.split(';')
    .map((pair) => pair.trim().split('='))
    .find(
      ([one, value = '', ...more]) => one === name && more.length === 0 && form.test(value),
    )?.[1];
}

/** Kept by a browser during a visit to an identity provider. */
const SIGN_ON_COOKIE = 'trawl_sign_on';
const SEALED = /^[\w.-]{1,4096}$/;

export function signOnCookieOf(cookies: string | undefined): string | undefined {
  return cookieOf(cookies, SIGN_ON_COOKIE, SEALED);
}

/** Scope of the cookie: the path of the base URL, and whether that is https. */
export interface CookieScope {
  /** Path of the base URL without trailing slash: `` or `/code`. */
  readonly basePath: string;
  readonly isSecure: boolean;
}

/** Value of the `Set-Cookie` header that starts or renews a session. */
export function sessionCookie(value: string, scope: CookieScope): string {
  return setCookie(SESSION_COOKIE, value, SESSION_MS / 1000, scope);
}

/** Value of the `Set-Cookie` header that ends a session in the browser. */
export function endedSessionCookie(scope: CookieScope): string {
  return setCookie(SESSION_COOKIE, '', 0, scope);
}

/** Value of the `Set-Cookie` header that stores a pending sign-on in the browser. */
export function signOnCookie(sealed: string, scope: CookieScope): string {
  return setCookie(SIGN_ON_COOKIE, sealed, PENDING_SECONDS, scope);
}

export function endedSignOnCookie(scope: CookieScope): string {
  return setCookie(SIGN_ON_COOKIE, '', 0, scope);
}

function setCookie(name: string, value: string, maxAgeSeconds: number, scope: CookieScope): string {
  const attributes = [
    `${name}=${value}`,
    `Path=${scope.basePath === '' ? '/' : scope.basePath}`,
    `Max-Age=${maxAgeSeconds}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(scope.isSecure ? ['Secure'] : []),
  ];
  return attributes.join('; ');
}
