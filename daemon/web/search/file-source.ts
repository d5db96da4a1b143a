// The text of a file in the results, for lines that the answer does not contain.

import { queryOptions, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { getSource } from '../../api/sources/source-endpoints.ts';
import { call } from '../data/api.ts';
import { isSameFile, linesOfText } from './card-rows.ts';
import type { ResultFile } from './rows.ts';

/** A byte order mark; the columns of line 1 do not count it. */
const MARK = /^\uFEFF/;

/** Uses the same query key as the file's page, so that both share one answer. */
export function sourceOf(repo: string, revision: string | undefined, path: string) {
  return queryOptions({
    queryKey: ['source', repo, revision, path],
    queryFn: async ({ signal }) => {
      const query = { repo, path, ref: revision };
      const answer = await call<typeof getSource>('/api/source', { query, signal });
      return { ...answer, source: answer.source.replace(MARK, '') };
    },
  });
}

/** The message for a file that differs from the one that was searched. */
export const CHANGED = 'The file changed since it was indexed.';

interface FileSource {
  /** Undefined: not loaded, or the text differs from the one that was searched. */
  readonly lines: readonly string[] | undefined;
  /** Why there are no lines. */
  readonly fault: string | undefined;
}

/** @param isOn  is the text needed? */
export function useFileSource(file: ResultFile, isOn: boolean): FileSource {
  const options = sourceOf(file.repository, file.revisions[0], file.path);
  const { data, error } = useQuery({ ...options, enabled: isOn });
  const source = data?.source;
  return useMemo(() => {
    if (error !== null) return { lines: undefined, fault: error.message };
    if (source === undefined) return { lines: undefined, fault: undefined };
    const lines = linesOfText(source);
    return isSameFile(file.lines, lines)
      ? { lines, fault: undefined }
      : { lines: undefined, fault: CHANGED };
  }, [source, error, file.lines]);
}
