// Facets: what results can be narrowed to, how many there are of each, and what is chosen, which lives in the address.

import { useSearchParams } from 'wouter';
import type { ResultFile } from './rows.ts';

export const FACETS = ['repo', 'lang'] as const;
export type Facet = (typeof FACETS)[number];
export type Chosen = Readonly<Record<Facet, ReadonlySet<string>>>;

const VALUE: Readonly<Record<Facet, (file: ResultFile) => string>> = {
  repo: (file) => file.repository,
  lang: (file) => file.language,
};

/** Files that fit what is chosen of every facet; nothing chosen fits all. */
export function narrow(
  files: readonly ResultFile[],
  chosen: Chosen,
  but?: Facet,
): readonly ResultFile[] {
  const asked = FACETS.filter((facet) => facet !== but && chosen[facet].size > 0);
  if (asked.length === 0) return files;
  return files.filter((file) => asked.every((facet) => chosen[facet].has(VALUE[facet](file))));
}

export interface FacetValue {
  readonly value: string;
  readonly matches: number;
}

/** Values of a facet in files that fit the other facets; chosen ones stay, whatever their number. Most matches first. */
export function valuesOf(facet: Facet, files: readonly ResultFile[], chosen: Chosen): FacetValue[] {
  const counts = new Map<string, number>([...chosen[facet]].map((value) => [value, 0]));
  for (const file of narrow(files, chosen, facet)) {
    const value = VALUE[facet](file);
    counts.set(value, (counts.get(value) ?? 0) + file.matchCount);
  }
  return [...counts]
    .map(([value, matches]) => ({ value, matches }))
    .toSorted((a, b) => b.matches - a.matches || (a.value < b.value ? -1 : 1));
}

export interface FacetChoice {
  readonly chosen: Chosen;
  readonly toggle: (facet: Facet, value: string) => void;
  readonly clear: () => void;
}

/** The choice of the address. Each change is a step of the history. */
export function useFacetChoice(): FacetChoice {
  const [parameters, setParameters] = useSearchParams();
  const chosen = {
    repo: new Set(parameters.getAll('repo')),
    lang: new Set(parameters.getAll('lang')),
  };
  return {
    chosen,
    toggle: (facet, value) =>
      setParameters((before) => {
        const after = new URLSearchParams(before);
        if (chosen[facet].has(value)) after.delete(facet, value);
        else after.append(facet, value);
        return after;
      }),
    clear: () =>
      setParameters((before) => {
        const after = new URLSearchParams(before);
        for (const facet of FACETS) after.delete(facet);
        return after;
      }),
  };
}
