// Progress of a job: git fetches the mirror first, counted in objects, then docs are built, counted in bytes.

import type { LogFields } from '../../base/log.ts';
import type { JobPhase, JobStep } from '../../repos/jobs.ts';
import type { FetchStep } from '../../hosts/mirrors/git-progress.ts';
import type { BuildProgress } from '../../engine/build/build.ts';

/** A step, and the start of its phase (ms since the epoch). */
export interface JobProgress extends FetchStep {
  readonly since: number;
}

export function stepOfBuild({ phase, bytesDone, bytesTotal }: BuildProgress): JobStep {
  return { phase, done: bytesDone, total: bytesTotal, unit: 'bytes' };
}

const EVEN: readonly JobPhase[] = ['receiving', 'resolving', 'reading'];

/** Estimated time left in the phase; null: unknown. */
export function remainingMsOf({ phase, done, total, since }: JobProgress): number | null {
  if (!EVEN.includes(phase) || done === 0) return null;
  return Math.round(((Date.now() - since) * Math.max(0, total - done)) / done);
}

/** Reports the progress of a long fetch now and then. */
export function fetchReporter(
  say: (message: string, fields: LogFields) => void,
): (step: FetchStep) => void {
  let saidMs = performance.now();
  return ({ phase, done, total, receivedSize }) => {
    // Bound: 480 lines in 2 hours, the default of repoIndexTimeoutMs; a job keeps 500.
    if (performance.now() - saidMs < 15_000) return;
    saidMs = performance.now();
    const percent = total === 0 ? 0 : Math.floor((100 * done) / total);
    say('fetching', { phase, percent, objects: total, receivedSize });
  };
}
