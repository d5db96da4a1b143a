// Folders that results can be narrowed to: the two uppermost ones of a path. A file that has fewer above it is in `src/` or in
// '', the top of its repository. Pure.

import { quotePattern } from '../../engine/regex/quote.ts';

const DEPTH = 2;

/** The folder of a path, with its slash at the end; '': the top. */
export function folderOf(path: string): string {
  return path
    .split('/')
    .slice(0, -1)
    .slice(0, DEPTH)
    .map((name) => `${name}/`)
    .join('');
}

/** A pattern for the paths of files in a folder. */
export function folderPattern(folder: string): string {
  const isDeep = folder.split('/').length > DEPTH;
  return `^${quotePattern(folder)}${isDeep ? '' : '[^/]*$'}`;
}
