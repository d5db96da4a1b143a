// The choices for the word at the caret. Filters, fixed values and recent queries come at once, names after the
// daemon's answer.

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

/** ms between the last key and the request. */
const PAUSE_MS = 80;
const STALE_MS = 60_000;
/**
 * A busy daemon answers with an empty list after 100 ms. So an empty list is requested again: this many times, after
 * this many ms.
 */
const NONE_RETRIES = 3;
const NONE_PAUSE_MS = 1000;
/** Choices per kind: for a word with a prefix, and for one without. */
const COUNT_MAX = 10;
const BARE_COUNT_MAX = 4;
const HISTORY_MAX = 5;

/** The value, once it has not changed for a moment. */
function useRested<Value extends string | undefined>(value: Value): Value {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}

/** A cached list. */
interface Suggested {
  readonly state: {
    readonly data: readonly unknown[] | undefined;
    readonly dataUpdateCount: number;
  };
}

const isNone = ({ state }: Suggested): boolean => state.data?.length === 0;

/** Query for suggestions of a kind. A failed request counts as none. */
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

/** The choices, best group first. @param isEnabled  are choices on display? */
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
  const recent = queries.map(({ query }) => query);
  const history = at.isBare ? historyChoices(text, recent, HISTORY_MAX) : [];
  const filters = prefixChoices(at);
  return text.trim() === ''
    ? [...history, ...filters]
    : [...filters, ...valueChoices(at), ...suggested, ...history];
}
