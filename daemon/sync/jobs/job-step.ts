// Progress of a job: git fetches the mirror first, counted in objects, then docs are built, counted in bytes.

import type { LogFields } from '../../base/log.ts';
import type { JobPhase, JobStep } from '../../repos/jobs.ts';
import type { BuildProgress } from '../../engine/build/build.ts';

/** Progress of a fetch, in objects of its phase. */
export interface FetchStep {
  readonly phase: Exclude<JobPhase, BuildProgress['phase']>;
  readonly doneCount: number;
  readonly totalCount: number;
  /** Bytes received so far; absent: none. */
  readonly receivedSize?: number;
}

export interface FineStep extends JobStep {
  readonly receivedSize?: number;
}

/** A step, and the start of its phase (ms since the epoch). */
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

const EVEN: readonly JobPhase[] = ['receiving', 'resolving', 'reading'];

/** Estimated time left in the phase; null: unknown. */
export function remainingMsOf({ phase, done, total, since }: JobProgress): number | null {
  if (!EVEN.includes(phase) || done === 0) return null;
  return Math.round(((Date.now() - since) * Math.max(0, total - done)) / done);
}

/** Reports the progress of a long fetch now and then. @param now  clock in ms */
export function fetchReporter(
  say: (message: string, fields: LogFields) => void,
  now: () => number = () => performance.now(),
): (step: FetchStep) => void {
  let saidMs = now();
  return ({ phase, doneCount, totalCount, receivedSize }) => {
    // Guess: 2 hours of it stay below the number of kept lines.
    if (now() - saidMs < 15_000) return;
    saidMs = now();
    const percent = totalCount === 0 ? 0 : Math.floor((100 * doneCount) / totalCount);
    say('fetching', { phase, percent, objects: totalCount, receivedSize });
  };
}
