// What every kind of host is opened with besides its settings, and its secret as it is now.

import { messageOf } from '../base/caught.ts';
import { readSecretSource, type SecretSource } from '../base/config/secret-source.ts';
import type { SecretText } from '../base/config/secret-text.ts';
import type { Log } from '../base/log.ts';
import { HostError } from './host.ts';
import type { TransportOptions } from './transport.ts';
import type { Environment } from '../base/config/way.ts';

export interface HostParts {
  readonly log: Log;
  /** Name of the connection. */
  readonly connection?: string;
  /** Where secrets and the addresses of proxies are. */
  readonly env: Environment;
  /** For tests. */
  readonly limits?: NonNullable<TransportOptions['limits']>;
}

/** Undefined: the connection has none. Errors: HostError, where the secret is not where the configuration says. */
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
