// How many git repositories a plain folder holds: whoever names such a folder may have meant them. Looks two levels
// down (`folder/name`, `folder/owner/name`), and not at more than a person would have there.

import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

/** Bound on the folders that are looked at; an answer from there on says "at least". */
const LOOKED_MAX = 2000;

/** Counts those that are found. Errors: none: what cannot be read holds none. Cost: up to 4,000 looks at names. */
export function countReposInside(folder: string): number {
  let left = LOOKED_MAX;
  let count = 0;
  const look = (at: string, depth: number): void => {
    for (const name of foldersIn(at)) {
      if (left-- <= 0) return;
      const child = path.join(at, name);
      if (isRepo(child)) count++;
      else if (depth > 1) look(child, depth - 1);
    }
  };
  look(folder, 2);
  return count;
}

function foldersIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch {
    return [];
  }
}

/** By its names alone, as a source is told apart. */
function isRepo(folder: string): boolean {
  const has = (name: string): boolean => existsSync(path.join(folder, name));
  return has('.git') || (has('HEAD') && has('objects') && has('refs'));
}
