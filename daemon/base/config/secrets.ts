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
 * secret is empty. The directory must be locked, or unknown to others. Errors: those of the file system; a secret that
 * is too short.
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

/** "": no secret. */
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
