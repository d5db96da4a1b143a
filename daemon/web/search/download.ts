// Creates a file from an answer: the API's JSON, or a table. The file name says whether it is complete. Runs in the
// worker.

import type { SearchResponse } from '../../api/search/search-schemas.ts';
import { fetchApi } from '../data/api.ts';
import { csvOf } from './csv.ts';
import { folderOf } from './folders.ts';
import type { DownloadRequest } from './messages.ts';

const NAME_LENGTH_MAX = 40;
const TYPES = { json: 'application/json', csv: 'text/csv;charset=utf-8' } as const;

/** A file name derived from the query. */
function nameOf(query: string): string {
  const words = query.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return words.replaceAll(/^-+|-+$/g, '').slice(0, NAME_LENGTH_MAX) || 'results';
}

/** One word that says whether the answer is complete. */
export function endingOf({ isSearchExhaustive, incompleteReasons, stats }: SearchResponse): string {
  if (isSearchExhaustive) return 'all';
  const isCut = incompleteReasons?.includes('match_limit') === true;
  return isCut ? `first-${stats.actualMatchCount}` : 'incomplete';
}

function fits(selected: readonly string[], value: string): boolean {
  return selected.length === 0 || selected.includes(value);
}

/** Searches and creates the file. Errors: as `fetchApi`. */
export async function download(
  request: DownloadRequest,
): Promise<{ readonly name: string; readonly file: Blob }> {
  const { base, search, format, repositories, languages, folders, kinds } = request;
  const response = await fetchApi('/api/search', { base, method: 'POST', body: search });
  // Safety: the daemon's tests check every answer against its schema.
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
