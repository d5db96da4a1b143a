// A search request and its limits.

import type { QueryTexts } from './filter.ts';

/** Prefixes whose values can be completed. */
export const SUGGESTION_KINDS = ['repo', 'file', 'lang', 'sym', 'rev', 'context'] as const;
export type SuggestionKind = (typeof SUGGESTION_KINDS)[number];

export { SYMBOL_NAME_SIZE_MAX } from '../../../core/shared/symbols.ts';
export const CONTEXT_LINES_MAX = 100;

export const RESULT_FIELDS = ['score', 'blobSha'] as const;
export type ResultField = (typeof RESULT_FIELDS)[number];

export interface SearchRequest extends QueryTexts {
  /** Most ranges, 1 or higher. */
  readonly matches: number;
  readonly contextLines: number;
  readonly whole: boolean;
  /** Absent: all. */
  readonly fields?: readonly ResultField[];
  readonly isRegexEnabled: boolean;
  readonly isCaseSensitivityEnabled: boolean;
  /** Most bytes of JSON in an answer; file results are dropped to fit. Absent: no limit. */
  readonly maxBytes?: number;
  /** Most bytes of a line in chunks; longer lines are cut around their ranges. Absent: all. */
  readonly maxLineBytes?: number;
}

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
