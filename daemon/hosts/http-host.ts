// Base of hosts with an HTTP API: transport, the connection's current secret, and requests with both.

import type { SecretSource } from '../base/config/secret-source.ts';
import type { SecretText } from '../base/config/secret-text.ts';
import { AnonymousProbe } from './anonymous-probe.ts';
import type { GitCredential, HostRepo } from './host.ts';
import { secretNow, type HostParts } from './parts.ts';
import { PlainApi } from './plain-api.ts';
import { HostTransport } from './transport.ts';

/** Common to connections of all types. */
interface HttpSettings {
  readonly url: string;
  readonly tls: { readonly caFile?: string | undefined };
  readonly token?: SecretSource | undefined;
  readonly user?: string | undefined;
}

export abstract class HttpHost<Settings extends HttpSettings> {
  readonly nameHost: string;
  protected readonly settings: Settings;
  protected readonly parts: HostParts;
  protected readonly apiUrl: string;
  protected readonly transport: HostTransport;

  /** Errors: ConfigError for invalid certificates or proxies. */
  constructor(settings: Settings, parts: HostParts, apiUrl = settings.url) {
    this.settings = settings;
    this.parts = parts;
    this.apiUrl = apiUrl;
    this.nameHost = new URL(settings.url).host;
    this.transport = this.openTransport(apiUrl);
  }

  close(): Promise<void> {
    return this.transport.close();
  }

  protected openTransport(url: string): HostTransport {
    return new HostTransport({ ...this.parts, url, caFile: this.settings.tls.caFile });
  }

  /** The current one; undefined: the connection has none. Errors: HostError. */
  protected token(): SecretText | undefined {
    return secretNow(this.settings.token, this.parts.env);
  }

  protected credential(user: string): GitCredential | undefined {
    const password = this.token();
    return password === undefined ? undefined : { user, password };
  }

  /** @param prefix  text before the JSON of each answer */
  protected api(signal: AbortSignal, prefix?: string): PlainApi {
    return new PlainApi({
      url: this.apiUrl,
      user: this.settings.user,
      token: () => this.token(),
      fetch: this.transport.fetchUntil(signal),
      prefix,
    });
  }

  /** @param addressOf  as of AnonymousProbe */
  protected anonymousProbe(addressOf: (repo: HostRepo) => string): AnonymousProbe {
    return new AnonymousProbe({ ...this.parts, caFile: this.settings.tls.caFile }, addressOf);
  }
}
