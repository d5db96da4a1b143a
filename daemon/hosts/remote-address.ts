// Addresses that git may fetch from. Git accepts more: options, programs, local folders, and some addresses that it reads
// as another host than we do.

import { HostError } from './host.ts';

export type Protocol = 'http' | 'https' | 'ssh' | 'file';

const USUAL: readonly Protocol[] = ['http', 'https', 'ssh'];

export interface RemoteAddress {
  readonly protocol: Protocol;
  /** For git: without credentials, and read alike by git and us. */
  readonly url: string;
  /** For messages: host, with a non-default port; the path of a folder. */
  readonly host: string;
}

/**
 * Errors: HostError, `ADDRESS_REFUSED`. It does not contain the address, which may have a password.
 * @param protocols  allowed ones; default: http, https, ssh
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
  // Git decodes the names for ssh, which must be neither an option nor another name.
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
