// The filter of a search restricts its query (API.md 6.1): it has no content words, and counts as appended in parentheses.

import { QueryError } from '../regex/query-error.ts';
import type { Steps } from '../../base/steps.ts';
import { parseSteps, type QueryOptions } from './parser.ts';
import { leavesOf, type QueryNode } from './tree.ts';

export interface QueryTexts {
  /** Written by people, or parsed: then its expressions determine their case. */
  readonly query: string | QueryNode;
  /** Absent: none. */
  readonly filter?: string;
}

/** The query of a search with its filter. Errors: QueryError; for the filter, with its name and a position in its text. */
export function* wholeQuerySteps(
  { query, filter }: QueryTexts,
  options: QueryOptions,
): Steps<QueryNode> {
  const tree = typeof query === 'string' ? yield* parseSteps(query, options) : query;
  return filter === undefined ? tree : bothOf(tree, yield* filterSteps(filter, options));
}

export function bothOf(left: QueryNode, right: QueryNode): QueryNode {
  const children = [left, right].flatMap((node) => (node.kind === 'and' ? node.children : [node]));
  return { kind: 'and', children };
}

/** Parses a query without content. Errors: QueryError that begins with `filter: `. */
export function* filterSteps(text: string, options: QueryOptions): Steps<QueryNode> {
  let filter: QueryNode;
  try {
    filter = yield* parseSteps(text, options);
  } catch (error) {
    if (error instanceof QueryError) throw filterError(error.reason, error.position);
    throw error;
  }
  for (const leaf of leavesOf(filter))
    if (leaf.kind === 'text' || leaf.kind === 'regex')
      throw filterError('content words belong in the query, not in the filter', leaf.position);
  return filter;
}

function filterError(reason: string, position: number): QueryError {
  return new QueryError(`filter: ${reason}`, position);
}
