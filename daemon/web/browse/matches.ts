// The matches of a query in one file: those of the search that led here, located in the file's text.

import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { search } from '../../api/search/search-endpoints.ts';
import type { Chunk } from '../../api/search/search-schemas.ts';
import type { FileMatch } from '../code/match-marks.ts';
import type { AddressParameters } from '../data/address-parameters.ts';
import { call } from '../data/api.ts';
import { linesOfText } from '../search/card-rows.ts';
import type { BrowseTarget } from './address.ts';
import { fileQuery } from './search-address.ts';

const MATCHES_MAX = 1000;
const NONE: readonly FileMatch[] = [];
const NO_CHUNKS: readonly Chunk[] = [];

interface Found {
  readonly chunks: readonly Chunk[];
  readonly isLimited: boolean;
}

/** Is the chunk's text still that of these lines? */
function standsIn({ content, contentStart }: Chunk, lines: readonly string[]): boolean {
  const first = contentStart.lineNumber - 1;
  return linesOfText(content).every((line, index) => line === lines[first + index]);
}

function useChunks(target: BrowseTarget, { valueOf }: AddressParameters): Found {
  const query = valueOf('query') ?? '';
  const isOn = (name: string): boolean => valueOf(name) === 'true';
  const body = {
    query,
    filter: fileQuery(target),
    matches: MATCHES_MAX,
    isRegexEnabled: isOn('isRegexEnabled'),
    isCaseSensitivityEnabled: isOn('isCaseSensitivityEnabled'),
  };
  const { data } = useQuery({
    queryKey: ['matches', body],
    queryFn: async ({ signal }): Promise<Found> => {
      const answer = await call<typeof search>('/api/search', { method: 'POST', body, signal });
      const chunks = answer.files
        .filter(
          ({ repository, fileName }) => repository === target.repo && fileName.text === target.path,
        )
        .flatMap((file) => file.chunks);
      return { chunks, isLimited: answer.incompleteReasons?.includes('match_limit') === true };
    },
    enabled: query.trim() !== '',
  });
  return data ?? { chunks: NO_CHUNKS, isLimited: false };
}

interface Matches {
  /** In file order; empty without a query or while it loads. */
  readonly matches: readonly FileMatch[];
  /** Are there more that were not loaded? */
  readonly isLimited: boolean;
  /** Were they found in a different text? If so, `matches` is empty. */
  readonly areOfOther: boolean;
}

/** @param text  of the file */
export function useMatches(
  target: BrowseTarget,
  parameters: AddressParameters,
  text: string,
): Matches {
  const { chunks, isLimited } = useChunks(target, parameters);
  return useMemo(() => {
    const lines = chunks.length === 0 ? [] : linesOfText(text);
    if (!chunks.every((chunk) => standsIn(chunk, lines)))
      return { matches: NONE, isLimited, areOfOther: true };
    const matches = chunks
      .flatMap(({ matchRanges }) => matchRanges)
      .toSorted((a, b) => a.start.byteOffset - b.start.byteOffset);
    return { matches, isLimited, areOfOther: false };
  }, [chunks, isLimited, text]);
}
