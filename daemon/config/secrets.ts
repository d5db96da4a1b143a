// The instance secret and what is kept of a key: only its HMAC-SHA256 under that secret. Keys themselves
// are forgotten as soon as they are hashed.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export interface HashedKey {
  /** The instance secret: key of the HMAC. */
  readonly secret: Buffer;
  /** HMAC-SHA256 of the key, 32 bytes. */
  readonly digest: Buffer;
}

const SECRET_FILE = 'secret';
const SECRET_SIZE = 32;

/** What to keep of `key`. */
export function hashKey(secret: Buffer, key: string): HashedKey {
  return { secret, digest: createHmac('sha256', secret).update(key).digest() };
}

/** Is `candidate` the key that was hashed? The time taken does not depend on where they differ. */
export function isSameKey(hashed: HashedKey, candidate: string): boolean {
  return timingSafeEqual(hashed.digest, hashKey(hashed.secret, candidate).digest);
}

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
