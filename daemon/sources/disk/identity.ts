// By what a source is known again when it lies elsewhere: the folder as the file system knows it, and its path without
// symbolic links. Reads nothing of what is in the folder.

import { realpathSync, statSync } from 'node:fs';

interface SeenFolder {
  /** Without symbolic links. */
  readonly realPath: string;
  /**
   * Device, number and time of birth of the folder. Why the time: numbers are given again to new folders. Where a file
   * system knows no such time, the folder may come to have another id without having changed.
   */
  readonly fileId: string;
}

/** The folder at a path; undefined: there is none, or it cannot be looked at. */
export function seeFolder(path: string): SeenFolder | undefined {
  try {
    const realPath = realpathSync.native(path);
    const { dev, ino, birthtimeNs } = statSync(realPath, { bigint: true });
    return { realPath, fileId: `${dev}:${ino}:${birthtimeNs}` };
  } catch {
    return undefined;
  }
}
