// Folders by which results can be filtered: the first two levels of a path. A file above that level belongs to `src/`
// or to '', the root of its repository. Pure.

import { quotePattern } from '../../engine/regex/quote.ts';

const DEPTH = 2;

/** The folder of a path with a final slash; '': the root. */
export function folderOf(path: string): string {
  return path
    .split('/')
    .slice(0, -1)
    .slice(0, DEPTH)
    .map((name) => `${name}/`)
    .join('');
}

/** A pattern for the paths of the files in a folder. */
export function folderPattern(folder: string): string {
  const isDeep = folder.split('/').length > DEPTH;
  return `^${quotePattern(folder)}${isDeep ? '' : '[^/]*$'}`;
}
