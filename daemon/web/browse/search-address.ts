// Searches that the browse pages link to or send: in a folder, for a name in the repository, for one file.

import { quotePattern } from '../../engine/regex/quote.ts';
import { writtenPattern, writtenValue } from '../search/completion.ts';
import type { BrowseTarget } from './address.ts';

type Place = Pick<BrowseTarget, 'repo' | 'revision'>;
type Folder = Pick<BrowseTarget, 'repo' | 'revision' | 'path'>;

function searchFor(...terms: readonly string[]): string {
  return `/search?${new URLSearchParams({ query: terms.join(' ') }).toString()}`;
}

function inRepo({ repo, revision }: Place): string {
  const ofRepo = `repo:${writtenValue('repo', repo)}`;
  return revision === undefined ? ofRepo : `${ofRepo} rev:${writtenValue('rev', revision)}`;
}

/** Finds the file, and without case sensitivity also files whose names differ only by case. */
export function fileQuery(target: Folder): string {
  return `${inRepo(target)} file:${writtenPattern(`^${quotePattern(target.path)}$`)}`;
}

/** Finds the files directly in a folder. */
export function folderFilesQuery(target: Folder): string {
  const folder = target.path === '' ? '' : `${quotePattern(target.path)}/`;
  return `${inRepo(target)} file:${writtenPattern(`^${folder}[^/]+$`)}`;
}

/** All files below a folder, at its revision. */
export function folderSearch({ path, ...place }: Folder): string {
  return searchFor(
    inRepo(place),
    ...(path === '' ? [] : [`file:${writtenPattern(`^${quotePattern(path)}/`)}`]),
  );
}

/** All files of the repository whose path contains a name. */
export function nameSearch({ repo }: Place, name: string): string {
  return searchFor(
    inRepo({ repo, revision: undefined }),
    `file:${writtenPattern(quotePattern(name))}`,
  );
}
