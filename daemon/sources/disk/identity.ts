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
    return { realPath, fileId: idOf(realPath) };
  } catch {
    return undefined;
  }
}

/** As `seeFolder`, in a third of the time. */
export function seeFolderId(path: string): string | undefined {
  try {
    return idOf(path);
  } catch {
    return undefined;
  }
}

function idOf(path: string): string {
  const { dev, ino, birthtimeNs } = statSync(path, { bigint: true });
  return `${dev}:${ino}:${birthtimeNs}`;
}
