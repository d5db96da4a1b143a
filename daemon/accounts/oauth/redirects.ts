// Redirect addresses of OAuth clients: which may be registered, whether an address is registered, and how an answer is
// appended. Addresses are compared as texts: any different character makes another address.

import { OAuthError } from './error.ts';

/** Of one client. */
export const REDIRECTS_MAX = 10;

/**
 * An application's private scheme. RFC 8252 (7.1) requires a reversed domain name; schemes without a dot may be those of a
 * browser or of the system (`javascript:`, `view-source:`, `ms-settings:`). Cursor has registered no better one.
 */
const APPLICATION_SCHEME = /^(?:[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+|cursor):$/;

/** Printable characters; also refused: backslashes (which browsers take for slashes), wildcards and fragments. */
const PLAIN = /^[!-~]+$/;
const REFUSED_CHARACTERS = /[\\*#<>"]/;

/** Parameters of our answers, which the address itself must not contain. */
const ANSWER_PARAMETERS = ['code', 'state', 'iss', 'error'];

/** Literal forms only: a name that resolves to this machine is not included. */
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::\d{1,5})?(?=[/?]|$)/;

/** Errors: OAuthError invalid_redirect_uri for an address that may not be registered. */
export function checkRedirectUri(uri: string): void {
  const reason = refusalOf(uri);
  if (reason !== undefined)
    throw new OAuthError('invalid_redirect_uri', `redirect_uris: ${reason}`);
}

function refusalOf(uri: string): string | undefined {
  if (uri.length > 1000) return 'longer than 1000 characters';
  if (!PLAIN.test(uri) || REFUSED_CHARACTERS.test(uri))
    return 'wildcards, fragments, spaces and other such characters are not allowed';
  const url = URL.canParse(uri) ? new URL(uri) : undefined;
  if (url === undefined) return 'expected absolute addresses';
  const isSecure = url.protocol === 'https:' || LOOPBACK.test(uri);
  if (!isSecure && !APPLICATION_SCHEME.test(url.protocol))
    return 'expected https, http on loopback (127.0.0.1, [::1], localhost), or a scheme with a dot, such as com.example.app';
  if (url.username !== '' || url.password !== '') return 'a user name is not allowed';
  if (ANSWER_PARAMETERS.some((name) => url.searchParams.has(name)))
    return 'parameters that answers have are not allowed';
  // The parser adds missing slashes.
  if (isSecure && !/^https?:\/\/[^/?]/i.test(uri)) return 'expected a host';
  return undefined;
}

/** Whether a client has registered `uri`. On loopback the client may choose any port each time (RFC 8252). */
export function isRegistered(registered: readonly string[], uri: string): boolean {
  // Why again: the client may have been registered by an earlier version.
  if (refusalOf(uri) !== undefined) return false;
  if (registered.includes(uri)) return true;
  if (!LOOPBACK.test(uri)) return false;
  const requested = uri.replace(LOOPBACK, '$1');
  return registered.some((one) => LOOPBACK.test(one) && one.replace(LOOPBACK, '$1') === requested);
}

/** What people see of an address: the host, or the scheme of an application. */
export function redirectHost(uri: string): string {
  const { protocol, host } = new URL(uri);
  return protocol === 'http:' || protocol === 'https:' ? host : protocol;
}

export function redirectTo(uri: string, answer: Readonly<Record<string, string>>): string {
  return `${uri}${uri.includes('?') ? '&' : '?'}${new URLSearchParams(answer).toString()}`;
}
