// Addresses of files and lines in the results.

import { belowBase } from '../data/base-path.ts';
import type { ResultFile, ResultLine } from './rows.ts';
import { useSearch } from './search-store.ts';

/**
 * Address of a file or line in this instance, below the base path. It includes the query, so that the file page can
 * step through the matches.
 */
export function addressOf(file: ResultFile, line?: Pick<ResultLine, 'number'>): string {
  const { displayed } = useSearch.getState();
  const parameters = new URLSearchParams();
  if (line !== undefined) parameters.set('highlightRange', String(line.number));
  if (displayed !== undefined) parameters.set('query', displayed.query);
  if (displayed?.isRegexEnabled === true) parameters.set('isRegexEnabled', 'true');
  if (displayed?.isCaseSensitivityEnabled === true)
    parameters.set('isCaseSensitivityEnabled', 'true');
  return `${belowBase(file.webUrl)}?${parameters.toString()}`;
}

/** `refs/heads/main` becomes `main`. */
export function shortRevision(revision: string): string {
  return revision.replace(/^refs\/(?:heads|tags)\//, '');
}

/** A file's name in the `preview` parameter: `repo@rev:path`. */
export function previewName({ repository, revisions, path }: ResultFile): string {
  return `${repository}${revisions[0] === undefined ? '' : `@${revisions[0]}`}:${path}`;
}
