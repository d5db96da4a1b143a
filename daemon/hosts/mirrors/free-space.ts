// Keeps a fetch from filling the disk: the size of a repository is known only after the fetch.

import { statfs } from 'node:fs/promises';
import { DISK_FULL_REMEDY } from '../../base/caught.ts';
import { MirrorError } from './mirror-error.ts';

/** Reserved for others: store and index must keep working. Bytes, and a share of small disks. */
const RESERVE_SIZE = 1 << 30;
const RESERVE_SHARE = 0.05;

/** Errors: MirrorError if less than the reserve would remain; the file system's. @param size  bytes about to be written */
export async function checkSpace(folder: string, size = 0): Promise<void> {
  const { bavail, blocks, bsize } = await statfs(folder);
  const reserve = Math.round(Math.min(RESERVE_SIZE, blocks * bsize * RESERVE_SHARE));
  if (bavail * bsize >= reserve + size) return;
  const needed = size === 0 ? '' : `, ${size} are needed`;
  throw new MirrorError(
    'DISK_FULL',
    `${folder}: ${bavail * bsize} bytes are free${needed}, and ${reserve} must stay free; select fewer repositories, or ${DISK_FULL_REMEDY}`,
  );
}

/** Checks the space repeatedly during a write. Does not keep the event loop alive. @returns  ends the checks */
export function watchSpace(folder: string, onShortage: (error: MirrorError) => void): () => void {
  let isChecking = false;
  const check = async (): Promise<void> => {
    if (isChecking) return;
    isChecking = true;
    try {
      await checkSpace(folder);
    } catch (error) {
      if (error instanceof MirrorError) onShortage(error);
    } finally {
      isChecking = false;
    }
  };
  const timer = setInterval(() => void check(), 250).unref();
  return () => clearInterval(timer);
}
