// Names files by the SHA-256 of their content, as `sha256sum` prints it.

import { createHash } from 'node:crypto';
import { closeSync, readSync } from 'node:fs';
import { openOwn } from './own-file.ts';

export const FILE_ID = /[0-9a-f]{64}/;

/** Digits of a shortened file id, for people and where space is short. */
export const SHORT_ID_SIZE = 16;

/**
 * The SHA-256 of a file as 64 hexadecimal digits.
 *
 * Errors: NoFileError; the file system's. Cost: reads the whole file on the calling thread, 0.8 s for a gigabyte in memory.
 */
export function hashFile(path: string): string {
  const hash = createHash('sha256');
  const chunk = Buffer.alloc(1 << 20);
  const file = openOwn(path);
  try {
    for (;;) {
      const size = readSync(file, chunk);
      if (size === 0) return hash.digest('hex');
      hash.update(chunk.subarray(0, size));
    }
  } finally {
    closeSync(file);
  }
}
