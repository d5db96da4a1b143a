// What the page says of a search, in plain sentences: how many, and whether that is all.

import { counted, milliseconds } from '../parts/words.ts';
import type { Outcome, SearchFailure } from './messages.ts';

/** Why an answer is not all, as a sentence, and what mends it. */
interface Loss {
  readonly text: string;
  readonly step: 'again' | 'health';
}

function partsOf(count: number): string {
  return counted(count, 'part of the index', 'parts of the index');
}

/** Whole seconds; what is shorter in milliseconds. */
function duration(ms: number): string {
  return ms < 1000 ? milliseconds(ms) : `${Math.round(ms / 1000)} s`;
}

function lossFor(reason: string, { stats }: Outcome): Loss {
  switch (reason) {
    case 'deadline':
      return {
        text: `Stopped after ${duration(Number(stats['duration']) / 1e6)}.`,
        step: 'again',
      };
    case 'shard_crashed': {
      const text = `${partsOf(Number(stats['crashes']))} failed during this search; files in them are missing.`;
      return { text, step: 'again' };
    }
    case 'shard_quarantined':
      return {
        text: 'Parts of the index are out of service; they are being rebuilt.',
        step: 'health',
      };
    case 'revision_unreadable':
      return {
        text: 'A revision named by rev: could not be read, or only in part, in some repositories.',
        step: 'again',
      };
    case 'symbols_missing':
      return { text: 'Symbols are not ready in every repository yet.', step: 'again' };
    case 'internal_error':
      return { text: 'A piece of the answer was lost on the way.', step: 'again' };
    default:
      return { text: `Matches may be missing: ${reason}.`, step: 'again' };
  }
}

/** Why an answer is not all, but for the limit that was asked for. */
export function lossesOf(outcome: Outcome): Loss[] {
  return outcome.reasons
    .filter((reason) => reason !== 'match_limit')
    .map((reason) => lossFor(reason, outcome));
}

export function isLimited({ reasons }: Outcome): boolean {
  return reasons.includes('match_limit');
}

/** Whether a hint counts files that are not searched. */
export function hasUnsearched({ hints }: Outcome): boolean {
  return hints.some(({ repo }) => repo !== undefined);
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
    return `Trawl is busy.${retryAfter === undefined ? '' : ` Trying again in ${retryAfter} s.`}`;
  return message;
}
