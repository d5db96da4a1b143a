// Health: one line that says whether all is well, and what the index and its jobs stand at.

import { useQuery } from '@tanstack/react-query';
import type { getReady, getVersion } from '../../http/api/instance/system-endpoints.ts';
import type { getRepoSyncCounts, listJobs } from '../../http/api/sources/job-endpoints.ts';
import { call, callPage } from '../data/api.ts';
import { BASE_PATH } from '../data/place.ts';
import { DataTable } from '../parts/data-table.tsx';
import { Notice } from '../parts/notice.tsx';
import { When } from '../parts/when.tsx';
import { count } from '../parts/words.ts';

const LOOK_MS = 5000;

function AllWell() {
  const ready = useQuery({
    queryKey: ['ready'],
    queryFn: ({ signal }) => call<typeof getReady>('/api/ready', { base: BASE_PATH, signal }),
    refetchInterval: LOOK_MS,
  });
  const repos = useQuery({
    queryKey: ['repo-counts'],
    queryFn: ({ signal }) =>
      call<typeof getRepoSyncCounts>('/api/repository-sync-counts', { base: BASE_PATH, signal }),
    refetchInterval: LOOK_MS,
  });
  const version = useQuery({
    queryKey: ['version'],
    queryFn: ({ signal }) => call<typeof getVersion>('/api/version', { base: BASE_PATH, signal }),
  });
  if (ready.error !== null) return <Notice kind="danger" title={ready.error.message} />;
  if (ready.data === undefined) return null;
  const { degraded = [], shards = 0, repositories = 0, quarantinedShards = 0 } = ready.data;
  const failed = repos.data?.failedCount ?? 0;
  const faults = [
    ...degraded,
    ...(quarantinedShards > 0
      ? [`${count(quarantinedShards)} parts of the index are out of service`]
      : []),
    ...(failed > 0 ? [`${count(failed)} repositories failed`] : []),
  ];
  return (
    <>
      {faults.length === 0 ? (
        <Notice kind="ok" title="All well" />
      ) : (
        faults.map((fault) => <Notice key={fault} kind="warn" title={fault} />)
      )}
      <dl className="facts">
        <dt>Version</dt>
        <dd>{version.data?.version}</dd>
        <dt>Shards</dt>
        <dd>{count(shards)}</dd>
        <dt>Repositories</dt>
        <dd>{count(repositories)}</dd>
        <dt>Indexed for the first time</dt>
        <dd>{count(repos.data?.firstTimeIndexingCount ?? 0)} to do</dd>
      </dl>
    </>
  );
}

export function Health() {
  const { data, error, refetch } = useQuery({
    queryKey: ['jobs'],
    queryFn: ({ signal }) =>
      callPage<typeof listJobs>('/api/jobs', { base: BASE_PATH, query: { perPage: 30 }, signal }),
    refetchInterval: LOOK_MS,
  });
  return (
    <>
      <AllWell />
      <section>
        <h2>Jobs</h2>
        <DataTable
          label="Jobs"
          rows={data?.items}
          keyOf={({ id, queue }) => `${queue} ${id}`}
          error={error}
          retry={() => void refetch()}
          empty="No jobs."
          columns={[
            { name: 'Job', cell: (row) => <code>{row.id}</code> },
            { name: 'Queue', cell: (row) => row.queue },
            { name: 'State', cell: (row) => row.status },
            { name: 'Begun', cell: (row) => <When at={row.startedAt} /> },
            { name: 'Ended', cell: (row) => <When at={row.finishedAt} never="" /> },
            { name: 'Why', cell: (row) => row.errorMessage },
          ]}
        />
      </section>
    </>
  );
}
