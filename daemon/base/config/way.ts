// The way to a code host: which certificates count besides the usual ones, which proxy stands between, how long a connection
// may take. The same variables and files count as for git, so that listing and fetching go one way.

import { existsSync, readFileSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import { X509Certificate } from 'node:crypto';
import { LRUCache } from 'lru-cache';
// oxlint-disable-next-line import/no-unassigned-import -- for what it does
import '../own-fetch.ts';
import { Agent, EnvHttpProxyAgent, type Dispatcher } from 'undici';
import { messageOf } from '../caught.ts';
import { ConfigError } from './error.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface WayOptions {
  /** Of the host, as URLs have it. */
  readonly hostname: string;
  /** PEM; its certificates count besides those of the system and of Node.js. */
  readonly caFile: string | undefined;
  readonly env: Environment;
  readonly connectMs: number;
  /** Of headers, and between two pieces of a body. */
  readonly silenceMs: number;
  readonly connectionsMax: number;
}

/**
 * What opens connections for requests of a protocol, `http:` or `https:`. The caller closes it.
 *
 * Errors: ConfigError, where a file of certificates or the address of a proxy is of no use.
 */
export function openWay(protocol: string, options: WayOptions): Dispatcher {
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
    // As git does: the proxy gets requests without TLS whole, and many allow tunnels to port 443 alone.
    proxyTunnel: false,
  });
}

/** The same for one question. */
export function openBriefWay(
  { protocol, hostname }: URL,
  env: Environment,
  silenceMs: number,
): Dispatcher {
  const times = { connectMs: silenceMs, silenceMs };
  return openWay(protocol, { hostname, caFile: undefined, env, ...times, connectionsMax: 1 });
}

function proxyOf(protocol: string, env: Environment): string | undefined {
  const own = protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const names = [own, own.toUpperCase(), 'all_proxy', 'ALL_PROXY'];
  const name = names.find((name) => (env[name] ?? '') !== '');
  if (name === undefined) return undefined;
  const text = env[name]!;
  const address = /^[a-z0-9]+:\/\//i.test(text) ? text : `http://${text}`;
  const isUsable = URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
  // Its value may hold a password.
  if (!isUsable)
    throw new ConfigError(name, 'no address of a proxy', 'allowed: http(s)://host:port');
  return address;
}

/**
 * Whether a host is named by its address, which is in one of the ranges of NO_PROXY (`10.0.0.0/8`); undici knows names alone.
 */
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

/** Where systems keep the certificates that they trust, as one file; git reads it, too. */
const SYSTEM_FILES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/cert.pem',
];

/**
 * Measured: 2026-11-23: 38 ms each, in which nothing else is done; connections to one host share it, and most hosts.
 * Guess: authorities of one organization.
 */
const contexts = new LRUCache<string, SecureContext>({ max: 16 });

function readCertificates(options: WayOptions): SecureContext {
  const more = furtherCertificates(options);
  const key = more.join('\0');
  const known = contexts.get(key);
  if (known !== undefined) return known;
  const context = createSecureContext({ ca: [...rootCertificates, ...more] });
  contexts.set(key, context);
  return context;
}

type Trusting = Pick<WayOptions, 'caFile' | 'env'>;

/** All certificates that count, as PEM, several in a text. Errors: ConfigError. */
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
    // Why here: what is no certificate is passed over without a word later.
    checkCertificate(text);
    return text;
  } catch (error) {
    throw new ConfigError('tls.caFile', `${file} (${messageOf(error)})`, 'allowed: a PEM file');
  }
}

/** Errors: that of OpenSSL. */
function checkCertificate(text: string): X509Certificate {
  return new X509Certificate(text);
}
