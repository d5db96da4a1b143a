// Times and counts of connections, as the settings say them.

import type { Settings } from '../../base/config/settings.ts';
import type { ConnectionLimits } from './connections.ts';

/** @param attemptsMax  1: whoever asks hears of a failure, and asks again */
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
