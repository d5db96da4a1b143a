// Replaces a file atomically: written to a temporary name, synced, renamed.

import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { atPath, systemCodeOf } from '../../base/caught.ts';
import { syncPath } from '../../base/synced.ts';

/** @param whenWritten  called when the new file is synced, before the rename */
export async function replaceFile(
  file: string,
  content: string | Uint8Array,
  whenWritten?: () => Promise<void>,
): Promise<void> {
  const next = `${file}.next`;
  try {
    const handle = await open(next, 'w', 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await whenWritten?.();
    await putAt(next, file);
  } catch (error) {
    await rm(next, { force: true }).catch(() => {});
    throw atPath(error, file);
  }
}

/** Renames a finished file, replacing an existing one. */
export async function putAt(file: string, location: string): Promise<void> {
  await rename(file, location).catch(async (error: unknown) => {
    if (systemCodeOf(error) !== 'EISDIR') throw error;
    // A folder with the name of our file is damage.
    await rm(location, { recursive: true });
    await rename(file, location);
  });
  await syncPath(path.dirname(location));
}
