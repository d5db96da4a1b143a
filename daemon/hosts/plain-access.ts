// Base of hosts without a client library: transport, the connection's secret, and requests with both.

import type { SecretSource } from '../base/config/secret-source.ts';
import type { SecretText } from '../base/config/secret-text.ts';
import { secretNow, type HostParts } from './parts.ts';
import { PlainApi, type PlainApiOptions } from './plain-api.ts';
import { HostTransport } from './transport.ts';

/** Common to connections of all types. */
interface Settings {
  readonly tls: { readonly caFile?: string | undefined };
  readonly token?: SecretSource | undefined;
  readonly user?: string | undefined;
}

export class PlainAccess {
  readonly #settings: Settings;
  readonly #parts: HostParts;
  readonly #options: Pick<PlainApiOptions, 'url' | 'prefix'>;
  readonly #transport: HostTransport;

  /** Errors: ConfigError for invalid certificates or proxies. */
  constructor(
    settings: Settings,
    parts: HostParts,
    options: Pick<PlainApiOptions, 'url' | 'prefix'>,
  ) {
    this.#settings = settings;
    this.#parts = parts;
    this.#options = options;
    const { caFile } = settings.tls;
    this.#transport = new HostTransport({ url: options.url, caFile, ...parts });
  }

  /** The current one; undefined: the connection has none. Errors: HostError. */
  token(): SecretText | undefined {
    return secretNow(this.#settings.token, this.#parts.env);
  }

  api(signal: AbortSignal): PlainApi {
    return new PlainApi({
      ...this.#options,
      user: this.#settings.user,
      token: () => this.token(),
      fetch: this.#transport.fetchUntil(signal),
    });
  }

  close(): Promise<void> {
    return this.#transport.close();
  }
}
