// How far a job is: git fetches the clone of its repo first, in objects, then docs are built, in bytes.

import type { LogFields } from '../../base/log.ts';
import type { JobPhase, JobStep } from '../../repos/jobs.ts';
import type { BuildProgress } from '../../engine/build/build.ts';

/** What a host does that a job asks; `answered`: it has said all. */
export type HostNews = 'asked' | 'heard' | 'answered';

/** How far a fetch is, in objects of its phase. */
export interface FetchStep {
  readonly phase: Exclude<JobPhase, BuildProgress['phase']>;
  readonly doneCount: number;
  readonly totalCount: number;
  /** Bytes that have come so far; absent: none have. */
  readonly receivedSize?: number;
}

export interface FineStep extends JobStep {
  /** Bytes that the host has sent so far. */
  readonly receivedSize?: number;
}

/** A step, and since when the job is in its phase (ms since the epoch). */
export interface JobProgress extends FineStep {
  readonly since: number;
}

export function stepOfBuild({ phase, bytesDone, bytesTotal }: BuildProgress): FineStep {
  return { phase, done: bytesDone, total: bytesTotal, unit: 'bytes' };
}

export function stepOfFetch({ phase, doneCount, totalCount, receivedSize }: FetchStep): FineStep {
  const received = receivedSize === undefined ? {} : { receivedSize };
  return { phase, done: doneCount, total: totalCount, unit: 'objects', ...received };
}

/** Phases in which what is left takes about as long, each, as what is done. */
const EVEN: readonly JobPhase[] = ['receiving', 'resolving', 'reading'];

/** Time left of the phase at its speed so far; null: not known. */
export function remainingMsOf({ phase, done, total, since }: JobProgress): number | null {
  if (!EVEN.includes(phase) || done === 0) return null;
  return Math.round(((Date.now() - since) * Math.max(0, total - done)) / done);
}

/** Guess: 2 hours of it are less than the lines that are kept of a job. */
const SAID_MS = 15_000;

/**
 * Says now and then how far a fetch is that takes long.
 *
 * @param now  clock in ms
 */
export function fetchTeller(
  say: (message: string, fields: LogFields) => void,
  now: () => number = () => performance.now(),
): (step: FetchStep) => void {
  let saidMs = now();
  return ({ phase, doneCount, totalCount, receivedSize }) => {
    if (now() - saidMs < SAID_MS) return;
    saidMs = now();
    const percent = totalCount === 0 ? 0 : Math.floor((100 * doneCount) / totalCount);
    say('fetching', { phase, percent, objects: totalCount, receivedSize });
  };
}
