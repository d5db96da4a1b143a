// The instance secret: created at first use, stored in the data directory. It is written atomically, so a crash or a full
// disk leaves no partial file.

import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { readOwn, writeOwn } from '../own-file.ts';
import { syncPathNow } from '../synced.ts';

export const SECRET_FILE = 'secret';
const SECRET_SIZE = 32;

/**
 * Reads the instance secret of the data directory. Creates both (modes 0600 and 0700) if they are missing, or the
 * secret is empty. The directory must be locked, or unknown to others. Errors: as `findInstanceSecret`.
 */
export function openInstanceSecret(dataDir: string): Buffer {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  return Buffer.from(findInstanceSecret(dataDir) || makeSecret(dataDir));
}

/** "": there is none yet. Errors: those of the file system; a secret that is too short, or that a power loss has zeroed. */
export function findInstanceSecret(dataDir: string): string {
  const file = path.join(dataDir, SECRET_FILE);
  const text = readSecret(file);
  const isZeroed = text.includes('\0');
  if (text === '' || (text.length >= SECRET_SIZE && !isZeroed)) return text;
  const fault = isZeroed ? 'has zero bytes' : `has ${text.length} bytes of ${SECRET_SIZE}`;
  throw new Error(
    `instance secret ${isZeroed ? 'damaged' : 'too short'}: ${file} ${fault}; restore it, ` +
      'or remove it: then all keys, tokens, sessions and links are void',
  );
}

/** "": no secret. */
function readSecret(file: string): string {
  try {
    return readOwn(file).toString().trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}

function makeSecret(dataDir: string): string {
  const file = path.join(dataDir, SECRET_FILE);
  const text = randomBytes(SECRET_SIZE).toString('hex');
  const made = `${file}.new`;
  rmSync(made, { force: true });
  writeOwn(made, `${text}\n`, { flag: 'wx', mode: 0o600, flush: true });
  renameSync(made, file);
  syncPathNow(dataDir);
  return text;
}
