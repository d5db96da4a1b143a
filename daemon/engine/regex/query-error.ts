// The only error of the query language: 400 FAILED_TO_PARSE_QUERY. cli/errors.ts and web/search/summary-text.ts read the
// position from the message.

export class QueryError extends Error {
  readonly reason: string;
  /** 0-based code point offset into the query text; at most its size in code points. */
  readonly position: number;

  constructor(reason: string, position: number) {
    super(`${reason} at position ${position}`);
    this.name = 'QueryError';
    this.reason = reason;
    this.position = position;
  }
}
