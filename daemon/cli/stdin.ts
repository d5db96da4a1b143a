// Secrets from standard input, where neither process lists nor histories see them.

import type { Readable } from 'node:stream';
import { UsageError } from './errors.ts';

const SIZE_MAX = 65_536;

/**
 * Everything that standard input holds, without the line feed at its end.
 *
 * @param what  what it is, for messages
 *
 * Errors: UsageError if there is nothing, or far too much.
 */
export async function readSecretInput(stdin: Readable, what: string): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of stdin) {
    const bytes = Buffer.from(part);
    size += bytes.length;
    if (size > SIZE_MAX) throw new UsageError(`standard input: no ${what} has ${SIZE_MAX} bytes`);
    parts.push(bytes);
  }
  const text = Buffer.concat(parts)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  if (text === '') throw new UsageError(`standard input: expected a ${what}, found nothing`);
  return text;
}
