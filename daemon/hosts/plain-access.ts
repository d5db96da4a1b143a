// What hosts without a client library begin with: the way to them, the secret of the connection, and requests with both.

import type { SecretSource } from '../base/config/secret-source.ts';
import type { SecretText } from '../base/config/secret-text.ts';
import { secretNow, type HostParts } from './parts.ts';
import { PlainApi, type PlainApiOptions } from './plain-api.ts';
import { HostTransport } from './transport.ts';

/** Of a connection, whatever its type. */
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

  /** Errors: ConfigError, where certificates or proxy are of no use. */
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

  /** As it is now; undefined: the connection has none. Errors: HostError. */
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
