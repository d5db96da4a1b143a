// fsync: makes the bytes of a file, or the names in a folder, survive a power loss.

import { closeSync, fsyncSync, openSync } from 'node:fs';
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

/** As `syncPath`, blocking the event loop. */
export function syncPathNow(place: string): void {
  const handle = openSync(place, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
