// Queries for jobs. Jobs in progress are polled every second.

import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import type {
  getConnectionSyncStatus,
  triggerConnectionSync,
} from '../../api/jobs/connection-endpoints.ts';
import type {
  getJobLogs,
  getRepoIndexStatus,
  listJobs,
  triggerRepoIndex,
} from '../../api/jobs/job-endpoints.ts';
import { type AnswerOf, call, callPage } from '../data/api.ts';
import { POLLED, pollMs } from '../data/polling.ts';
import { queryClient } from '../data/session.ts';

export type Job = AnswerOf<typeof listJobs>[number];
export type RepoStatus = AnswerOf<typeof getRepoIndexStatus>['repositories'][number];
export type ConnectionStatus = AnswerOf<typeof getConnectionSyncStatus>['connections'][number];
export type LogLine = AnswerOf<typeof getJobLogs>['logs'][number];

/** Ids in one request. */
const IDS_MAX = 100;
/** Lines that the daemon keeps of a job. */
const LINES_MAX = 500;

export function isActive(job: Pick<Job, 'status'> | null | undefined): boolean {
  return job?.status === 'IN_PROGRESS' || job?.status === 'PENDING';
}

/** Statuses by id, fetched again every second while a job is active. */
function useStatuses<Status extends Pick<RepoStatus, 'latestJob'>>(
  name: string,
  ids: readonly number[],
  load: (ids: number[], signal: AbortSignal) => Promise<Status[]>,
) {
  return useQuery<Status[]>({
    queryKey: [name, ids],
    queryFn: async ({ signal }) => {
      const statuses: Status[] = [];
      for (let from = 0; from < ids.length; from += IDS_MAX)
        statuses.push(...(await load(ids.slice(from, from + IDS_MAX), signal)));
      return statuses;
    },
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
    ...POLLED,
    refetchInterval: ({ state }) =>
      pollMs(state.data?.some(({ latestJob }) => isActive(latestJob)) === true),
  });
}

export function useRepoStatuses(ids: readonly number[]) {
  return useStatuses('repo-status', ids, async (repoIds, signal) => {
    const options = { method: 'POST', body: { repoIds }, signal };
    return (await call<typeof getRepoIndexStatus>('/api/repo-index-status', options)).repositories;
  });
}

export function useConnectionStatuses(ids: readonly number[]) {
  return useStatuses('connection-status', ids, async (connectionIds, signal) => {
    const options = { method: 'POST', body: { connectionIds }, signal };
    const path = '/api/connection-sync-status';
    return (await call<typeof getConnectionSyncStatus>(path, options)).connections;
  });
}

interface JobLog {
  readonly lines: readonly LogLine[];
  /** Number of lines written so far. */
  readonly count: number;
}

/** The log of a job. Each fetch gets only the new lines. */
export function useJobLog({ queue, id: jobId, status }: Job) {
  const key = ['job-log', queue, jobId];
  return useQuery({
    queryKey: key,
    queryFn: async ({ signal }): Promise<JobLog> => {
      const { lines, count } = queryClient.getQueryData<JobLog>(key) ?? { lines: [], count: 0 };
      const body = { queue, jobId, offset: count };
      const options = { method: 'POST', body, signal };
      const more = await call<typeof getJobLogs>('/api/job-logs', options);
      return { lines: [...lines, ...more.logs].slice(-LINES_MAX), count: more.count };
    },
    ...POLLED,
    refetchInterval: () => pollMs(isActive({ status })),
  });
}

export const JOBS_PER_PAGE = 20;

/** @param status  undefined: all */
export function useJobs(status: string | undefined, page: number) {
  return useQuery({
    queryKey: ['jobs', status, page],
    queryFn: ({ signal }) =>
      callPage<typeof listJobs>('/api/jobs', {
        query: { status, page, perPage: JOBS_PER_PAGE },
        signal,
      }),
    placeholderData: (before) => before,
    ...POLLED,
    refetchInterval: ({ state }) => pollMs(state.data?.items.some(isActive) === true),
  });
}

/** Refetches everything that jobs change. */
function refetchAll(): Promise<void> {
  const names = [
    'repo-status',
    'connection-status',
    'connections',
    'repos',
    'jobs',
    'counts',
    'ready',
  ];
  return queryClient.invalidateQueries({
    predicate: ({ queryKey: [name] }) => names.includes(String(name)),
  });
}

export function useIndexNow() {
  return useMutation({
    mutationFn: (repoId: number) =>
      call<typeof triggerRepoIndex>(`/api/repos/${repoId}/index`, { method: 'POST' }),
    onSettled: refetchAll,
  });
}

export function useSyncNow() {
  return useMutation({
    mutationFn: (connectionId: number) =>
      call<typeof triggerConnectionSync>(`/api/connections/${connectionId}/sync`, {
        method: 'POST',
      }),
    onSettled: refetchAll,
  });
}
