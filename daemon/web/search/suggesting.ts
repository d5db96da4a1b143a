// What is offered for the word at the caret: filters, values and earlier queries at once, names as the daemon suggests them.

import { useQueries } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { getSuggestions } from '../../api/search/suggestion-endpoints.ts';
import { call } from '../data/api.ts';
import { tracesOf, useRemembered } from '../data/remembered.ts';
import {
  completableAt,
  historyChoices,
  prefixChoices,
  suggestedChoices,
  valueChoices,
} from './completion.ts';
import type { Choice, SuggestionKind } from './completion.ts';

/** Rest after the last key before the daemon is asked, in ms. */
const PAUSE_MS = 80;
const STALE_MS = 60_000;
/**
 * None: also the answer of a daemon that is busy (it takes 100 ms at most). So it is asked again, so often, after so many ms.
 */
const NONE_RETRIES = 3;
const NONE_PAUSE_MS = 1000;
/** Choices of a kind: where a prefix asks for it, and for a word without one. */
const COUNT_MAX = 10;
const BARE_COUNT_MAX = 4;
const HISTORY_MAX = 5;

/** The value once it has not changed for a moment. */
function useRested<Value extends string | undefined>(value: Value): Value {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}

/** What is known of a list in the cache. */
interface Suggested {
  readonly state: {
    readonly data: readonly unknown[] | undefined;
    readonly dataUpdateCount: number;
  };
}

const isNone = ({ state }: Suggested): boolean => state.data?.length === 0;

/** Asks for suggestions of a kind; what cannot be had is none. */
export function suggestionsQuery(
  kind: SuggestionKind,
  prefix: string,
  query: string | undefined,
  limit: number,
) {
  return {
    queryKey: ['suggestions', kind, prefix, query, limit],
    queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
      call<typeof getSuggestions>('/api/suggestions', {
        query: { kind, prefix, query, limit },
        signal,
      }),
    staleTime: (list: Suggested) => (isNone(list) ? 0 : STALE_MS),
    refetchInterval: (list: Suggested) =>
      isNone(list) && list.state.dataUpdateCount <= NONE_RETRIES ? NONE_PAUSE_MS : false,
    retry: false,
  };
}

/** What is offered, the best group first. @param isEnabled  the choices are looked at */
export function useChoices(
  text: string,
  caret: number,
  isRegexEnabled: boolean,
  isEnabled: boolean,
): readonly Choice[] {
  const { queries } = useRemembered(tracesOf);
  const at = completableAt(text, caret, isRegexEnabled);
  const lookupText = useRested(at.lookupText);
  const filter = useRested(at.filter);
  const isRested = lookupText === at.lookupText && filter === at.filter;
  const limit = at.isBare ? BARE_COUNT_MAX : COUNT_MAX;
  const answers = useQueries({
    queries: at.kinds.map((kind) => ({
      ...suggestionsQuery(kind, lookupText, filter, limit),
      enabled: isEnabled && isRested,
    })),
  });
  if (!isEnabled) return [];
  const suggested = at.kinds.flatMap((kind, index) =>
    suggestedChoices(at, kind, answers[index]?.data ?? []),
  );
  const history = at.isBare ? historyChoices(text, queries, HISTORY_MAX) : [];
  const filters = prefixChoices(at);
  return text.trim() === ''
    ? [...history, ...filters]
    : [...filters, ...valueChoices(at), ...suggested, ...history];
}
