// Warns about git repositories inside a plain folder, which the user may have meant to name. Searches two levels
// (`folder/name`, `folder/owner/name`), follows no links, and is bounded by what a person might have.

import { type Dirent, existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

/** Bound for searched folders and links; beyond it the answer says "at least". */
const VISITED_MAX = 2000;

/**
 * The warning for jobs of the folder: a sentence, none without repositories.
 *
 * Errors: none: an unreadable folder counts as empty. Cost: up to 8,000 file name checks.
 */
export function warningsOfReposInside(folder: string): string[] {
  const { count, linkCount } = countReposInside(folder);
  if (count === 0) return [];
  const links = linkCount === 0 ? '' : ` (links are not followed; ${linkCount} lead to one)`;
  return [
    `${folder} is not a git repository but contains ${count}: their files become those of one folder${links}, ` +
      'without branches and history; to index each as a repository ' +
      (count === linkCount
        ? `name them all: "trawl serve ${folder}/*/"`
        : 'give --mode worktree once'),
  ];
}

function countReposInside(folder: string): { count: number; linkCount: number } {
  let remaining = VISITED_MAX;
  let [count, linkCount] = [0, 0];
  const walk = (at: string, depth: number): void => {
    for (const entry of entriesOf(at)) {
      const isLink = entry.isSymbolicLink();
      if (!isLink && !entry.isDirectory()) continue;
      if (remaining-- <= 0) return;
      const child = path.join(at, entry.name);
      if (isRepo(child)) {
        count++;
        if (isLink) linkCount++;
      } else if (depth > 1 && !isLink) walk(child, depth - 1);
    }
  };
  walk(folder, 2);
  return { count, linkCount };
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Checks only names, as when probing a source. */
function isRepo(folder: string): boolean {
  const has = (name: string): boolean => existsSync(path.join(folder, name));
  return has('.git') || (has('HEAD') && has('objects') && has('refs'));
}
