// How many jobs run at a time, and for how long: from the settings and the machine's resources.

import { availableParallelism, totalmem } from 'node:os';
import type { Settings } from '../../base/config/settings.ts';

export interface JobLimits {
  readonly runningMax: number;
  /** Of one attempt. */
  readonly timeoutMs: number;
  readonly attemptsMax: number;
}

/** Bytes, within the container's limit; 0: no limit. */
const allowed = process.constrainedMemory();
const MACHINE_MEMORY = allowed > 0 ? Math.min(allowed, totalmem()) : totalmem();

/** @param attemptsMax  1: the caller sees each failure and decides about a retry */
export function jobLimitsOf(
  { maxRepoIndexingJobConcurrency: configured, repoIndexTimeoutMs: timeoutMs }: Settings,
  attemptsMax: number,
): JobLimits {
  // Guess: a job waits for git and the disk about as long as it computes, and the file lists of a large repo take 1 GiB.
  const cores = 2 * availableParallelism();
  const capacity = Math.max(1, Math.floor(MACHINE_MEMORY / 2 ** 30));
  return { runningMax: Math.min(configured, cores, capacity), timeoutMs, attemptsMax };
}

export interface ConnectionLimits {
  readonly reindexIntervalMs: number;
  readonly resyncConnectionIntervalMs: number;
  readonly repoGarbageCollectionGracePeriodMs: number;
  readonly syncJobs: JobLimits;
  readonly cleanupJobs: JobLimits;
  /** Of one fetch. */
  readonly fetchTimeoutMs: number;
}

/** @param attemptsMax  1: the caller sees each failure and decides about a retry */
export function connectionLimitsOf(settings: Settings, attemptsMax: number): ConnectionLimits {
  const { repoIndexTimeoutMs: timeoutMs } = settings;
  const jobs = (runningMax: number) => ({ runningMax, timeoutMs, attemptsMax });
  return {
    ...settings,
    fetchTimeoutMs: timeoutMs,
    syncJobs: jobs(settings.maxConnectionSyncJobConcurrency),
    cleanupJobs: jobs(settings.maxRepoGarbageCollectionJobConcurrency),
  };
}
