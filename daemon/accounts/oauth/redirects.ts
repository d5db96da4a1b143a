// Where a browser may be sent with a code: which addresses may be registered, whether an address is one of them, and how an
// answer is put behind one. Addresses are compared as texts: two that differ in any character are two.

import { OAuthError } from './error.ts';

/** Of one client. */
export const REDIRECTS_MAX = 10;
/** Characters of an address. */
const LENGTH_MAX = 1000;

/**
 * A scheme of an application's own. RFC 8252 (7.1) wants a domain name in reverse; schemes without a dot may be those of a
 * browser or of the system (`javascript:`, `view-source:`, `ms-settings:`). Cursor has registered no better one.
 */
const APPLICATION_SCHEME = /^(?:[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+|cursor):$/;

/** What can be seen, but a space, a backslash (which browsers take for a slash), a wildcard or a fragment. */
const PLAIN = /^[!-~]+$/;
const REFUSED_CHARACTERS = /[\\*#<>"]/;

/** What we say in an answer, which nobody else is to say in front of it. */
const ANSWER_PARAMETERS = ['code', 'state', 'iss', 'error'];

/** As it is written: an address that only resolves to the machine itself is not one of these. */
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::\d{1,5})?(?=[/?]|$)/;

/** Errors: OAuthError invalid_redirect_uri for what may not be registered. */
export function checkRedirectUri(uri: string): void {
  const reason = refusalOf(uri);
  if (reason !== undefined)
    throw new OAuthError('invalid_redirect_uri', `redirect_uris: ${reason}`);
}

function refusalOf(uri: string): string | undefined {
  if (uri.length > LENGTH_MAX) return `longer than ${LENGTH_MAX} characters`;
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
  // The parser adds slashes that are not there.
  if (isSecure && !/^https?:\/\/[^/?]/i.test(uri)) return 'expected a host';
  return undefined;
}

/** Is `uri` one of those that a client has registered? On loopback the port is the client's choice at each time (RFC 8252). */
export function isRegistered(registered: readonly string[], uri: string): boolean {
  // Why again: clients may have been registered by an earlier version.
  if (refusalOf(uri) !== undefined) return false;
  return registered.includes(uri) || isRegisteredLoopback(registered, uri);
}

function isRegisteredLoopback(registered: readonly string[], uri: string): boolean {
  if (!LOOPBACK.test(uri)) return false;
  const wanted = withoutPort(uri);
  return registered.some((one) => LOOPBACK.test(one) && withoutPort(one) === wanted);
}

function withoutPort(loopbackUri: string): string {
  return loopbackUri.replace(LOOPBACK, '$1');
}

/** What people are shown of an address: the host, or the scheme of an application. */
export function redirectHost(uri: string): string {
  const { protocol, host } = new URL(uri);
  return protocol === 'http:' || protocol === 'https:' ? host : protocol;
}

/** The address with an answer behind it. */
export function redirectTo(uri: string, answer: Readonly<Record<string, string>>): string {
  return `${uri}${uri.includes('?') ? '&' : '?'}${new URLSearchParams(answer).toString()}`;
}
