// Queries for the files of a repository; results are cached.

import { useQuery } from '@tanstack/react-query';
import type { getFiles, getFolderContents } from '../../api/sources/tree-endpoints.ts';
import type { getRefs } from '../../api/sources/ref-endpoints.ts';
import type { getSource } from '../../api/sources/source-endpoints.ts';
import type { LineRange } from '../code/line-range.ts';
import { apiAddress, call, callPage, fetchApi } from '../data/api.ts';
import { BASE_PATH } from '../data/base-path.ts';
import type { BrowseTarget } from './address.ts';

type At = Pick<BrowseTarget, 'repo' | 'revision' | 'path'>;

/** @param endLine  last line to fetch; default: the last line of the file */
export function useSource({ repo, revision, path }: At, endLine?: number, isOn = true) {
  return useQuery({
    enabled: isOn,
    queryKey: ['source', repo, revision, path, endLine],
    queryFn: ({ signal }) =>
      call<typeof getSource>('/api/source', {
        query: { repo, path, ref: revision, endLine },
        signal,
      }),
  });
}

/** Some lines of a file. */
export function sourceLines({ repo, revision, path }: At, { from, to }: LineRange) {
  return {
    queryKey: ['lines', repo, revision, path, from, to],
    queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
      call<typeof getSource>('/api/source', {
        query: { repo, path, ref: revision, startLine: from, endLine: to },
        signal,
      }),
  };
}

/** The address of a file's raw bytes. */
export function rawAddress({ repo, revision, path }: At): string {
  return apiAddress(BASE_PATH, '/api/raw', { repo, path, ref: revision });
}

export interface RawFacts {
  readonly type: string;
  /** Bytes; undefined: the daemon did not say. */
  readonly size: number | undefined;
}

/** Type and size of a file, without its content. */
export function useRawFacts({ repo, revision, path }: At) {
  return useQuery({
    queryKey: ['raw', repo, revision, path],
    queryFn: async ({ signal }): Promise<RawFacts> => {
      const { headers } = await fetchApi('/api/raw', {
        method: 'HEAD',
        query: { repo, path, ref: revision },
        signal,
      });
      const size = Number(headers.get('content-length') ?? Number.NaN);
      return {
        type: headers.get('content-type')?.split(';')[0] ?? '',
        size: Number.isNaN(size) ? undefined : size,
      };
    },
  });
}

/** All files of a repository. */
export function useFiles(
  { repo, revision }: Pick<BrowseTarget, 'repo' | 'revision'>,
  { enabled = true } = {},
) {
  return useQuery({
    enabled,
    queryKey: ['files', repo, revision],
    queryFn: ({ signal }) =>
      call<typeof getFiles>('/api/files', {
        method: 'POST',
        body: { repoName: repo, revisionName: revision ?? 'HEAD' },
        signal,
      }),
  });
}

/** The children of a folder. */
export function folderQuery({ repo, revision, path }: At) {
  return {
    queryKey: ['folder', repo, revision, path],
    queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
      call<typeof getFolderContents>('/api/folder_contents', {
        query: { repoName: repo, revisionName: revision ?? 'HEAD', path: path === '' ? '/' : path },
        signal,
      }),
  };
}

export function useFolder(at: At, isOn = true) {
  return useQuery({ ...folderQuery(at), enabled: isOn });
}

/** Branches and tags whose names contain a text, the default branch first. */
export function useRefs(repo: string, text: string, isOn: boolean) {
  return useQuery({
    queryKey: ['refs', repo, text],
    queryFn: ({ signal }) =>
      callPage<typeof getRefs>('/api/refs', {
        query: { repo, query: text === '' ? undefined : text, perPage: 100 },
        signal,
      }),
    enabled: isOn,
  });
}
