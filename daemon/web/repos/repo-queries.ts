// Queries for repositories.

import { useQuery } from '@tanstack/react-query';
import type { listRepos } from '../../api/sources/repo-endpoints.ts';
import type { listSkippedFiles } from '../../api/sources/skipped-endpoints.ts';
import { type AnswerOf, callPage, type Query } from '../data/api.ts';
import { POLLED, pollMs } from '../data/polling.ts';

export type Repo = AnswerOf<typeof listRepos>[number];

export const REPOS_PER_PAGE = 50;
export const SKIPPED_PER_PAGE = 20;

/** A page of the repositories that match the filter. */
export function useRepos(filter: Query, isOn = true) {
  return useQuery({
    queryKey: ['repos', filter],
    queryFn: ({ signal }) =>
      callPage<typeof listRepos>('/api/repos', {
        query: { ...filter, perPage: REPOS_PER_PAGE },
        signal,
      }),
    enabled: isOn,
    placeholderData: (before) => before,
    ...POLLED,
    refetchInterval: ({ state }) =>
      pollMs(state.data?.items.some((repo) => repo.state === 'indexing') === true),
  });
}

/** Files that are found by name only. */
export function useSkipped(repoId: number, reason: string | undefined, page: number) {
  return useQuery({
    queryKey: ['skipped', repoId, reason, page],
    queryFn: ({ signal }) =>
      callPage<typeof listSkippedFiles>(`/api/repos/${repoId}/skipped`, {
        query: { reason, page, perPage: SKIPPED_PER_PAGE },
        signal,
      }),
    placeholderData: (before) => before,
  });
}
