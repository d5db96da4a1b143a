// What the index knows of a file: whether its content is searched, and whether the indexed text is the one on display.
// Also which files of a folder are found by name only.

import { useQuery } from '@tanstack/react-query';
import type { search } from '../../api/search/search-endpoints.ts';
import { type AnswerOf, call } from '../data/api.ts';
import type { BrowseTarget } from './address.ts';
import { fileQuery, folderFilesQuery } from './search-address.ts';

export type IndexEntry =
  /** The repository is not indexed yet, or the index does not have the file. */
  | { readonly state: 'waiting' | 'absent' }
  | {
      readonly state: 'there';
      /** Undefined: the content is searched. */
      readonly skipReason: string | undefined;
      /** Git id of the content; undefined: unknown, as for files on disk. */
      readonly blobSha: string | undefined;
      /** Is it the entry of HEAD, whether that is a commit or the files on disk? */
      readonly isOfHead: boolean;
    };

function entryOf(answer: AnswerOf<typeof search>): IndexEntry | undefined {
  const { files, stats, isSearchExhaustive } = answer;
  const [file] = files;
  if (file !== undefined) {
    const { skipReason, blobSha, branches = [] } = file;
    return { state: 'there', skipReason, blobSha, isOfHead: branches.includes('HEAD') };
  }
  // An incomplete answer does not prove that the file is absent.
  if (!isSearchExhaustive) return undefined;
  return { state: stats.shardFilesConsidered === 0 ? 'waiting' : 'absent' };
}

/** A query to the index for one file or folder. */
function indexQuery<Found>(
  { revision }: BrowseTarget,
  query: string,
  matches: number,
  read: (answer: AnswerOf<typeof search>) => Found,
) {
  // Why: names may differ only by case.
  const body = { query, matches, isCaseSensitivityEnabled: true };
  return {
    queryKey: ['index-entry', body],
    queryFn: async ({ signal }: { readonly signal: AbortSignal }) => {
      const answer = await call<typeof search>('/api/search', {
        method: 'POST',
        body,
        signal,
        // Marks the search as not requested by the user.
        headers: { 'X-Service-Client-Source': 'web-preview' },
      });
      return read(answer);
    },
    // A query for another revision would index it on demand.
    enabled: revision === undefined || revision === 'HEAD',
    retry: false,
  };
}

/** Undefined: unknown. */
export function useIndexEntry(target: BrowseTarget): IndexEntry | undefined {
  const query = indexQuery(target, fileQuery(target), 1, (answer) => entryOf(answer) ?? null);
  return useQuery(query).data ?? undefined;
}

/** Files of a folder in one query. Longer lists are not displayed. */
const FOLDER_FILES_MAX = 10_000;

function skipReasonsOf({ files }: AnswerOf<typeof search>): ReadonlyMap<string, string> {
  return new Map(
    files.flatMap(({ fileName, skipReason }) =>
      skipReason === undefined ? [] : [[fileName.text, skipReason] as const],
    ),
  );
}

/** Why the content of files in a folder is not searched, by path. Undefined: unknown. */
export function useSkipReasons(target: BrowseTarget): ReadonlyMap<string, string> | undefined {
  return useQuery(indexQuery(target, folderFilesQuery(target), FOLDER_FILES_MAX, skipReasonsOf))
    .data;
}
