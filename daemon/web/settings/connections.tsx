// Connections: where repositories come from, when each was last listed, what its last job says, and its log.

import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type {
  getConnectionSyncStatus,
  listConnections,
  triggerConnectionSync,
} from '../../http/api/sources/connection-endpoints.ts';
import type { getJobLogs } from '../../http/api/sources/job-endpoints.ts';
import { call } from '../data/api.ts';
import type { AnswerOf } from '../data/api.ts';
import { BASE_PATH } from '../data/place.ts';
import { queryClient } from '../data/session.ts';
import { DataTable } from '../parts/data-table.tsx';
import { Notice } from '../parts/notice.tsx';
import { When } from '../parts/when.tsx';

type Connection = AnswerOf<typeof listConnections>[number];
type Status = AnswerOf<typeof getConnectionSyncStatus>['connections'][number];
type Job = NonNullable<Status['latestJob']>;
interface Row extends Connection {
  readonly status: Status | undefined;
}

/** Connections whose states are asked for at a time: as many as a request takes. */
const ASKED_MAX = 100;
const LOOK_MS = 2000;

function useStatuses(ids: readonly number[]) {
  return useQuery({
    queryKey: ['connection-status', ids],
    queryFn: ({ signal }) =>
      call<typeof getConnectionSyncStatus>('/api/connection-sync-status', {
        base: BASE_PATH,
        method: 'POST',
        body: { connectionIds: ids.slice(0, ASKED_MAX) },
        signal,
      }),
    enabled: ids.length > 0,
    refetchInterval: LOOK_MS,
    placeholderData: (before) => before,
  });
}

function Log({ job }: { readonly job: Job }) {
  const { data, error } = useQuery({
    queryKey: ['job-log', job.id],
    queryFn: ({ signal }) =>
      call<typeof getJobLogs>('/api/job-logs', {
        base: BASE_PATH,
        method: 'POST',
        body: { queue: job.queue, jobId: job.id },
        signal,
      }),
    refetchInterval: LOOK_MS,
  });
  if (error !== null) return <Notice kind="danger" title={error.message} />;
  return (
    <section aria-label={`Log of job ${job.id}`}>
      <h2>Log of job {job.id}</h2>
      <div className="log" tabIndex={0} role="log">
        {data?.logs.map(({ timestamp, level, message }, index) => (
          <div key={index} className={`log-line log-${level}`}>
            <time dateTime={timestamp}>{timestamp.slice(11, 19)}</time> {level} <bdi>{message}</bdi>
          </div>
        ))}
        {data?.logs.length === 0 && <p className="faint">No lines.</p>}
      </div>
    </section>
  );
}

const STATES: Readonly<Record<Job['status'], string>> = {
  PENDING: 'Waiting',
  IN_PROGRESS: 'Syncing',
  COMPLETED: 'In step',
  FAILED: 'Failed',
};

export function Connections() {
  const [shown, setShown] = useState<Job>();
  const { data, error, refetch } = useQuery({
    queryKey: ['connections'],
    queryFn: ({ signal }) =>
      call<typeof listConnections>('/api/connections', { base: BASE_PATH, signal }),
  });
  const { data: statuses } = useStatuses((data ?? []).map(({ id }) => id));
  const byId = new Map(statuses?.connections.map((status) => [status.connectionId, status]));
  const sync = useMutation({
    mutationFn: (id: number) =>
      call<typeof triggerConnectionSync>(`/api/connections/${id}/sync`, {
        base: BASE_PATH,
        method: 'POST',
      }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['connection-status'] }),
  });
  return (
    <>
      {sync.error !== null && <Notice kind="danger" title={sync.error.message} />}
      <DataTable<Row>
        label="Connections"
        rows={data?.map((one) => ({ ...one, status: byId.get(one.id) }))}
        keyOf={({ id }) => id}
        error={error}
        retry={() => void refetch()}
        empty="No connections. Name code hosts in a configuration file: trawl config schema."
        columns={[
          { name: 'Name', cell: (row) => <bdi>{row.name}</bdi> },
          { name: 'Type', cell: (row) => row.connectionType },
          {
            name: 'State',
            cell: ({ status }) =>
              status?.latestJob === null || status === undefined
                ? ''
                : STATES[status.latestJob.status],
          },
          { name: 'Listed', cell: ({ status }) => <When at={status?.syncedAt} /> },
          { name: 'Why', cell: ({ status }) => status?.latestJob?.errorMessage ?? '' },
          {
            name: 'Do',
            cell: ({ id, status }) => {
              const job = status?.latestJob;
              return (
                <span className="state">
                  <button type="button" className="button" onClick={() => sync.mutate(id)}>
                    Sync now
                  </button>
                  {job !== null && job !== undefined && (
                    <button type="button" className="button" onClick={() => setShown(job)}>
                      Log
                    </button>
                  )}
                </span>
              );
            },
          },
        ]}
      />
      {shown !== undefined && <Log job={shown} />}
    </>
  );
}
