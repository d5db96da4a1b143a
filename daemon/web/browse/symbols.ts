// Definitions and references of names.

import { useQuery } from '@tanstack/react-query';
import type { findDefinitions, findReferences } from '../../api/search/navigation-endpoints.ts';
import type { NameLocation } from '../code/names.ts';
import { type AnswerOf, call } from '../data/api.ts';
import { queryClient } from '../data/session.ts';
import type { BrowseTarget } from './address.ts';

export type Occurrences = AnswerOf<typeof findDefinitions>;
/** Occurrences, and whether they come from the default revision because the displayed one has none. */
export type OccurrencesThere = Occurrences & { readonly isOfDefault: boolean };
export type FoundFile = Occurrences['files'][number];

/** Do some of the searched repositories have no symbols yet? */
export function lacksSymbols({ incompleteReasons }: Occurrences): boolean {
  return incompleteReasons?.includes('symbols_missing') === true;
}

/** The open exploration, in the address as `definitions:NAME`. */
export interface Exploration {
  readonly kind: 'definitions' | 'references';
  readonly name: string;
}

export function explorationOf(text: string | undefined): Exploration | undefined {
  const [, kind, name] = /^(definitions|references):(.+)$/s.exec(text ?? '') ?? [];
  if (name === undefined) return undefined;
  return { kind: kind === 'definitions' ? 'definitions' : 'references', name };
}

export function explorationText({ kind, name }: Exploration): string {
  return `${kind}:${name}`;
}

/** Definitions of the name at a location. Errors: as `call`. */
function fetchDefinitions(
  { repo, revision, path }: BrowseTarget,
  language: string,
  at: NameLocation,
  { isOfRevision, signal }: { readonly isOfRevision: boolean; readonly signal: AbortSignal },
): Promise<Occurrences> {
  return call<typeof findDefinitions>('/api/find_definitions', {
    method: 'POST',
    body: {
      position: { repo, path, ref: revision, line: at.line, column: at.column },
      ...(language === '' ? {} : { language }),
      ...(isOfRevision ? { repoName: repo, revisionName: revision } : {}),
    },
    signal,
  });
}

/**
 * Definitions of the name at a location, those of its file and repository first. For a chosen revision, the definitions
 * of that revision come first; if there are none or it cannot be searched, those of the default revisions.
 */
function definitionsAt(target: BrowseTarget, language: string, at: NameLocation) {
  const { repo, revision, path } = target;
  return {
    queryKey: ['definitions at', repo, revision, path, at.name],
    queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<OccurrencesThere> => {
      if (revision !== undefined) {
        const near = await fetchDefinitions(target, language, at, {
          isOfRevision: true,
          signal,
        }).catch(() => undefined);
        if (near !== undefined && near.files.length > 0) return { ...near, isOfDefault: false };
      }
      const found = await fetchDefinitions(target, language, at, { isOfRevision: false, signal });
      return { ...found, isOfDefault: revision !== undefined };
    },
  };
}

export function useDefinitionsAt(target: BrowseTarget, language: string, at: NameLocation) {
  return useQuery(definitionsAt(target, language, at));
}

/** Like `useDefinitionsAt`, as a single call. Errors: as `call`. */
export function findDefinitionsAt(
  target: BrowseTarget,
  language: string,
  at: NameLocation,
): Promise<OccurrencesThere> {
  return queryClient.fetchQuery(definitionsAt(target, language, at));
}

function fetchPlaces(
  { kind, name }: Exploration,
  where: { readonly repoName?: string; readonly revisionName?: string },
  signal: AbortSignal,
): Promise<Occurrences> {
  return call<typeof findReferences>(`/api/find_${kind}`, {
    method: 'POST',
    body: { symbolName: name, ...where },
    signal,
  });
}

/**
 * Occurrences of a name in a repository at the displayed revision.
 *
 * @param target  undefined: all repositories, at their default revisions
 */
export function useOccurrences(exploration: Exploration, target: BrowseTarget | undefined) {
  const { kind, name } = exploration;
  return useQuery({
    queryKey: ['places', kind, name, target?.repo, target?.revision],
    queryFn: async ({ signal }): Promise<OccurrencesThere> => {
      if (target === undefined)
        return { ...(await fetchPlaces(exploration, {}, signal)), isOfDefault: false };
      const { repo: repoName, revision } = target;
      const where = { repoName, ...(revision === undefined ? {} : { revisionName: revision }) };
      const found = await fetchPlaces(exploration, where, signal);
      const isOfDefault = revision !== undefined && found.files.length === 0 && lacksSymbols(found);
      if (!isOfDefault) return { ...found, isOfDefault };
      return { ...(await fetchPlaces(exploration, { repoName }, signal)), isOfDefault };
    },
  });
}
