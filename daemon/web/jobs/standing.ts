// How the whole index stands, for owners: what does not work, and what is still to be done.

import { useQuery } from '@tanstack/react-query';
import type { getReady } from '../../http/api/instance/system-endpoints.ts';
import type { getConnectionSyncCounts } from '../../http/api/jobs/connection-endpoints.ts';
import type { getRepoSyncCounts } from '../../http/api/jobs/job-endpoints.ts';
import { call } from '../data/api.ts';
import type { AnswerOf } from '../data/api.ts';
import { LOOKING } from '../data/looking.ts';
import { BASE_PATH } from '../data/place.ts';

const LOOK_MS = 5000;

export type Ready = AnswerOf<typeof getReady>;

export function useReady() {
  return useQuery({
    queryKey: ['ready'],
    queryFn: ({ signal }) => call<typeof getReady>('/api/ready', { base: BASE_PATH, signal }),
    ...LOOKING,
    refetchInterval: LOOK_MS,
  });
}

/** @param isOn  they are for owners */
export function useRepoCounts(isOn = true) {
  return useQuery({
    queryKey: ['counts', 'repos'],
    queryFn: ({ signal }) =>
      call<typeof getRepoSyncCounts>('/api/repository-sync-counts', { base: BASE_PATH, signal }),
    enabled: isOn,
    ...LOOKING,
    refetchInterval: LOOK_MS,
  });
}

export function useConnectionCounts(isOn = true) {
  return useQuery({
    queryKey: ['counts', 'connections'],
    queryFn: ({ signal }) =>
      call<typeof getConnectionSyncCounts>('/api/connection-sync-counts', {
        base: BASE_PATH,
        signal,
      }),
    enabled: isOn,
    ...LOOKING,
    refetchInterval: LOOK_MS,
  });
}
