// The line under the header while something is waited for: an answer of the daemon, or the first results of a search. Styles
// show it after a moment only, so that what is quick does not flicker.

import { useIsFetching } from '@tanstack/react-query';
import { useSearch } from '../search/search-store.ts';

export function WaitingLine() {
  const asked = useIsFetching({ predicate: ({ state }) => state.status === 'pending' });
  const isSearching = useSearch(
    ({ state, shown, asked }) => state === 'running' && shown !== asked,
  );
  return asked > 0 || isSearching ? <div className="waiting-line" aria-hidden /> : null;
}
