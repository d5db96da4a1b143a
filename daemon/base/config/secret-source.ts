// Reads a secret of the configuration file from an environment variable or a file (API.md 19.2). It is read at each use, so
// a token replaced on disk counts from the next request on.

import { statSync } from 'node:fs';
import { z } from 'zod';
import { readOwn } from '../own-file.ts';
import { TOKEN_START } from './address.ts';
import { ConfigError } from './error.ts';
import { SecretText } from './secret-text.ts';

/** Bound: keys and tokens are far smaller, certificate lists somewhat. */
const SECRET_SIZE_MAX = 4 * 1024 * 1024;

const VARIABLE = 'expected the name of a variable that holds the secret';
const FILE = 'expected the path of a file that holds the secret';

export const secretSchema = z.union(
  [
    z.strictObject({
      env: z
        .string()
        .regex(/^[A-Za-z_]\w*$/, { error: VARIABLE })
        .refine((name) => !TOKEN_START.test(name), { error: VARIABLE })
        .describe('Name of the variable that holds it.'),
    }),
    z.strictObject({
      file: z
        .string()
        .min(1)
        .refine((name) => !TOKEN_START.test(name), { error: FILE })
        .describe('Path of the file that holds it; blanks around it do not count.'),
    }),
  ],
  {
    error:
      'expected {"env": "NAME"} or {"file": "path"}, the name of a variable or file that holds the secret; ' +
      'a secret itself is not allowed here',
  },
);

export type SecretSource = z.output<typeof secretSchema>;

/** The secret, trimmed. Errors: ConfigError if it is missing; it names the variable or file, never its content. */
export function readSecretSource(
  source: SecretSource,
  env: Readonly<Record<string, string | undefined>> = process.env,
): SecretText {
  // Every object has a member `constructor`, which is also a valid name of a variable.
  const variables = new Map(Object.entries(env));
  const text = 'env' in source ? variables.get(source.env) : readText(source.file);
  if (text === undefined || text.trim() === '')
    throw new ConfigError(
      'env' in source ? source.env : source.file,
      'no secret',
      'env' in source ? 'set the variable' : 'allowed: a readable file that is not empty',
    );
  return new SecretText(text.trim());
}

/** Undefined: no readable file. Why regular files only: a pipe would block all requests. */
function readText(file: string): string | undefined {
  try {
    const { size } = statSync(file);
    return size > SECRET_SIZE_MAX ? undefined : readOwn(file).toString('utf8');
  } catch {
    return undefined;
  }
}
