// Reads a search from the parameters of the page's address and writes it there (`/search?query=…`). Defaults are not written;
// other parameters stay.

import type { Search } from './messages.ts';

export const MATCHES_DEFAULT = 10_000;
export const MATCHES_MAX = 100_000;

/** Is `query` in the address of a page a search? Elsewhere it is a filter. */
export function isOfSearch(path: string): boolean {
  const kind = path.split('/-/')[1]?.split('/')[0];
  return path === '/search' || (path.startsWith('/browse/') && kind !== 'commits');
}

/** The search that the parameters describe; undefined: none. */
export function searchOf(parameters: URLSearchParams, contextLines: number): Search | undefined {
  const query = parameters.get('query') ?? '';
  if (query.trim() === '') return undefined;
  const matches = Number(parameters.get('matches') ?? MATCHES_DEFAULT);
  return {
    query,
    matches:
      Number.isInteger(matches) && matches > 0 ? Math.min(matches, MATCHES_MAX) : MATCHES_DEFAULT,
    contextLines,
    isRegexEnabled: parameters.get('isRegexEnabled') === 'true',
    isCaseSensitivityEnabled: parameters.get('isCaseSensitivityEnabled') === 'true',
  };
}

/** The parameters of a search, added to the address's other parameters. */
export function parametersOf(search: Search, others: URLSearchParams): URLSearchParams {
  const { query, matches, isRegexEnabled, isCaseSensitivityEnabled } = search;
  const own: Readonly<Record<string, string | undefined>> = {
    query,
    matches: matches === MATCHES_DEFAULT ? undefined : String(matches),
    isRegexEnabled: isRegexEnabled ? 'true' : undefined,
    isCaseSensitivityEnabled: isCaseSensitivityEnabled ? 'true' : undefined,
  };
  const result = new URLSearchParams();
  for (const [name, value] of Object.entries(own))
    if (value !== undefined) result.append(name, value);
  for (const [name, value] of others) if (!Object.hasOwn(own, name)) result.append(name, value);
  return result;
}
