// An answer as a file to keep: the objects of the API as they are, or a table. Its name says whether it is all. Run in the
// worker.

import type { SearchResponse } from '../../api/search/search-schemas.ts';
import { fetchApi } from '../data/api.ts';
import { csvOf } from './csv.ts';
import { folderOf } from './folders.ts';
import type { DownloadRequest } from './messages.ts';

const NAME_LENGTH_MAX = 40;
const TYPES = { json: 'application/json', csv: 'text/csv;charset=utf-8' } as const;

/** What a file may be called after a query. */
function nameOf(query: string): string {
  const words = query.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return words.replaceAll(/^-+|-+$/g, '').slice(0, NAME_LENGTH_MAX) || 'results';
}

/** Whether that is all, in a word. */
export function endingOf({ isSearchExhaustive, incompleteReasons, stats }: SearchResponse): string {
  if (isSearchExhaustive) return 'all';
  const isCut = incompleteReasons?.includes('match_limit') === true;
  return isCut ? `first-${stats.actualMatchCount}` : 'incomplete';
}

function fits(selected: readonly string[], value: string): boolean {
  return selected.length === 0 || selected.includes(value);
}

/** Asks for the answer and makes the file. Errors: as `fetchApi`. */
export async function download(
  request: DownloadRequest,
): Promise<{ readonly name: string; readonly file: Blob }> {
  const { base, search, format, repositories, languages, folders, kinds } = request;
  const response = await fetchApi('/api/search', { base, method: 'POST', body: search });
  // Safety: the daemon's tests hold every answer to its schema.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const answer = (await response.json()) as SearchResponse;
  const files = answer.files.filter(
    ({ repository, language, fileName, fileKind = '' }) =>
      fits(repositories, repository) &&
      fits(languages, language) &&
      fits(folders, folderOf(fileName.text)) &&
      fits(kinds, fileKind),
  );
  const parts = format === 'csv' ? csvOf(files) : [JSON.stringify({ ...answer, files })];
  return {
    name: `trawl-${nameOf(search.query)}-${endingOf(answer)}.${format}`,
    file: new Blob(parts, { type: TYPES[format] }),
  };
}
