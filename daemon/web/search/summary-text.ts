// Sentences about a search: counts, and whether the answer is complete.

import { counted, milliseconds } from '../parts/number-format.ts';
import type { Outcome, SearchFailure } from './messages.ts';

/** Why an answer is incomplete, and what to do. */
interface Loss {
  readonly text: string;
  readonly step: 'again' | 'health';
}

/** Whole seconds; below one second, milliseconds. */
function duration(ms: number): string {
  return ms < 1000 ? milliseconds(ms) : `${Math.round(ms / 1000)} s`;
}

function lossFor(reason: string, { stats }: Outcome): Loss {
  switch (reason) {
    case 'deadline':
      return { text: `Stopped after ${duration(Number(stats['duration']) / 1e6)}.`, step: 'again' };
    case 'shard_crashed': {
      const shards = counted(Number(stats['crashes']), 'shard');
      const text = `${shards} failed during this search. Matches in their files are missing.`;
      return { text, step: 'again' };
    }
    case 'shard_quarantined':
      return {
        text: 'Some shards are quarantined. Their files are being indexed again.',
        step: 'health',
      };
    case 'revision_unreadable':
      return {
        text: 'In some repositories, a revision named by rev: could not be read completely.',
        step: 'again',
      };
    case 'symbols_missing':
      return { text: 'Symbols are not ready in every repository yet.', step: 'again' };
    case 'internal_error':
      return { text: 'Part of the answer was lost.', step: 'again' };
    default:
      return { text: `Matches may be missing: ${reason}.`, step: 'again' };
  }
}

/** Why an answer is incomplete, apart from the requested match limit. */
export function lossesOf(outcome: Outcome): Loss[] {
  return outcome.reasons
    .filter((reason) => reason !== 'match_limit')
    .map((reason) => lossFor(reason, outcome));
}

export function isLimited({ reasons }: Outcome): boolean {
  return reasons.includes('match_limit');
}

/** Does a hint count files that are not searched? */
export function hasUnsearched({ hints }: Outcome): boolean {
  return hints.some(({ repo }) => repo !== undefined);
}

const POSITION = /at position (\d+)/;

/** Position of the syntax error, in code points; undefined: not given. */
export function positionOf({ message }: SearchFailure): number | undefined {
  // The position of an error in a filter refers to the filter's own text.
  const found = message.startsWith('filter: ') ? undefined : POSITION.exec(message)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** An error as a sentence. */
export function failureWords({ errorCode, message, retryAfter }: SearchFailure): string {
  if (errorCode === 'FAILED_TO_PARSE_QUERY')
    return `In the query: ${message.replace(POSITION, (_, at) => `at character ${Number(at) + 1}`)}`;
  if (errorCode === 'SERVER_OVERLOADED')
    return `Trawl is busy.${retryAfter === undefined ? '' : ` Trying again in ${retryAfter} s.`}`;
  return message;
}
