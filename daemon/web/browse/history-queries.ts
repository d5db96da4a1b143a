// React hooks that load commits, blame and diffs from the API, a page at a time.

import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { getBlame } from '../../api/history/blame-endpoints.ts';
import type { getCommit, getCommits } from '../../api/history/commit-endpoints.ts';
import type { getSource } from '../../api/sources/source-endpoints.ts';
import type { getDiff } from '../../api/history/diff-endpoints.ts';
import { type AnswerOf, call, callPage } from '../data/api.ts';
import type { BrowseTarget } from './address.ts';

export type Blame = AnswerOf<typeof getBlame>;
export type Commit = AnswerOf<typeof getCommit>;
export type FileDiff = AnswerOf<typeof getDiff>['files'][number];

/** The start of a commit's hash, for display. */
export const shortId = (hash: string): string => hash.slice(0, 7);

export const COMMITS_PER_PAGE = 50;

export interface CommitFilter {
  readonly author?: string | undefined;
  readonly query?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly page: number;
}

/** Only the latest commit. */
export const LAST: CommitFilter & { readonly perPage: number } = { page: 1, perPage: 1 };

/** Commits that lead to a revision, or those that changed a file or folder, newest first. */
export function useCommits(
  { repo, revision, path }: BrowseTarget,
  { perPage = COMMITS_PER_PAGE, ...filter }: CommitFilter & { readonly perPage?: number },
) {
  const place = ['commits', repo, revision, path];
  return useQuery({
    queryKey: [...place, filter, perPage],
    queryFn: ({ signal }) =>
      callPage<typeof getCommits>('/api/commits', {
        query: {
          repo,
          ref: revision,
          path: path === '' ? undefined : path,
          ...filter,
          perPage,
        },
        signal,
      }),
    // Those of another filter or page stay until the answer; those of another place would mislead.
    placeholderData: (before, query) =>
      place.every((part, index) => part === query?.queryKey[index]) ? before : undefined,
  });
}

export function useCommit(repo: string, ref: string) {
  return useQuery({
    queryKey: ['commit', repo, ref],
    queryFn: ({ signal }) =>
      call<typeof getCommit>('/api/commit', { query: { repo, ref }, signal }),
  });
}

/** Files in one page of a comparison. */
const FILES_PER_PAGE = 25;

interface DiffQuestion {
  readonly repo: string;
  readonly head: string;
  /** Undefined: the first parent, or an empty tree for a root commit. */
  readonly base: string | undefined;
  /** Undefined: all files. */
  readonly path: string | undefined;
  readonly ignoresSpace: boolean;
}

/** The differences, page by page. */
export function useDiff({ repo, head, base = `${head}^`, path, ignoresSpace }: DiffQuestion) {
  const query = useInfiniteQuery({
    queryKey: ['diff', repo, base, head, path, ignoresSpace],
    queryFn: ({ signal, pageParam: page }) =>
      callPage<typeof getDiff>('/api/diff', {
        query: {
          repo,
          base,
          head,
          path,
          ignoreWhitespace: ignoresSpace ? true : undefined,
          page,
          perPage: FILES_PER_PAGE,
        },
        signal,
      }),
    initialPageParam: 1,
    getNextPageParam: ({ total = 0 }, pages) =>
      pages.length * FILES_PER_PAGE < total ? pages.length + 1 : undefined,
  });
  const { data, error, hasNextPage, fetchNextPage, isFetching } = query;
  const files = useMemo(() => data?.pages.flatMap(({ items }) => items.files) ?? [], [data]);
  return { files, total: data?.pages[0]?.total, error, hasNextPage, fetchNextPage, isFetching };
}

/** @param isOn  false while blame is not on display: it is expensive */
export function useBlame({ repo, revision, path }: BrowseTarget, isOn: boolean) {
  return useQuery({
    queryKey: ['blame', repo, revision, path],
    queryFn: ({ signal }) =>
      call<typeof getBlame>('/api/blame', { query: { repo, path, ref: revision }, signal }),
    enabled: isOn,
  });
}

/**
 * The git id of the file in HEAD's commit. Undefined: unknown, or the file is not committed.
 *
 * @param isOn  false if the file on display comes from a commit anyway
 */
export function useCommittedId({ repo, path }: BrowseTarget, isOn: boolean) {
  return useQuery({
    queryKey: ['committed', repo, path],
    // Why not `HEAD`: it may stand for the files on disk.
    queryFn: async ({ signal }) => {
      const query = { repo, path, ref: 'HEAD~0', endLine: 1 };
      const { blobSha } = await call<typeof getSource>('/api/source', { query, signal });
      return blobSha ?? null;
    },
    enabled: isOn,
    retry: false,
  });
}
