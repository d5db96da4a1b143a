// The queries of an operator: a plain query a line, a request body in JSON, or a line of the daemon's log in JSON:
// `search`, or `slow search` with its query.

import { createHash } from 'node:crypto';
import { UsageError } from '../errors.ts';
import { parseJson } from '../remote-search.ts';

/** Of a line that names none: as `trawl search`. */
const MATCHES = 1000;

export interface QueryList {
  /** Distinct requests of `POST /api/search`, in order of first occurrence. */
  readonly cases: readonly { readonly id: string; readonly body: string }[];
  /** Indexes of `cases`, one a line: frequent queries are asked as often. */
  readonly order: readonly number[];
  /** Lines without a search, such as others of a log. */
  readonly skippedCount: number;
  /** Two runs of one digest asked the same. */
  readonly digest: string;
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** Undefined: no search, or one that the log has cut. */
function requestOf(line: string): object | undefined {
  if (!line.startsWith('{')) return { query: line };
  const value = parseJson(line);
  if (member(value, 'message') === 'slow search') {
    const query = member(value, 'query');
    return typeof query === 'string' && !query.startsWith('{') ? { query } : undefined;
  }
  // A log line holds {"body": ...} as text.
  const logged = member(value, 'body');
  const request = typeof logged === 'string' ? member(parseJson(logged), 'body') : value;
  const isSearch = typeof member(request, 'query') === 'string';
  return isSearch && typeof request === 'object' && request !== null ? request : undefined;
}

/** Empty lines are left out. Errors: UsageError if there is no query. */
export function parseQueries(text: string): QueryList {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const requests = lines.flatMap((line) => requestOf(line) ?? []);
  if (requests.length === 0) throw new UsageError('the file has no query');
  const bodies = requests.map((request) =>
    JSON.stringify('matches' in request ? request : { ...request, matches: MATCHES }),
  );
  const distinct = [...new Set(bodies)];
  const places = new Map(distinct.map((body, index) => [body, index]));
  const queries = distinct.map((body) => String(member(parseJson(body), 'query')));
  return {
    cases: distinct.map((body, index) => {
      const query = queries[index] ?? '';
      const isAlone = queries.indexOf(query) === queries.lastIndexOf(query);
      return { id: isAlone ? query : body, body };
    }),
    order: bodies.map((body) => places.get(body) ?? 0),
    skippedCount: lines.length - requests.length,
    digest: createHash('sha256').update(bodies.join('\n')).digest('hex').slice(0, 12),
  };
}
