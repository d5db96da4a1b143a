// The line under the header while the page waits for the daemon or for the first results. Styles delay it a moment, so
// that quick answers do not flicker.

import { useIsFetching } from '@tanstack/react-query';
import { useSearch } from '../search/search-store.ts';

export function WaitingLine() {
  const fetchingCount = useIsFetching({ predicate: ({ state }) => state.status === 'pending' });
  const isSearching = useSearch(
    ({ state, displayed, submitted }) => state === 'running' && displayed !== submitted,
  );
  return fetchingCount > 0 || isSearching ? <div className="waiting-line" aria-hidden /> : null;
}
