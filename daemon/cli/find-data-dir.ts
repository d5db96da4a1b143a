// Finds the index that a command reads by default: in the current folder or the nearest parent, as git finds its
// repository. Folders of other users are ignored.

import { statSync } from 'node:fs';
import path from 'node:path';

export const DATA_DIR = '.trawl';

/** The data directory for a folder; if none exists, the path that it would have. */
export function findDataDir(folder: string): string {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    const dataDir = path.join(at, DATA_DIR);
    if (isOwn(dataDir)) return dataDir;
    if (at === path.dirname(at)) return DATA_DIR;
  }
}

function isOwn(folder: string): boolean {
  const stat = statSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === (process.getuid?.() ?? stat.uid);
}
