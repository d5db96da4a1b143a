// The address of the client: that of the peer, or, where the peer is a trusted proxy, the last one in
// `X-Forwarded-For` that is no trusted proxy itself.

import { BlockList, isIP } from 'node:net';
import { readNetwork } from '../config/settings.ts';
import type { HttpRequest } from './adapter.ts';

/** The networks of `settings.trustedProxies`. */
export function proxyList(networks: readonly string[]): BlockList | undefined {
  if (networks.length === 0) return undefined;
  const list = new BlockList();
  for (const text of networks) {
    const network = readNetwork(text);
    if (network !== undefined) list.addSubnet(network.address, network.prefix, network.family);
  }
  return list;
}

/** @param proxies  undefined: none is trusted */
export function clientAddress(request: HttpRequest, proxies: BlockList | undefined): string {
  const peer = plain(request.remoteAddress);
  if (proxies === undefined || !isIn(proxies, peer)) return peer;
  const hops = (request.header('x-forwarded-for') ?? '').split(',').map((hop) => plain(hop.trim()));
  // What stands before the first hop that is not trusted can be made up by anybody.
  const client = hops.toReversed().find((hop) => !isIn(proxies, hop));
  return client !== undefined && isIP(client) !== 0 ? client : peer;
}

/** An IPv4 address that is written as IPv6 (`::ffff:10.0.0.1`) as it is. */
export function plain(address: string): string {
  return address.replace(/^(?:::ffff:|0{4}(?::0{4}){4}:ffff:)(?=\d+\.)/i, '');
}

function isIn(list: BlockList, address: string): boolean {
  const version = isIP(address);
  return version !== 0 && list.check(address, version === 6 ? 'ipv6' : 'ipv4');
}
