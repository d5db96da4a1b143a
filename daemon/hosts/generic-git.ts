// Any git repository at an http(s) or ssh address, as a host that lists only itself. It offers only git, so everything that
// is not in the address is unknown.

import { messageOf } from '../base/caught.ts';
import { displayValue } from '../base/config/address.ts';
import { omitUndefined } from '../base/omit-undefined.ts';
import type { SettingsOf } from '../base/config/connections.ts';
import { ConfigError } from '../base/config/error.ts';
import { repoNameFromUrl } from '../repos/repo-name.ts';
import { answerFailure, statusFailure } from './failures.ts';
import { type GitCredential, type Host, type HostRepo, type ListingPage } from './host.ts';
import { secretNow, type HostParts } from './http-host.ts';
import { basicOf } from './plain-api.ts';
import { remoteAddress } from './remote-address.ts';
import { HostTransport } from './transport.ts';

type Settings = SettingsOf<'git'>;

/** User name for a token without one: hosts require a name, and most accept any. */
const ANY_USER = 'git';

export class GenericGit implements Host {
  readonly codeHostType = 'genericGitHost';
  readonly nameHost: string;
  readonly #settings: Settings;
  readonly #parts: HostParts;
  /** Ssh carries only git. */
  readonly #transport: HostTransport | undefined;
  readonly #repo: HostRepo;

  /** Errors: ConfigError if the address is not a repository's, or certificates or proxies are invalid. */
  constructor(settings: Settings, parts: HostParts) {
    const url = new URL(settings.url);
    const name = repoNameFromUrl(settings.url.replace(/^(ssh:\/\/[^/]*):22\//i, '$1/'));
    // Git treats a backslash as part of a name, and would contact another host than we do.
    const isRead = /^(?:https?|ssh):$/.test(url.protocol) && !settings.url.includes('\\');
    if (!isRead || name === undefined)
      throw new ConfigError(
        'url',
        displayValue(settings.url),
        'allowed: http(s):// or ssh://, host and path',
      );
    const cloneUrl = cloneUrlOf(url);
    checkFetchable(cloneUrl, settings.url);
    this.#settings = settings;
    this.#parts = parts;
    this.nameHost = name.slice(0, name.indexOf('/'));
    const path = name.slice(this.nameHost.length + 1);
    this.#repo = {
      // Only the address identifies it.
      hostId: path,
      path,
      displayName: settings.name ?? path,
      ...omitUndefined({ name: settings.name }),
      cloneUrl,
      isFork: false,
      isArchived: false,
      visibility: 'unknown',
      topics: [],
    };
    if (url.protocol !== 'ssh:')
      this.#transport = new HostTransport({
        url: url.origin,
        caFile: settings.tls.caFile,
        ...parts,
      });
  }

  async *list(signal: AbortSignal): AsyncIterable<ListingPage> {
    signal.throwIfAborted();
    yield { repos: [this.#repo], issues: [] };
  }

  async gitCredential(): Promise<GitCredential | undefined> {
    const password = secretNow(this.#settings.token, this.#parts.env);
    if (password === undefined) return undefined;
    const userOfUrl = decoded(new URL(this.#settings.url).username);
    return { user: this.#settings.user ?? (userOfUrl || ANY_USER), password };
  }

  async probe(signal: AbortSignal): Promise<string> {
    const transport = this.#transport;
    if (transport === undefined) return 'git over ssh, which is asked when it is fetched';
    const url = new URL(`${this.#repo.cloneUrl}/info/refs`);
    const question = { host: transport.host, what: `GET ${url.pathname}` };
    url.searchParams.set('service', 'git-upload-pack');
    const response = await transport.fetchUntil(signal)(url, { headers: await this.#headers() });
    if (!response.ok) throw statusFailure(response.status, '', question);
    const type = response.headers.get('content-type') ?? '';
    if (type === 'application/x-git-upload-pack-advertisement') return 'git over http';
    throw answerFailure(`content type ${type}`, question);
  }

  /** With version 2 the host does not list all refs. */
  async #headers(): Promise<Record<string, string>> {
    const credential = await this.gitCredential();
    const version = { 'git-protocol': 'version=2' };
    if (credential === undefined) return version;
    return { ...version, authorization: basicOf(credential.user, credential.password) };
  }

  get clockAheadMs(): number {
    return this.#transport?.clockAheadMs ?? 0;
  }

  async close(): Promise<void> {
    await this.#transport?.close();
  }
}

/** Errors: ConfigError if git may not fetch from the address. */
function checkFetchable(cloneUrl: string, configured: string): void {
  try {
    remoteAddress(cloneUrl);
  } catch (error) {
    throw new ConfigError('url', displayValue(configured), messageOf(error));
  }
}

/** For ssh the name is part of the address, for http of the credential. */
function cloneUrlOf(url: URL): string {
  const clone = new URL(url);
  clone.hash = '';
  clone.search = '';
  clone.password = '';
  if (url.protocol !== 'ssh:') clone.username = '';
  return clone.href.replace(/\/+$/, '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
