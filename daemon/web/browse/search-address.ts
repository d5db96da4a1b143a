// Searches that a place leads to: what a folder holds, and a name in the whole repository.

import { quotePattern } from '../../engine/regex/quote.ts';
import { writtenPattern, writtenValue } from '../search/completion.ts';
import type { BrowseTarget } from './address.ts';

type At = Pick<BrowseTarget, 'repo' | 'path'>;

function searchFor(...terms: readonly string[]): string {
  return `/search?${new URLSearchParams({ query: terms.join(' ') }).toString()}`;
}

function ofRepo({ repo }: At): string {
  return `repo:${writtenValue('repo', repo)}`;
}

/** All files below a folder. */
export function folderSearch(at: At): string {
  if (at.path === '') return searchFor(ofRepo(at));
  return searchFor(ofRepo(at), `file:${writtenPattern(`^${quotePattern(at.path)}/`)}`);
}

/** Files of the repository whose path holds a name. */
export function nameSearch(at: At, name: string): string {
  return searchFor(ofRepo(at), `file:${writtenPattern(quotePattern(name))}`);
}
