// What is read of a repository, asked once and kept while it may be looked at again.

import { useQuery } from '@tanstack/react-query';
import type { getFolderContents } from '../../http/api/sources/folder-endpoints.ts';
import type { getRefs } from '../../http/api/sources/ref-endpoints.ts';
import type { getSource } from '../../http/api/sources/source-endpoints.ts';
import { call, callPage } from '../data/api.ts';
import { BASE_PATH } from '../data/place.ts';
import type { Place } from './address.ts';

type At = Pick<Place, 'repo' | 'revision' | 'path'>;

export function useSource({ repo, revision, path }: At) {
  return useQuery({
    queryKey: ['source', repo, revision, path],
    queryFn: ({ signal }) =>
      call<typeof getSource>('/api/source', {
        base: BASE_PATH,
        query: { repo, path, ref: revision },
        signal,
      }),
  });
}

export function useFolder({ repo, revision, path }: At, isOn = true) {
  return useQuery({
    queryKey: ['folder', repo, revision, path],
    queryFn: ({ signal }) =>
      call<typeof getFolderContents>('/api/folder_contents', {
        base: BASE_PATH,
        query: { repoName: repo, revisionName: revision ?? 'HEAD', path: path === '' ? '/' : path },
        signal,
      }),
    enabled: isOn,
  });
}

/** Branches and tags whose names hold a text, the default branch first. */
export function useRefs(repo: string, wanted: string, isOn: boolean) {
  return useQuery({
    queryKey: ['refs', repo, wanted],
    queryFn: ({ signal }) =>
      callPage<typeof getRefs>('/api/refs', {
        base: BASE_PATH,
        query: { repo, query: wanted === '' ? undefined : wanted, perPage: 100 },
        signal,
      }),
    enabled: isOn,
  });
}
