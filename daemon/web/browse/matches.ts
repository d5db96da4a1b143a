// The matches of a query in one file: those of the search that led here.

import { useQuery } from '@tanstack/react-query';
import type { search } from '../../http/api/search/search-endpoints.ts';
import type { FileMatch } from '../code/match-marks.ts';
import type { AddressParameters } from '../data/address-parameters.ts';
import { call } from '../data/api.ts';
import { BASE_PATH } from '../data/place.ts';
import type { Place } from './address.ts';

const MATCHES_MAX = 1000;
const NONE: readonly FileMatch[] = [];

/** A text as a quoted pattern of the query language, all of it. */
function exactly(text: string): string {
  const quoted = text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  return `"^${quoted.replaceAll('"', String.raw`\x22`)}$"`;
}

/** In the order of the file; none where nothing is looked for, or as long as it is not known. */
export function useMatches({ repo, revision, path }: Place, { valueOf }: AddressParameters) {
  const query = valueOf('query') ?? '';
  const isOn = (name: string): boolean => valueOf(name) === 'true';
  const at = revision === undefined ? '' : ` rev:${revision}`;
  const body = {
    query: `(${query}) repo:${exactly(repo)} file:${exactly(path)}${at}`,
    matches: MATCHES_MAX,
    isRegexEnabled: isOn('isRegexEnabled'),
    isCaseSensitivityEnabled: isOn('isCaseSensitivityEnabled'),
  };
  const { data } = useQuery({
    queryKey: ['matches', body],
    queryFn: async ({ signal }): Promise<readonly FileMatch[]> => {
      const { files } = await call<typeof search>('/api/search', {
        base: BASE_PATH,
        method: 'POST',
        body,
        signal,
      });
      return files
        .flatMap(({ chunks }) => chunks.flatMap(({ matchRanges }) => matchRanges))
        .toSorted((a, b) => a.start.byteOffset - b.start.byteOffset);
    },
    enabled: query.trim() !== '',
  });
  return data ?? NONE;
}
