// A search request and its limits.

import type { QueryTexts } from './filter.ts';

/** What may complete a query: values of these prefixes. */
export const SUGGESTION_KINDS = ['repo', 'file', 'lang', 'sym', 'rev', 'context'] as const;
export type SuggestionKind = (typeof SUGGESTION_KINDS)[number];

export const CONTEXT_LINES_MAX = 100;

/** What file results also have; a request may name fewer. */
export const RESULT_FIELDS = ['score', 'blobSha'] as const;
export type ResultField = (typeof RESULT_FIELDS)[number];

export interface SearchRequest extends QueryTexts {
  /** Ranges at most, 1 or higher. */
  readonly matches: number;
  readonly contextLines: number;
  readonly whole: boolean;
  /** Absent: all. */
  readonly fields?: readonly ResultField[];
  readonly isRegexEnabled: boolean;
  readonly isCaseSensitivityEnabled: boolean;
  /** Bytes of JSON that an answer may have, file results being left out; absent: as many as it takes. */
  readonly maxBytes?: number;
  /** Bytes of a line that chunks show, of a longer one what is around its ranges; absent: all. */
  readonly maxLineBytes?: number;
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
