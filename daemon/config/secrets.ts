// The instance secret: made at first need, kept in the data directory.

import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const SECRET_FILE = 'secret';
const SECRET_SIZE = 32;

/**
 * The instance secret kept in the data directory, made (32 random bytes as hex, mode 0600) if missing.
 * Makes the data directory (mode 0700) too.
 */
export function openInstanceSecret(dataDir: string): Buffer {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = path.join(dataDir, SECRET_FILE);
  try {
    writeFileSync(file, `${randomBytes(SECRET_SIZE).toString('hex')}\n`, {
      flag: 'wx',
      mode: 0o600,
    });
  } catch (error) {
    if (!isFileExists(error)) throw error;
  }
  const text = readFileSync(file, 'utf8').trim();
  if (text.length < SECRET_SIZE) {
    throw new Error(
      `instance secret too short: ${file} has ${text.length} bytes of ${SECRET_SIZE}`,
    );
  }
  return Buffer.from(text);
}

function isFileExists(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST';
}
