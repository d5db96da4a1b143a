// Options of every kind of host besides its settings, and its current secret.

import { messageOf } from '../base/caught.ts';
import { readSecretSource, type SecretSource } from '../base/config/secret-source.ts';
import type { SecretText } from '../base/config/secret-text.ts';
import type { Log } from '../base/log.ts';
import { HostError } from './host.ts';
import type { TransportOptions } from './transport.ts';
import type { Environment } from '../base/config/dispatcher.ts';

export interface HostParts {
  readonly log: Log;
  /** Name of the connection. */
  readonly connection?: string;
  /** Variables with secrets and the addresses of proxies. */
  readonly env: Environment;
  /** For tests. */
  readonly limits?: NonNullable<TransportOptions['limits']>;
}

/** Undefined: the connection has none. Errors: HostError if the secret is missing. */
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
