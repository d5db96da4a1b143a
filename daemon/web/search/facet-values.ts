// The values by which results can be filtered, and their counts. Pure.

import { folderOf } from './folders.ts';
import type { ResultFile } from './rows.ts';

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
  { chosen, before }: { readonly chosen: Chosen; readonly before: readonly ResultFile[] },
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

export function chosenOf(parameters: URLSearchParams): Chosen {
  return {
    repo: new Set(parameters.getAll('repo')),
    lang: new Set(parameters.getAll('lang')),
    path: new Set(parameters.getAll('path')),
    kind: new Set(parameters.getAll('kind')),
  };
}
