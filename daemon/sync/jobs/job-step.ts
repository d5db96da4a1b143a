// How far a job is: git fetches the clone of its repo first, in objects, then docs are built, in bytes.

import type { LogFields } from '../../base/log.ts';
import type { BuildProgress } from '../../engine/build/build.ts';

/** How far a fetch is, in objects of its phase. */
export interface FetchStep {
  /**
   * `asking`: the host has not said yet which branches and tags there are. The others are those of git. `preparing`: the host
   * counts and packs. `resolving`: what has come is unpacked and checked.
   */
  readonly phase: 'asking' | 'preparing' | 'receiving' | 'resolving';
  readonly doneCount: number;
  readonly totalCount: number;
  /** Bytes that have come so far; absent: none have. */
  readonly receivedSize?: number;
}

export interface JobStep {
  readonly phase: BuildProgress['phase'] | FetchStep['phase'];
  readonly done: number;
  /** 0: not known. */
  readonly total: number;
  readonly unit: 'bytes' | 'objects';
  /** Bytes that the host has sent so far. */
  readonly receivedSize?: number;
}

/** A step, and since when the job is in its phase (ms since the epoch). */
export interface JobProgress extends JobStep {
  readonly since: number;
}

export function stepOfBuild({ phase, bytesDone, bytesTotal }: BuildProgress): JobStep {
  return { phase, done: bytesDone, total: bytesTotal, unit: 'bytes' };
}

export function stepOfFetch({ phase, doneCount, totalCount, receivedSize }: FetchStep): JobStep {
  const received = receivedSize === undefined ? {} : { receivedSize };
  return { phase, done: doneCount, total: totalCount, unit: 'objects', ...received };
}

/** Phases in which what is left takes about as long, each, as what is done. */
const EVEN: readonly JobStep['phase'][] = ['receiving', 'resolving', 'reading'];

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
