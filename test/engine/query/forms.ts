// Prints the canonical form of a query, or the position of its error, for the tests of the parser.

import { QueryError } from '../../../daemon/engine/regex/query-error.ts';
import { parseQuery } from '../../../daemon/engine/query/parser.ts';
import { printQuery } from '../../../daemon/engine/query/print.ts';

/** The canonical form of a query, or `ERROR@n` if it is refused at position n. */
export function formOf(query: string, mode: 'K' | 'R'): string {
  try {
    return printQuery(parseQuery(query, { isRegexEnabled: mode === 'R' }));
  } catch (error) {
    if (error instanceof QueryError) return `ERROR@${error.position}`;
    throw error;
  }
}
