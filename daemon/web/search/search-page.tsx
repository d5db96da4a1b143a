// The page of results: the search of the address, its summary, and the list.

import { useEffect } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { useRemembered } from '../data/remembered.ts';
import { useTitle } from '../parts/title.ts';
import { MATCHES_MAX, parametersOf, searchOf } from './address.ts';
import { Facets } from './facets.tsx';
import { narrow, useFacetChoice } from './facet-choice.ts';
import { ResultList } from './result-list.tsx';
import { useSearch } from './search-store.ts';
import { Summary } from './summary.tsx';

export function SearchPage() {
  const [parameters] = useSearchParams();
  const [, navigate] = useLocation();
  const contextLines = useRemembered((state) => state.contextLines);
  const search = searchOf(parameters, contextLines);
  const key = JSON.stringify(search);
  useTitle(search?.query ?? 'Search');
  useEffect(() => {
    const { asked, isPreview, state, start, clear } = useSearch.getState();
    if (search === undefined) clear();
    else if (isPreview || state === 'failed' || JSON.stringify(asked) !== key) start(search);
    // `search` is made anew each time; `key` says whether it is another one.
  }, [key]);
  const files = useSearch((state) => state.files);
  const choice = useFacetChoice();
  const shown = narrow(files, choice.chosen);
  const loadMore =
    search === undefined || search.matches >= MATCHES_MAX
      ? undefined
      : () => {
          const more = { ...search, matches: Math.min(search.matches * 2, MATCHES_MAX) };
          navigate(`/search?${parametersOf(more, parameters).toString()}`, { replace: true });
        };
  return (
    <div className="search">
      <h1 className="visually-hidden">Results</h1>
      <Facets files={files} {...choice} />
      <div className="results">
        <Summary
          loadMore={loadMore}
          nextMatches={Math.min((search?.matches ?? 0) * 2, MATCHES_MAX)}
        />
        <ResultList files={shown} loadedCount={files.length} />
      </div>
    </div>
  );
}
