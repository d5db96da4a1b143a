// The state of the whole index, for owners: what fails, and what is still to do.

import { useQuery } from '@tanstack/react-query';
import type { getReady } from '../../api/instance/system-endpoints.ts';
import type { getConnectionSyncCounts } from '../../api/jobs/connection-endpoints.ts';
import type { getRepoSyncCounts } from '../../api/jobs/job-endpoints.ts';
import { type AnswerOf, call } from '../data/api.ts';
import { POLLED } from '../data/polling.ts';

const NOW_AND_THEN = { ...POLLED, refetchInterval: 5000 } as const;

export type Ready = AnswerOf<typeof getReady>;

export function useReady() {
  return useQuery({
    queryKey: ['ready'],
    queryFn: ({ signal }) => call<typeof getReady>('/api/ready', { signal }),
    ...NOW_AND_THEN,
  });
}

/** @param isOn  false for users who are not owners */
export function useRepoCounts(isOn = true) {
  return useQuery({
    queryKey: ['counts', 'repos'],
    queryFn: ({ signal }) =>
      call<typeof getRepoSyncCounts>('/api/repository-sync-counts', { signal }),
    enabled: isOn,
    ...NOW_AND_THEN,
  });
}

export function useConnectionCounts(isOn = true) {
  return useQuery({
    queryKey: ['counts', 'connections'],
    queryFn: ({ signal }) =>
      call<typeof getConnectionSyncCounts>('/api/connection-sync-counts', { signal }),
    enabled: isOn,
    ...NOW_AND_THEN,
  });
}
