// Where a secret of the configuration file is (API.md 19.2): a variable of the environment, or a file. It is read when it is
// needed, so that a token that was exchanged on disk counts from the next request on.

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigError } from './error.ts';
import { SecretText } from './secret-text.ts';

export const secretSchema = z.union(
  [z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })],
  { error: 'expected {"env": "NAME"} or {"file": "path"}; a secret itself is not allowed here' },
);

export type SecretSource = z.output<typeof secretSchema>;

/**
 * The secret, without blanks around it.
 *
 * Errors: ConfigError where there is none; it names the variable or file, never what is in it.
 */
export function readSecretSource(
  source: SecretSource,
  env: Readonly<Record<string, string | undefined>> = process.env,
): SecretText {
  const text = 'env' in source ? env[source.env] : readText(source.file);
  if (text === undefined || text.trim() === '')
    throw new ConfigError(
      'env' in source ? source.env : source.file,
      'no secret',
      'env' in source ? 'set the variable' : 'allowed: a readable file that is not empty',
    );
  return new SecretText(text.trim());
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
