// Rules for the head of a request, for both libraries: repeated headers, framing of the body, forms of a target. A
// proxy and the daemon must agree on them, so anything ambiguous is refused (RFC 9112 3.2, 6.1 and 6.3).

import { RequestFault } from './adapter.ts';
import type { HeaderMap } from './exchange-parts.ts';

/** A request target; with its host if it is in absolute form. */
export interface Target {
  readonly path: string;
  readonly rawQuery: string;
  readonly authority?: string;
}

/** A host with an optional port. A user matches too, but no served name has one. */
const AUTHORITY = /^[\w.~!$&'()*+,;=:%@[\]-]*$/;

/** Undefined: the headers are valid. `version` such as 1.1; 1.0 has no chunks and needs no Host. */
export function faultOf(headers: HeaderMap, version: string): RequestFault | undefined {
  const isOld = version === '1.0';
  if (!isOld && version !== '1.1') return malformed('HTTP version other than 1.1 and 1.0');
  const host = headers.get('host');
  if (headers.repeated.includes('host')) return malformed('more than one Host header');
  if (host === undefined && !isOld) return malformed('no Host header');
  if (host !== undefined && !AUTHORITY.test(host)) return malformed('bad Host header');
  if (headers.repeated.includes('content-length')) return malformed('more than one Content-Length');
  const length = headers.get('content-length');
  if (length !== undefined && !/^[0-9]{1,15}$/.test(length)) return malformed('bad Content-Length');
  const coding = headers.get('transfer-encoding');
  if (coding === undefined) return undefined;
  if (isOld || length !== undefined || coding.toLowerCase() !== 'chunked')
    return malformed('Transfer-Encoding is not just "chunked"');
  return undefined;
}

export function parseTarget(target: string): Target | RequestFault {
  const absolute = target.startsWith('/') ? null : /^https?:\/\/([^/?#]*)(.*)$/i.exec(target);
  if (absolute === null) return splitQuery(target);
  const [, authority = '', rest = ''] = absolute;
  if (!AUTHORITY.test(authority) || authority === '' || authority.includes('@'))
    return malformed('bad host in the target');
  return { ...splitQuery(rest.startsWith('/') ? rest : `/${rest}`), authority };
}

function splitQuery(target: string): Target {
  const start = target.indexOf('?');
  if (start < 0) return { path: target, rawQuery: '' };
  return { path: target.slice(0, start), rawQuery: target.slice(start + 1) };
}

export function headTooLarge(): RequestFault {
  return new RequestFault('REQUEST_HEADERS_TOO_LARGE', 'Request line and headers are too large.');
}

export function malformed(reason: string): RequestFault {
  return new RequestFault('MALFORMED_REQUEST', `Invalid request: ${reason}.`);
}
