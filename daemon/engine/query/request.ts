// A search as it is asked for, and how much it may ask for.

import type { QueryTexts } from './filter.ts';

/** What may complete a query: values of these prefixes. */
export const SUGGESTION_KINDS = ['repo', 'file', 'lang', 'sym', 'rev', 'context'] as const;
export type SuggestionKind = (typeof SUGGESTION_KINDS)[number];

export const CONTEXT_LINES_MAX = 100;

export interface SearchRequest extends QueryTexts {
  /** Ranges at most, 1 or higher. */
  readonly matches: number;
  readonly contextLines: number;
  readonly whole: boolean;
  readonly isRegexEnabled: boolean;
  readonly isCaseSensitivityEnabled: boolean;
}

/** The request with `matches` and `contextLines` as far as they may go. */
export function boundedRequest<Request extends SearchRequest>(
  request: Request,
  matchCountMax: number,
): Request {
  return {
    ...request,
    matches: Math.min(request.matches, matchCountMax),
    contextLines: Math.min(request.contextLines, CONTEXT_LINES_MAX),
  };
}
