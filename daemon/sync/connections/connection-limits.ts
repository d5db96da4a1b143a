// Times and counts of connections, as the settings say them.

import type { ConnectionLimits } from './connections.ts';

/** The settings that there are not yet have these values (API.md 19.3). */
const DEFAULTS = {
  reindexIntervalMs: 3_600_000,
  resyncConnectionIntervalMs: 86_400_000,
  maxConnectionSyncJobConcurrency: 8,
  maxRepoGarbageCollectionJobConcurrency: 8,
  repoGarbageCollectionGracePeriodMs: 10_000,
};

/** @param attemptsMax  1: whoever asks hears of a failure, and asks again */
export function connectionLimitsOf(
  settings: Partial<typeof DEFAULTS> & { readonly repoIndexTimeoutMs: number },
  attemptsMax: number,
): ConnectionLimits {
  const all = { ...DEFAULTS, ...settings };
  const { repoIndexTimeoutMs: timeoutMs } = settings;
  return {
    ...all,
    fetchTimeoutMs: timeoutMs,
    syncJobs: { runningMax: all.maxConnectionSyncJobConcurrency, timeoutMs, attemptsMax },
    cleanupJobs: { runningMax: all.maxRepoGarbageCollectionJobConcurrency, timeoutMs, attemptsMax },
  };
}
