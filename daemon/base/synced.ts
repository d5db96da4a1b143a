// Keeps through a power loss what was written: the bytes of a file, or the names in a folder.

import { open } from 'node:fs/promises';

/** Errors: those of the file system. */
export async function syncPath(place: string): Promise<void> {
  const handle = await open(place, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
