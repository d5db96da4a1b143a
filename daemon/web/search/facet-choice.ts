// Facets: the values by which results can be filtered, their counts, and the selection, which is in the address.

import { useMemo } from 'react';
import { changeParameters, useParameters } from '../data/parameters.ts';
import type { ResultFile } from './rows.ts';
import { useSearch } from './search-store.ts';
import { folderOf } from './folders.ts';

export const FACETS = ['repo', 'lang', 'path', 'kind'] as const;
export type Facet = (typeof FACETS)[number];
export type Chosen = Readonly<Record<Facet, ReadonlySet<string>>>;

const VALUE: Readonly<Record<Facet, (file: ResultFile) => string>> = {
  repo: (file) => file.repository,
  lang: (file) => file.language,
  path: (file) => folderOf(file.path),
  kind: (file) => file.kind,
};

/** Files that match the selection of every facet. An empty selection matches all. */
export function narrow(
  files: readonly ResultFile[],
  chosen: Chosen,
  but?: Facet,
): readonly ResultFile[] {
  const active = FACETS.filter((facet) => facet !== but && chosen[facet].size > 0);
  if (active.length === 0) return files;
  return files.filter((file) => active.every((facet) => chosen[facet].has(VALUE[facet](file))));
}

export interface FacetValue {
  readonly value: string;
  readonly matches: number;
  /** True if the value is absent from the current results, but was in the answer before filtering. */
  readonly isOfBefore: boolean;
}

function countsOf(
  facet: Facet,
  files: readonly ResultFile[],
  chosen: Chosen,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const file of narrow(files, chosen, facet)) {
    const value = VALUE[facet](file);
    counts.set(value, (counts.get(value) ?? 0) + file.matchCount);
  }
  return counts;
}

/**
 * Values of a facet: those in files that match the other facets, those from before filtering, and the selected ones.
 * Most matches first.
 */
export function valuesOf(
  facet: Facet,
  files: readonly ResultFile[],
  { chosen, before }: Pick<FacetChoice, 'chosen' | 'before'>,
): FacetValue[] {
  const now = countsOf(facet, files, chosen);
  const earlier = countsOf(facet, before, chosen);
  return [...new Set([...now.keys(), ...earlier.keys(), ...chosen[facet]])]
    .map((value) => ({
      value,
      matches: now.get(value) ?? earlier.get(value) ?? 0,
      isOfBefore: !now.has(value) && earlier.has(value),
    }))
    .toSorted((a, b) => b.matches - a.matches || (a.value < b.value ? -1 : 1));
}

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

export function chosenOf(parameters: URLSearchParams): Chosen {
  return {
    repo: new Set(parameters.getAll('repo')),
    lang: new Set(parameters.getAll('lang')),
    path: new Set(parameters.getAll('path')),
    kind: new Set(parameters.getAll('kind')),
  };
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
