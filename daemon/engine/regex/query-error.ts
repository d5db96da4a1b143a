// The one error of the query language: what is wrong and where. It leaves the daemon as 400
// FAILED_TO_PARSE_QUERY; turning it into a response is left to the HTTP layer. cli/errors.ts and web/search/words.ts know it by
// its code, and read the position out of the message.

/** A query that cannot be run. The message is `${reason} at position ${position}`. */
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
