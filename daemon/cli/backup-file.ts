// Writes a backup to a temporary file beside its own, synced, then renamed. A failure leaves an old file unchanged.

import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { syncPath } from '../base/synced.ts';
import { messageOf } from '../base/caught.ts';
import { UsageError } from './errors.ts';

/** Errors: UsageError if the file cannot be written; the errors of `parts`. */
export async function writeBackupFile(
  file: string,
  parts: AsyncIterable<Uint8Array>,
): Promise<{ readonly size: number }> {
  const partial = `${file}.${randomBytes(4).toString('hex')}.partial`;
  const handle = await open(partial, 'wx', 0o600).catch((error: unknown) => {
    throw new UsageError(`cannot write ${file}: ${messageOf(error)}`, { cause: error });
  });
  let size = 0;
  try {
    for await (const part of parts) {
      size += part.length;
      await handle.writeFile(part);
    }
    await handle.sync();
    await handle.close();
    await rename(partial, file);
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(partial, { force: true });
    throw error;
  }
  await syncPath(path.dirname(path.resolve(file)));
  return { size };
}
