// Searches that the browse pages link to: in a folder, and for a name in the repository.

import { quotePattern } from '../../engine/regex/quote.ts';
import { writtenPattern, writtenValue } from '../search/completion.ts';
import type { BrowseTarget } from './address.ts';

type At = Pick<BrowseTarget, 'repo' | 'path'>;
type Folder = At & Pick<BrowseTarget, 'revision'>;

function searchFor(...terms: readonly string[]): string {
  return `/search?${new URLSearchParams({ query: terms.join(' ') }).toString()}`;
}

function ofRepo({ repo }: At): string {
  return `repo:${writtenValue('repo', repo)}`;
}

/** All files below a folder, at its revision. */
export function folderSearch({ revision, ...at }: Folder): string {
  return searchFor(
    ofRepo(at),
    ...(revision === undefined ? [] : [`rev:${writtenValue('rev', revision)}`]),
    ...(at.path === '' ? [] : [`file:${writtenPattern(`^${quotePattern(at.path)}/`)}`]),
  );
}

/** All files of the repository whose path contains a name. */
export function nameSearch(at: At, name: string): string {
  return searchFor(ofRepo(at), `file:${writtenPattern(quotePattern(name))}`);
}
