// The term `context:` of a query: which it is, and the query with another one.

import { writtenValue } from './completion.ts';

const TERM = /(^|\s)context:(?:"((?:[^"\\]|\\.)*)"|([^\s"()]+))(?=\s|$)/;

/** The first one that stands for itself; undefined: none does. */
export function contextIn(query: string): string | undefined {
  const [, , quoted, bare] = TERM.exec(query) ?? [];
  return quoted?.replaceAll(/\\(["\\])/g, '$1') ?? bare;
}

/** The query in a context, in place of the one that it had; undefined: in none. */
export function withContext(query: string, name: string | undefined): string {
  const rest = query.replace(TERM, '').trim();
  return name === undefined ? rest : `context:${writtenValue('context', name)} ${rest}`;
}
