// What the index has of a file that one looks at: whether searches find its content, and whether they find this very content;
// and which files of a folder they find by their names alone.

import { useQuery } from '@tanstack/react-query';
import type { search } from '../../api/search/search-endpoints.ts';
import { call } from '../data/api.ts';
import type { AnswerOf } from '../data/api.ts';
import type { BrowseTarget } from './address.ts';
import { fileQuery, folderFilesQuery } from './matches.ts';

export type IndexEntry =
  /** Its repository is not searched yet, or the index has no such file. */
  | { readonly state: 'waiting' | 'absent' }
  | {
      readonly state: 'there';
      /** Undefined: its content is searched. */
      readonly skipReason: string | undefined;
      /** Git id of its content; undefined: not said, as of files on disk. */
      readonly blobSha: string | undefined;
      /** Is it of what HEAD is, be that a commit or the files on disk? */
      readonly isOfHead: boolean;
    };

function entryOf(answer: AnswerOf<typeof search>): IndexEntry | undefined {
  const { files, stats, isSearchExhaustive } = answer;
  const [file] = files;
  if (file !== undefined) {
    const { skipReason, blobSha, branches = [] } = file;
    return { state: 'there', skipReason, blobSha, isOfHead: branches.includes('HEAD') };
  }
  // What a part out of service holds is not absent.
  if (!isSearchExhaustive) return undefined;
  return { state: stats.shardFilesConsidered === 0 ? 'waiting' : 'absent' };
}

/** Other revisions may not be indexed, and a question would have them be. */
function isIndexed(revision: string | undefined): boolean {
  return revision === undefined || revision === 'HEAD' || revision.startsWith('refs/');
}

/** What a query finds in the index of a place. */
function indexQuery<Found>(
  { revision }: BrowseTarget,
  query: string,
  matches: number,
  read: (answer: AnswerOf<typeof search>) => Found,
) {
  // Why so: names may differ by case alone.
  const body = { query, matches, isCaseSensitivityEnabled: true };
  return {
    queryKey: ['index-entry', body],
    queryFn: async ({ signal }: { readonly signal: AbortSignal }) => {
      const answer = await call<typeof search>('/api/search', {
        method: 'POST',
        body,
        signal,
        // Nobody has asked for this search.
        headers: { 'X-Service-Client-Source': 'web-preview' },
      });
      return read(answer);
    },
    enabled: isIndexed(revision),
    retry: false,
  };
}

/** Undefined: not known. */
export function useIndexEntry(target: BrowseTarget): IndexEntry | undefined {
  const query = indexQuery(target, fileQuery(target), 1, (answer) => entryOf(answer) ?? null);
  return useQuery(query).data ?? undefined;
}

/** Files of a folder that are looked at, at most: more are not shown in one list. */
const FOLDER_FILES_MAX = 10_000;

function skipReasonsOf({ files }: AnswerOf<typeof search>): ReadonlyMap<string, string> {
  return new Map(
    files.flatMap(({ fileName, skipReason }) =>
      skipReason === undefined ? [] : [[fileName.text, skipReason] as const],
    ),
  );
}

/** Why the content of files of a folder is not searched, by path. Undefined: not known. */
export function useSkipReasons(target: BrowseTarget): ReadonlyMap<string, string> | undefined {
  return useQuery(indexQuery(target, folderFilesQuery(target), FOLDER_FILES_MAX, skipReasonsOf))
    .data;
}
