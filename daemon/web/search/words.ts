// What the page says of a search, in plain sentences: how many, and whether that is all.

import type { Outcome, SearchFailure } from './messages.ts';

const REASONS: Readonly<Record<string, string>> = {
  deadline: 'the search reached its time limit',
  shard_crashed: 'parts of the index failed during this search, files in them are missing',
  shard_quarantined: 'parts of the index are out of service, files in them are missing',
  symbols_missing: 'symbols are not ready in every repository yet',
  internal_error: 'a piece of the answer was lost on the way',
};

/** Why an answer is not all, but for the limit that was asked for; the first reason that says most. */
export function lossOf({ reasons }: Outcome): string | undefined {
  const [first] = reasons.filter((reason) => reason !== 'match_limit');
  return first === undefined ? undefined : (REASONS[first] ?? first);
}

export function isLimited({ reasons }: Outcome): boolean {
  return reasons.includes('match_limit');
}

const POSITION = /at position (\d+)/;

/** Where in the query the fault is, in code points; undefined: not said. */
export function positionOf({ message }: SearchFailure): number | undefined {
  // That of a filter counts in its own text.
  const found = message.startsWith('filter: ') ? undefined : POSITION.exec(message)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** A failure in a sentence of its own. */
export function failureWords({ errorCode, message, retryAfter }: SearchFailure): string {
  if (errorCode === 'FAILED_TO_PARSE_QUERY')
    return `In the query: ${message.replace(POSITION, (_, at) => `at character ${Number(at) + 1}`)}`;
  if (errorCode === 'SERVER_OVERLOADED')
    return `Trawl is busy.${retryAfter === undefined ? '' : ` Try again in ${retryAfter} s.`}`;
  return message;
}
