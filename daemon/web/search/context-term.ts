// The term `context:` of a query: which it is, and the query with another one.

import { writtenValue } from './completion.ts';
import { enclosed } from './narrowing.ts';

const TERM = /(^|\s)context:(?:"((?:[^"\\]|\\.)*)"|([^\s"()]+))(?=\s|$)/;

/** The first one that stands for itself; undefined: none does. */
export function contextIn(query: string): string | undefined {
  const [, , quoted, bare] = TERM.exec(query) ?? [];
  return quoted?.replaceAll(/\\(["\\])/g, '$1') ?? bare;
}

/** The query in a context, in place of the one that it had; undefined: in none. */
export function withContext(query: string, name: string | undefined): string {
  if (name === undefined) return query.replace(TERM, '').trim();
  const term = `context:${writtenValue('context', name)}`;
  return TERM.test(query)
    ? query.replace(TERM, (_, before: string) => before + term)
    : `${term} ${enclosed(query)}`;
}
