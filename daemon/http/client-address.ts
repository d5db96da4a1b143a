// The client's address: the peer's, or the last in `X-Forwarded-For` that is not a trusted proxy.

import { BlockList, isIP } from 'node:net';
import type { Caller } from '../accounts/caller.ts';
import { readNetwork } from '../base/config/settings.ts';
import type { HttpRequest } from './adapters/adapter.ts';

export function proxyList(networks: readonly string[]): BlockList | undefined {
  if (networks.length === 0) return undefined;
  const list = new BlockList();
  for (const text of networks) {
    const network = readNetwork(text);
    if (network !== undefined) list.addSubnet(network.address, network.prefix, network.family);
  }
  return list;
}

/** @param proxies  undefined: no proxy is trusted */
export function clientAddress(
  request: Pick<HttpRequest, 'remoteAddress' | 'headers'>,
  proxies: BlockList | undefined,
): string {
  const peer = plain(request.remoteAddress);
  if (proxies === undefined || !isIn(proxies, peer)) return peer;
  const hops = (request.headers.get('x-forwarded-for') ?? '')
    .split(',')
    .map((hop) => plain(withoutPort(hop.trim())));
  // A client can forge everything before the first untrusted hop.
  const client = hops.toReversed().find((hop) => !isIn(proxies, hop));
  return client !== undefined && isIP(client) !== 0 ? client : peer;
}

const HOP = /^(?:\[([^\]]*)\]|(\d+(?:\.\d+){3}))(?::\d+)?$/;

/** Some proxies write the client's port: `10.0.0.1:443`, `[2001:db8::1]:443`. */
function withoutPort(hop: string): string {
  const [, six, four] = HOP.exec(hop) ?? [];
  return six ?? four ?? hop;
}

/** Converts an IPv4 address in IPv6 notation (`::ffff:10.0.0.1`) to IPv4. */
export function plain(address: string): string {
  return address.replace(/^(?:::ffff:|0{4}(?::0{4}){4}:ffff:)(?=\d+\.)/i, '');
}

function isIn(list: BlockList, address: string): boolean {
  const version = isIP(address);
  return version !== 0 && list.check(address, version === 6 ? 'ipv6' : 'ipv4');
}

/**
 * What permits and bytes are counted by: the person, or the address; of IPv6 the network, as a client has all of it.
 */
export function clientKeyOf({
  caller,
  address,
}: {
  readonly caller?: Caller | undefined;
  readonly address: string;
}): string {
  return caller?.person?.id ?? `${caller?.source ?? 'guest'} ${networkOf(address)}`;
}

function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const missing =
    8 - groups.length - (tail === undefined || tail === '' ? 0 : tail.split(':').length);
  if (tail !== undefined) for (let i = 0; i < missing; i++) groups.push('0');
  if (tail !== undefined && tail !== '') groups.push(...tail.split(':'));
  // 64 bits.
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
