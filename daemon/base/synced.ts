// fsync: makes the bytes of a file, or the names in a folder, survive a power loss.

import { closeSync, fsyncSync, openSync, promises } from 'node:fs';

/** Errors: those of the file system. */
export async function syncPath(location: string): Promise<void> {
  const handle = await promises.open(location, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** As `syncPath`, blocking the event loop. */
export function syncPathNow(location: string): void {
  const handle = openSync(location, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
