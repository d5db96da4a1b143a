// Time limits and counts for connections, from the settings.

import type { Settings } from '../../base/config/settings.ts';
import type { ConnectionLimits } from './connections.ts';

/** @param attemptsMax  1: the caller sees each failure and decides about a retry */
export function connectionLimitsOf(
  settings: Pick<
    Settings,
    | 'reindexIntervalMs'
    | 'resyncConnectionIntervalMs'
    | 'maxConnectionSyncJobConcurrency'
    | 'maxRepoGarbageCollectionJobConcurrency'
    | 'repoGarbageCollectionGracePeriodMs'
    | 'repoIndexTimeoutMs'
  >,
  attemptsMax: number,
): ConnectionLimits {
  const { repoIndexTimeoutMs: timeoutMs } = settings;
  const jobs = (runningMax: number) => ({ runningMax, timeoutMs, attemptsMax });
  return {
    ...settings,
    fetchTimeoutMs: timeoutMs,
    syncJobs: jobs(settings.maxConnectionSyncJobConcurrency),
    cleanupJobs: jobs(settings.maxRepoGarbageCollectionJobConcurrency),
  };
}
