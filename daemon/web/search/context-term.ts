// The `context:` term of a query: reads it, and replaces it.

import { writtenValue } from './completion.ts';
import { enclosed } from './narrowing.ts';

const TERM = /(^|\s)context:(?:"((?:[^"\\]|\\.)*)"|([^\s"()]+))(?=\s|$)/;

/** The name in the first `context:` term; undefined: none. */
export function contextIn(query: string): string | undefined {
  const [, , quoted, bare] = TERM.exec(query) ?? [];
  return quoted?.replaceAll(/\\(["\\])/g, '$1') ?? bare;
}

/** The query in another context; undefined: in no context. */
export function withContext(query: string, name: string | undefined): string {
  if (name === undefined) return query.replace(TERM, '').trim();
  const term = `context:${writtenValue('context', name)}`;
  return TERM.test(query)
    ? query.replace(TERM, (_, before: string) => before + term)
    : `${term} ${enclosed(query)}`;
}
