// Where names are defined and used.

import { useQuery } from '@tanstack/react-query';
import type {
  findDefinitions,
  findReferences,
} from '../../http/api/search/navigation-endpoints.ts';
import type { NamePlace } from '../code/names.ts';
import { call } from '../data/api.ts';
import type { AnswerOf } from '../data/api.ts';
import { BASE_PATH } from '../data/place.ts';
import { queryClient } from '../data/session.ts';
import type { Place } from './address.ts';

export type Places = AnswerOf<typeof findDefinitions>;
export type FoundFile = Places['files'][number];

/** What is looked for, as the address has it: `definitions:NAME`. */
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

/** Definitions of the name at a place, those of its file and repository first. */
function definitionsAt({ repo, revision, path }: Place, language: string, at: NamePlace) {
  return {
    queryKey: ['definitions at', repo, revision, path, at.name],
    queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
      call<typeof findDefinitions>('/api/find_definitions', {
        base: BASE_PATH,
        method: 'POST',
        body: {
          position: { repo, path, ref: revision, line: at.line, column: at.column },
          ...(language === '' ? {} : { language }),
        },
        signal,
      }),
  };
}

export function useDefinitionsAt(place: Place, language: string, at: NamePlace) {
  return useQuery(definitionsAt(place, language, at));
}

/** As `useDefinitionsAt`, once. Errors: as `call`. */
export function findDefinitionsAt(place: Place, language: string, at: NamePlace): Promise<Places> {
  return queryClient.fetchQuery(definitionsAt(place, language, at));
}

/** @param repo  the one to look in; undefined: all */
export function usePlaces({ kind, name }: Exploration, repo: string | undefined) {
  return useQuery({
    queryKey: ['places', kind, name, repo],
    queryFn: ({ signal }) =>
      call<typeof findReferences>(`/api/find_${kind}`, {
        base: BASE_PATH,
        method: 'POST',
        body: { symbolName: name, ...(repo === undefined ? {} : { repoName: repo }) },
        signal,
      }),
  });
}
