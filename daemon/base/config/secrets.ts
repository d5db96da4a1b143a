// The instance secret: made at first need, kept in the data directory. A file that is cut off before it is whole, by a
// crash or a full disk, never has its name.

import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { readOwn, writeOwn } from '../own-file.ts';
import { syncPathNow } from '../synced.ts';

export const SECRET_FILE = 'secret';
const SECRET_SIZE = 32;

/**
 * The instance secret kept in the data directory, made (32 random bytes as hex, mode 0600) if it is missing, or empty
 * as earlier versions left it after a crash. Makes the data directory (mode 0700) too. The directory must be locked,
 * or nobody else know of it.
 *
 * Errors: those of the file system; one that is too short.
 */
export function openInstanceSecret(dataDir: string): Buffer {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = path.join(dataDir, SECRET_FILE);
  const text = readSecret(file) || makeSecret(dataDir, file);
  if (text.length < SECRET_SIZE) {
    throw new Error(
      `instance secret too short: ${file} has ${text.length} bytes of ${SECRET_SIZE}`,
    );
  }
  return Buffer.from(text);
}

/** "": there is none. */
function readSecret(file: string): string {
  try {
    return readOwn(file).toString().trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}

function makeSecret(dataDir: string, file: string): string {
  const text = randomBytes(SECRET_SIZE).toString('hex');
  const made = `${file}.new`;
  rmSync(made, { force: true });
  writeOwn(made, `${text}\n`, { flag: 'wx', mode: 0o600, flush: true });
  renameSync(made, file);
  syncPathNow(dataDir);
  return text;
}
