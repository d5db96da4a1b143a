// Where the index is that a command reads if nobody says: in the current folder or in the nearest one above, as git looks for
// its own. What another user made does not count.

import { statSync } from 'node:fs';
import path from 'node:path';

export const DATA_DIR = '.trawl';

/** The data directory for a folder; if there is none, the one that the folder would have. */
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
