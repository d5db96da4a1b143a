// What the index has of a file that one looks at: whether searches find its content, and whether they find this very content.

import { useQuery } from '@tanstack/react-query';
import type { search } from '../../http/api/search/search-endpoints.ts';
import { call } from '../data/api.ts';
import type { AnswerOf } from '../data/api.ts';
import type { Place } from './address.ts';
import { fileQuery } from './matches.ts';

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

/** Undefined: not known. */
export function useIndexEntry(place: Place): IndexEntry | undefined {
  // Why so: names may differ by case alone.
  const body = { query: fileQuery(place), matches: 1, isCaseSensitivityEnabled: true };
  const { data } = useQuery({
    queryKey: ['index-entry', body],
    queryFn: async ({ signal }) => {
      const answer = await call<typeof search>('/api/search', {
        method: 'POST',
        body,
        signal,
        // Nobody has asked for this search.
        headers: { 'X-Service-Client-Source': 'web-preview' },
      });
      return entryOf(answer) ?? null;
    },
    enabled: isIndexed(place.revision),
    retry: false,
  });
  return data ?? undefined;
}
