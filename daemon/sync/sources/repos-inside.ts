// Git repositories that a plain folder holds, itself or as links: whoever names such a folder may have meant them. Looks two
// levels down (`folder/name`, `folder/owner/name`), below links not at all, and not at more than a person would have there.

import { type Dirent, existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

/** Bound on the folders and links that are looked at; an answer from there on says "at least". */
const LOOKED_MAX = 2000;

/**
 * What a job of the folder warns of: a sentence, none if there are no repositories.
 *
 * Errors: none: what cannot be read holds none. Cost: up to 8,000 looks at names.
 */
export function warningsOfReposInside(folder: string): string[] {
  const { count, linkCount } = countReposInside(folder);
  if (count === 0) return [];
  const links =
    linkCount === 0 ? '' : ` (links are not followed, of which ${linkCount} lead to one)`;
  return [
    `${folder} is no git repository but holds ${count}: their files become those of one folder${links}, ` +
      'without branches and history; to have each as a repository ' +
      (count === linkCount
        ? `name them all: "trawl serve ${folder}/*/"`
        : 'give --mode worktree once'),
  ];
}

function countReposInside(folder: string): { count: number; linkCount: number } {
  let left = LOOKED_MAX;
  let [count, linkCount] = [0, 0];
  const look = (at: string, depth: number): void => {
    for (const entry of entriesOf(at)) {
      const isLink = entry.isSymbolicLink();
      if (!isLink && !entry.isDirectory()) continue;
      if (left-- <= 0) return;
      const child = path.join(at, entry.name);
      if (isRepo(child)) {
        count++;
        if (isLink) linkCount++;
      } else if (depth > 1 && !isLink) look(child, depth - 1);
    }
  };
  look(folder, 2);
  return { count, linkCount };
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** By its names alone, as a source is told apart. */
function isRepo(folder: string): boolean {
  const has = (name: string): boolean => existsSync(path.join(folder, name));
  return has('.git') || (has('HEAD') && has('objects') && has('refs'));
}
