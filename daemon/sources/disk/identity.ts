// Identity of a source folder, to recognise it after a move: its file system identity and its real path. Does not read its
// content.

import { realpathSync, statSync } from 'node:fs';

interface FolderIdentity {
  /** Without symbolic links. */
  readonly realPath: string;
  /**
   * Device, inode number and birth time of the folder. Why the time: numbers are reused. On a file system without birth
   * times the id may change although the folder has not.
   */
  readonly fileId: string;
}

/** The folder at a path; undefined: there is none, or it is inaccessible. */
export function seeFolder(path: string): FolderIdentity | undefined {
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
