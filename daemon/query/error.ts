// The error of a query that cannot be understood: why, and where. Thrown by every stage that reads the
// query text (lexer, parser, expression check); the API turns it into 400 FAILED_TO_PARSE_QUERY.

/** A bad query. `position` is a 0-based code point offset into the query text. */
export class QueryError extends Error {
  readonly position: number;
  readonly reason: string;

  constructor(reason: string, position: number) {
    super(`${reason} at position ${position}`);
    this.name = 'QueryError';
    this.reason = reason;
    this.position = position;
  }
}
