// Addresses that git may fetch from. It would take more: options, programs, folders of this machine, and, of the same text,
// another host than we do.

import { HostError } from './host.ts';

export type Protocol = 'http' | 'https' | 'ssh' | 'git' | 'file';

const USUAL: readonly Protocol[] = ['http', 'https', 'ssh'];

export interface RemoteAddress {
  readonly protocol: Protocol;
  /** As git gets it: without credentials, and read by git as by us. */
  readonly url: string;
  /** For messages: host, with a port that is not the usual one; the path of a folder. */
  readonly host: string;
}

/**
 * @param protocols  those that are allowed; default: http, https, ssh
 *
 * Errors: HostError, `ADDRESS_REFUSED`. It does not show the address, which may hold a password.
 */
export function remoteAddress(text: string, protocols = USUAL): RemoteAddress {
  const url = URL.canParse(text) ? new URL(text) : refuse('cannot be read; expected a URL');
  const protocol = protocols.find((name) => `${name}:` === url.protocol);
  if (protocol === undefined)
    return refuse(`begins with ${url.protocol}//; allowed: ${protocols.join(', ')}`);
  if (url.password !== '' || (isHttp({ protocol }) && url.username !== ''))
    return refuse('holds a credential; name it as `token` of the connection');
  if (/[\p{Cc}\s]/u.test(text) || url.search !== '' || url.hash !== '')
    return refuse('has blanks, a query or a fragment');
  if (/%(?:[01][\da-f]|7f)/i.test(url.pathname)) return refuse('has control characters');
  // Git decodes what ssh gets, which must be neither an option nor another name.
  const plain = /^[a-zA-Z0-9_][\w.-]*$/;
  const isPlain = plain.test(url.hostname) || /^\[[\da-f:.]+\]$/i.test(url.hostname);
  if (protocol !== 'file' && !isPlain) return refuse('names no host');
  if (url.username !== '' && !plain.test(url.username)) return refuse('has an unusual user');
  return { protocol, url: url.href, host: protocol === 'file' ? url.pathname : url.host };
}

export function isHttp({ protocol }: Pick<RemoteAddress, 'protocol'>): boolean {
  return protocol === 'http' || protocol === 'https';
}

function refuse(reason: string): never {
  throw new HostError('ADDRESS_REFUSED', `the address of the repository ${reason}`);
}
