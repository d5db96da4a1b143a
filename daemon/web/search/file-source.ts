// The text of a file of the results, for lines that the answer does not have.

import { queryOptions, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { getSource } from '../../api/sources/source-endpoints.ts';
import { call } from '../data/api.ts';
import { isSameFile, linesOfText } from './card-rows.ts';
import type { ResultFile } from './rows.ts';

/** Of a byte order mark, which columns of line 1 do not count. */
const MARK = /^\uFEFF/;

/** As the file's own page asks for it, so that both have one answer. */
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

/** Said where a file is not the one that was searched. */
export const CHANGED = 'The file changed since it was indexed.';

interface FileSource {
  /** Undefined: not known, or another text than the one that was searched. */
  readonly lines: readonly string[] | undefined;
  /** Why there is none. */
  readonly fault: string | undefined;
}

/** @param isOn  is it needed? */
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
