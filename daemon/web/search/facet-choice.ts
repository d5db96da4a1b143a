// The selection of facets, which is in the address.

import { useMemo } from 'react';
import { changeParameters, useParameters } from '../data/parameters.ts';
import { type Chosen, chosenOf, type Facet, FACETS } from './facet-values.ts';
import type { ResultFile } from './rows.ts';
import { useSearch } from './search-store.ts';

export interface FacetChoice {
  readonly chosen: Chosen;
  /** Results of the last answer that the daemon did not filter. */
  readonly before: readonly ResultFile[];
  readonly toggle: (facet: Facet, value: string) => void;
  readonly clear: () => void;
  /** Replaces the query and clears the selection. */
  readonly replaceBy: (query: string) => void;
}

const NONE: readonly ResultFile[] = [];

/** The results before the daemon filtered them, as long as the query is the same. */
function useBefore(): readonly ResultFile[] {
  return useSearch(({ displayed, before }) =>
    displayed?.filter !== undefined && displayed.query === before?.search.query
      ? before.files
      : NONE,
  );
}

function withoutFacets(parameters: URLSearchParams): URLSearchParams {
  const after = new URLSearchParams(parameters);
  for (const facet of FACETS) after.delete(facet);
  return after;
}

/** Identifies the selection, independent of the rest of the address. */
function chosenName(parameters: URLSearchParams): string {
  return JSON.stringify(FACETS.map((facet) => parameters.getAll(facet)));
}

function toggle(facet: Facet, value: string): void {
  changeParameters((parameters) => {
    if (parameters.has(facet, value)) parameters.delete(facet, value);
    else parameters.append(facet, value);
    return parameters;
  });
}

function replaceBy(query: string): void {
  changeParameters((before) => {
    const after = withoutFacets(before);
    after.set('query', query);
    return after;
  });
}

const CHANGES = { toggle, clear: () => changeParameters(withoutFacets), replaceBy };

/** The selection in the address; the same object until it changes. Each change adds a history entry. */
export function useFacetChoice(): FacetChoice {
  const parameters = useParameters();
  const before = useBefore();
  const name = chosenName(parameters);
  return useMemo(() => ({ chosen: chosenOf(parameters), before, ...CHANGES }), [name, before]);
}
