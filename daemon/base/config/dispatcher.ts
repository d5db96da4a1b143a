// Opens connections to a code host: trusted certificates, proxy, timeouts. It uses the same variables and files as git, so
// that listing and fetching take the same route.

import { existsSync, readFileSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import { X509Certificate } from 'node:crypto';
import { LRUCache } from 'lru-cache';
// oxlint-disable-next-line import/no-unassigned-import -- for its side effect
import '../own-fetch.ts';
import { Agent, EnvHttpProxyAgent, type Dispatcher } from 'undici';
import { messageOf } from '../caught.ts';
import { ConfigError } from './error.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface DispatcherOptions {
  readonly hostname: string;
  /** PEM; trusted besides the certificates of the system and of Node.js. */
  readonly caFile: string | undefined;
  readonly env: Environment;
  readonly connectMs: number;
  /** Of headers, and between two chunks of a body. */
  readonly silenceMs: number;
  readonly connectionsMax: number;
}

/**
 * Dispatcher for requests of a protocol, `http:` or `https:`. The caller closes it.
 *
 * Errors: ConfigError if a certificate file or a proxy address is invalid.
 */
export function openDispatcher(protocol: string, options: DispatcherOptions): Dispatcher {
  const { connectMs, silenceMs, connectionsMax, env } = options;
  const secureContext = protocol === 'https:' ? readCertificates(options) : undefined;
  const tls = secureContext === undefined ? {} : { secureContext };
  const agent = {
    connect: { timeout: connectMs, ...tls },
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
    connections: connectionsMax,
  };
  const proxy = proxyOf(protocol, env);
  const noProxy = env['no_proxy'] ?? env['NO_PROXY'] ?? '';
  if (proxy === undefined || isInRange(options.hostname, noProxy)) return new Agent(agent);
  return new EnvHttpProxyAgent({
    ...agent,
    httpProxy: proxy,
    httpsProxy: proxy,
    noProxy,
    requestTls: { timeout: connectMs, ...tls },
    proxyTls: { timeout: connectMs, ...tls },
    // As git does: the proxy gets plain-HTTP requests whole; many proxies allow tunnels only to port 443.
    proxyTunnel: false,
  });
}

function proxyOf(protocol: string, env: Environment): string | undefined {
  const own = protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const names = [own, own.toUpperCase(), 'all_proxy', 'ALL_PROXY'];
  const name = names.find((name) => (env[name] ?? '') !== '');
  if (name === undefined) return undefined;
  const text = env[name]!;
  const address = /^[a-z0-9]+:\/\//i.test(text) ? text : `http://${text}`;
  const isUsable = URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
  // Its value may contain a password.
  if (!isUsable) throw new ConfigError(name, 'not a proxy address', 'allowed: http(s)://host:port');
  return address;
}

/** Whether the host is an IP address in a range of NO_PROXY (`10.0.0.0/8`); undici supports only names. */
function isInRange(hostname: string, noProxy: string): boolean {
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  const family = isIP(address);
  if (family === 0) return false;
  const ranges = new BlockList();
  for (const [, net = '', bits] of noProxy.matchAll(/([^\s,]+)\/(\d+)(?![^\s,])/g))
    if (isIP(net) === family && Number(bits) <= (family === 6 ? 128 : 32))
      ranges.addSubnet(net, Number(bits), family === 6 ? 'ipv6' : 'ipv4');
  return ranges.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** Where systems keep their trusted certificates as one file; git reads it too. */
const SYSTEM_FILES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/cert.pem',
];

/**
 * Measured: 2026-11-23: 38 ms each, blocking; shared by connections to one host and by most hosts.
 * Bound: memory; an organization has few certificate authorities.
 */
const contexts = new LRUCache<string, SecureContext>({ max: 16 });

function readCertificates(options: DispatcherOptions): SecureContext {
  const more = furtherCertificates(options);
  const key = more.join('\0');
  const cached = contexts.get(key);
  if (cached !== undefined) return cached;
  const context = createSecureContext({ ca: [...rootCertificates, ...more] });
  contexts.set(key, context);
  return context;
}

type Trusting = Pick<DispatcherOptions, 'caFile' | 'env'>;

/** All trusted certificates as PEM, several per text. Errors: ConfigError. */
export function trustedCertificates(options: Trusting): readonly string[] {
  return [...rootCertificates, ...furtherCertificates(options)];
}

function furtherCertificates({ caFile, env }: Trusting): string[] {
  const system = env['SSL_CERT_FILE'] || SYSTEM_FILES.find((file) => existsSync(file)) || '';
  const own = caFile === undefined ? '' : readCaFile(caFile);
  return [readIfThere(system), readIfThere(env['NODE_EXTRA_CA_CERTS'] ?? ''), own].filter(
    (text) => text !== '',
  );
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function readCaFile(file: string): string {
  try {
    const text = readFileSync(file, 'utf8');
    // Why here: later code ignores an invalid certificate silently.
    void new X509Certificate(text);
    return text;
  } catch (error) {
    throw new ConfigError('tls.caFile', `${file} (${messageOf(error)})`, 'allowed: a PEM file');
  }
}
