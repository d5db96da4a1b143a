// What is read of the history of a repository.

import { useQuery } from '@tanstack/react-query';
import type { getBlame } from '../../http/api/history/blame-endpoints.ts';
import type { getCommit } from '../../http/api/history/commit-endpoints.ts';
import type { getCommits } from '../../http/api/history/commit-list-endpoints.ts';
import type { getDiff } from '../../http/api/history/diff-endpoints.ts';
import { call, callPage } from '../data/api.ts';
import type { AnswerOf } from '../data/api.ts';
import { BASE_PATH } from '../data/place.ts';
import type { Place } from './address.ts';

export type Blame = AnswerOf<typeof getBlame>;
export type FileDiff = AnswerOf<typeof getDiff>['files'][number];

export const COMMITS_PER_PAGE = 50;

export interface CommitFilter {
  readonly author: string | undefined;
  readonly query: string | undefined;
  readonly since: string | undefined;
  readonly until: string | undefined;
  readonly page: number;
}

/** Commits that lead to a revision, of a file or folder, the newest first. */
export function useCommits({ repo, revision, path }: Place, filter: CommitFilter) {
  return useQuery({
    queryKey: ['commits', repo, revision, path, filter],
    queryFn: ({ signal }) =>
      callPage<typeof getCommits>('/api/commits', {
        base: BASE_PATH,
        query: {
          repo,
          ref: revision,
          path: path === '' ? undefined : path,
          ...filter,
          perPage: COMMITS_PER_PAGE,
        },
        signal,
      }),
    placeholderData: (before) => before,
  });
}

/** A commit, and how it differs from its first parent; of a root commit there is no difference to be had. */
export function useCommit(repo: string, ref: string) {
  const commit = useQuery({
    queryKey: ['commit', repo, ref],
    queryFn: ({ signal }) =>
      call<typeof getCommit>('/api/commit', { base: BASE_PATH, query: { repo, ref }, signal }),
  });
  const parent = commit.data?.parents[0];
  const diff = useQuery({
    queryKey: ['diff', repo, parent, ref],
    queryFn: ({ signal }) =>
      call<typeof getDiff>('/api/diff', {
        base: BASE_PATH,
        query: { repo, base: parent, head: ref },
        signal,
      }),
    enabled: parent !== undefined,
  });
  return { commit, diff };
}

/** @param isOn  nobody pays for blame that is not shown */
export function useBlame({ repo, revision, path }: Place, isOn: boolean) {
  return useQuery({
    queryKey: ['blame', repo, revision, path],
    queryFn: ({ signal }) =>
      call<typeof getBlame>('/api/blame', {
        base: BASE_PATH,
        query: { repo, path, ref: revision },
        signal,
      }),
    enabled: isOn,
  });
}
