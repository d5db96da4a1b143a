// Reads secrets from standard input, where process lists and histories do not show them.

import type { Readable } from 'node:stream';
import { UsageError } from './errors.ts';

const SIZE_MAX = 65_536;

/**
 * The content of standard input, without a line feed at its end.
 *
 * @param what  its name in messages
 *
 * Errors: UsageError if it is empty, or far too long.
 */
export async function readSecretInput(stdin: Readable, what: string): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of stdin) {
    const bytes = Buffer.from(part);
    size += bytes.length;
    if (size > SIZE_MAX)
      throw new UsageError(`standard input: no ${what} is ${SIZE_MAX} bytes long`);
    parts.push(bytes);
  }
  const text = Buffer.concat(parts)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  if (text === '') throw new UsageError(`standard input: expected a ${what}, found nothing`);
  return text;
}
