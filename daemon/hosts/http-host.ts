// Base of hosts with an HTTP API: transport, the connection's current secret, requests with both, and listings of targets.

import { messageOf } from '../base/caught.ts';
import type { Environment } from '../base/config/dispatcher.ts';
import { readSecretSource, type SecretSource } from '../base/config/secret-source.ts';
import type { SecretText } from '../base/config/secret-text.ts';
import type { Log } from '../base/log.ts';
import { AnonymousProbe } from './anonymous-probe.ts';
import { type GitCredential, HostError, type HostRepo, type ListingPage } from './host.ts';
import { PlainApi, type PlainApiOptions } from './plain-api.ts';
import { type Selection, selectionFilter } from './select.ts';
import { type Listed, listTargets, type Targets } from './targets.ts';
import { HostTransport, type TransportOptions } from './transport.ts';

/** Options of every kind of host besides its settings. */
export interface HostParts {
  readonly log: Log;
  /** Name of the connection. */
  readonly connection?: string;
  /** Variables with secrets and the addresses of proxies. */
  readonly env: Environment;
  /** For tests. */
  readonly limits?: NonNullable<TransportOptions['limits']>;
}

/** Common to connections of all types. */
interface HttpSettings {
  readonly url: string;
  readonly tls: { readonly caFile?: string | undefined };
  readonly token?: SecretSource | undefined;
  readonly user?: string | undefined;
}

/** A kind of host. */
interface HostKind {
  readonly apiUrl: string;
  /** User name for git. */
  readonly gitUser: string;
  readonly selection: Selection;
}

export abstract class HttpHost<Settings extends HttpSettings> {
  readonly nameHost: string;
  protected readonly settings: Settings;
  protected readonly parts: HostParts;
  protected readonly apiUrl: string;
  protected readonly transport: HostTransport;
  protected readonly isKept: (repo: HostRepo) => boolean;
  /** Undefined: public repositories are visible to all. */
  protected anonymous: AnonymousProbe | undefined;
  readonly #gitUser: string;

  /** Errors: ConfigError for invalid certificates or proxies. */
  constructor(settings: Settings, parts: HostParts, { apiUrl, gitUser, selection }: HostKind) {
    this.settings = settings;
    this.parts = parts;
    this.apiUrl = apiUrl;
    this.nameHost = new URL(settings.url).host;
    this.transport = this.openTransport(apiUrl);
    this.isKept = selectionFilter(selection);
    this.#gitUser = gitUser;
  }

  /** The targets that the connection names. */
  protected abstract targets(signal: AbortSignal): Targets | Promise<Targets>;

  async *list(signal: AbortSignal): AsyncIterable<ListingPage> {
    const anonymousProbe = this.anonymous?.restart();
    yield* listTargets({ anonymousProbe, ...(await this.targets(signal)) }, signal);
  }

  async gitCredential(
    _repo: Pick<HostRepo, 'path'>,
    _signal: AbortSignal,
  ): Promise<GitCredential | undefined> {
    const password = this.token();
    return password && { user: this.#gitUser, password };
  }

  get clockAheadMs(): number {
    return this.transport.clockAheadMs;
  }

  close(): Promise<void> {
    return this.transport.close();
  }

  protected openTransport(url: string): HostTransport {
    return new HostTransport({ ...this.parts, url, caFile: this.settings.tls.caFile });
  }

  /** The current token; undefined: the connection has none. Errors: HostError. */
  protected token(): SecretText | undefined {
    return secretNow(this.settings.token, this.parts.env);
  }

  protected api(signal: AbortSignal, more?: Partial<PlainApiOptions>): PlainApi {
    const fetch = this.transport.fetchUntil(signal);
    const token = (): SecretText | undefined => this.token();
    return new PlainApi({ url: this.apiUrl, user: this.settings.user, token, fetch, ...more });
  }

  /** A repository as an item of a listing. */
  protected listedAs(repo: HostRepo): Listed {
    return { hostId: repo.hostId, repo: this.isKept(repo) ? repo : undefined };
  }

  /** The repository, with the visibility that an anonymous request shows. */
  protected async probed(repo: HostRepo, signal: AbortSignal): Promise<HostRepo> {
    return this.anonymous?.of(repo, signal) ?? repo;
  }

  /** @param addressOf  as of AnonymousProbe */
  protected anonymousProbe(addressOf: (repo: HostRepo) => string): AnonymousProbe {
    return new AnonymousProbe({ ...this.parts, caFile: this.settings.tls.caFile }, addressOf);
  }
}

/** The current secret; undefined: the connection has none. Errors: HostError if the secret is missing. */
export function secretNow(
  source: SecretSource | undefined,
  env: Environment,
): SecretText | undefined {
  if (source === undefined) return undefined;
  try {
    return readSecretSource(source, env);
  } catch (error) {
    throw new HostError('NO_SECRET', messageOf(error));
  }
}
