// The line under the header while something is waited for: an answer of the daemon, or the first results of a search. Styles
// show it after a moment only, so that what is quick does not flicker.

import { useIsFetching } from '@tanstack/react-query';
import { useSearch } from '../search/search-store.ts';

export function WaitingLine() {
  const fetchingCount = useIsFetching({ predicate: ({ state }) => state.status === 'pending' });
  const isSearching = useSearch(
    ({ state, displayed, submitted }) => state === 'running' && displayed !== submitted,
  );
  return fetchingCount > 0 || isSearching ? <div className="waiting-line" aria-hidden /> : null;
}
