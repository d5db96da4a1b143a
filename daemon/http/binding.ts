// The address to listen on, whether other machines reach it, the Host headers accepted, and the public address.

import { lookup } from 'node:dns/promises';
import { BlockList, isIP, isIPv4 } from 'node:net';
import { systemCodeOf } from '../base/caught.ts';
import type { ListenAddress } from '../base/config/configuration.ts';
import { ConfigError } from '../base/config/error.ts';
import type { Variable } from '../base/config/variables.ts';
import type { BoundAddress, HttpAdapter, HttpRequest } from './adapters/adapter.ts';
import { plain } from './client-address.ts';

export interface Binding {
  readonly address: string;
  readonly isLoopback: boolean;
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];
const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(LOOPBACK_NAMES);

/** Errors: ConfigError naming the variable if the host does not resolve. */
export async function resolveBinding(host: string, variable: Variable): Promise<Binding> {
  return bindingOf(await resolveHost(host.replace(/^\[(.*)\]$/, '$1'), variable));
}

/** @param address  an IP address */
export function bindingOf(address: string): Binding {
  return { address, isLoopback: loopback.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4') };
}

async function resolveHost(host: string, variable: Variable): Promise<string> {
  if (isIP(host) !== 0) return host;
  try {
    return (await lookup(host)).address;
  } catch {
    throw new ConfigError(
      variable.name,
      `${JSON.stringify(host)} does not resolve`,
      `allowed: ${variable.allowed}`,
    );
  }
}

/** Errors: ConfigError, with the names of what sets the address, if it cannot be bound. */
export async function listen(
  adapter: Pick<HttpAdapter, 'listen'>,
  binding: Binding,
  { host, port }: ListenAddress,
  names: string,
): Promise<BoundAddress> {
  try {
    return await adapter.listen(binding.address, port);
  } catch (error) {
    const code = systemCodeOf(error);
    const isTaken = code === 'EADDRINUSE';
    throw new ConfigError(
      names,
      `cannot listen on ${host} port ${port}${code === undefined ? '' : ` (${code})`}`,
      isTaken
        ? 'another program, perhaps another Trawl, has the port; stop it, or choose a free port'
        : 'choose a free port and an address of this machine',
    );
  }
}

/** The public address if none is configured: `localhost` unless an address for others is bound. */
export function defaultBaseUrl(
  { address, isLoopback }: Binding,
  { port }: BoundAddress,
  isTls: boolean,
): string {
  const isAny = address === '0.0.0.0' || address === '::';
  const urlHost = isIP(address) === 6 ? `[${address}]` : address;
  return `${isTls ? 'https' : 'http'}://${isLoopback || isAny ? 'localhost' : urlHost}:${port}`;
}

/** Host names that are accepted; undefined: all. Why: a page that rebinds its DNS name must not read answers. */
export function allowedHosts(
  binding: Binding,
  baseUrl: string | undefined,
): ReadonlySet<string> | undefined {
  if (!binding.isLoopback) return undefined;
  const own = baseUrl === undefined ? [] : [new URL(baseUrl).hostname];
  return new Set([...LOOPBACK_NAMES, ...own]);
}

/** Headers that proxies add: the sender may be on another machine. */
const PROXY_HEADERS = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/** Whether a program on this machine sent the request, to a name of this machine. */
export function isAtThisMachine(request: Pick<HttpRequest, 'remoteAddress' | 'headers'>): boolean {
  // No BlockList: it would take longer than the rest of this check.
  const peer = plain(request.remoteAddress);
  if (!(isIPv4(peer) && peer.startsWith('127.')) && peer !== '::1') return false;
  if (PROXY_HEADERS.some((name) => request.headers.has(name))) return false;
  const host = request.headers.get('host');
  return host !== undefined && isHostAllowed(LOOPBACK_HOSTS, host);
}

/** True without the header: only HTTP/1.0 may omit it, and no browser speaks that. */
export function isHostAllowed(
  hosts: ReadonlySet<string> | undefined,
  header: string | undefined,
): boolean {
  if (hosts === undefined || header === undefined) return true;
  const name = header.toLowerCase().replace(/:[0-9]*$/, '');
  return hosts.has(name);
}
