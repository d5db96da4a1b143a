// Health: one line if all is well, otherwise the problems and what to do; charts; quarantined shards; jobs.

import { useState } from 'react';
import { Link } from 'wouter';
import { useAddressParameters } from '../data/address-parameters.ts';
import { JobLog } from '../jobs/job-log.tsx';
import { JobState } from '../jobs/job-state.tsx';
import { type Job, JOBS_PER_PAGE, useJobs } from '../jobs/job-queries.ts';
import { type Ready, useConnectionCounts, useReady, useRepoCounts } from '../jobs/index-health.ts';
import { DataTable } from '../parts/data-table.tsx';
import { Notice } from '../parts/notice.tsx';
import { Name, VisibleText } from '../parts/visible-text.tsx';
import { When } from '../parts/when.tsx';
import { count, counted, size } from '../parts/number-format.ts';
import { HealthCharts } from './health-charts.tsx';

interface Fault {
  readonly text: string;
  /** Where to fix it, or to see more. */
  readonly step: { readonly label: string; readonly href: string };
}

const LOG_STEP = { label: 'Show jobs and logs', href: '#jobs' };

/** The next step for a problem that the daemon reports, by its subject. */
function stepOf(sentence: string): Fault['step'] {
  if (sentence.startsWith('connection '))
    return { label: 'Connections', href: '/settings/connections' };
  if (/^\d+ (?:more )?repositories|could not be indexed/.test(sentence))
    return { label: 'Repositories', href: '/repos' };
  return LOG_STEP;
}

function connectionFaults(failed: number, open: number): string {
  if (failed === 0) return `${counted(open, 'connection')} could not be fully synced.`;
  const more = open === 0 ? '' : `, ${count(open)} could not be fully synced`;
  return `${counted(failed, 'connection')} failed${more}.`;
}

function useFaults(ready: Ready): Fault[] {
  const { data: repos } = useRepoCounts();
  const { data: connections } = useConnectionCounts();
  const { degraded = [], quarantinedShards = 0 } = ready;
  const failed = repos?.failedCount ?? 0;
  const failedConnections = connections?.failedCount ?? 0;
  const open = connections?.warningCount ?? 0;
  return [
    ...(quarantinedShards === 0
      ? []
      : [
          {
            text: `${counted(quarantinedShards, 'shard')} quarantined. Affected files are being indexed again.`,
            step: { label: 'Show', href: '#quarantine' },
          },
        ]),
    ...(failed === 0
      ? []
      : [
          {
            text: `${counted(failed, 'repository', 'repositories')} failed.`,
            step: { label: 'Show', href: '/repos?state=failed' },
          },
        ]),
    ...(failedConnections + open === 0
      ? []
      : [
          {
            text: connectionFaults(failedConnections, open),
            step: { label: 'Show', href: '/settings/connections' },
          },
        ]),
    ...degraded.map((text) => ({ text, step: stepOf(text) })),
  ];
}

function Step({ step: { label, href } }: Pick<Fault, 'step'>) {
  if (href.startsWith('#')) return <a href={href}>{label}</a>;
  return <Link href={href}>{label}</Link>;
}

function Standing({ ready, shards }: { readonly ready: Ready; readonly shards: number }) {
  const faults = useFaults(ready);
  const { repositories = 0 } = ready;
  const all = `${counted(shards, 'shard')}, ${counted(repositories, 'repository', 'repositories')}`;
  if (faults.length === 0) return <Notice kind="ok" title={`Healthy · ${all}`} />;
  return (
    <>
      <p className="faint">{all}</p>
      {faults.map(({ text, step }) => (
        <Notice key={text} kind="warn" title={text}>
          <Step step={step} />
        </Notice>
      ))}
    </>
  );
}

function Quarantine({ shards }: { readonly shards: NonNullable<Ready['quarantine']> }) {
  return (
    <section id="quarantine">
      <h2>Quarantined shards</h2>
      <DataTable
        label="Quarantined shards"
        rows={shards}
        keyOf={({ shardId }) => shardId}
        empty="None."
        columns={[
          { name: 'Shard', cell: (row) => <code>{row.shardId.slice(0, 16)}</code> },
          { name: 'Repositories', cell: (row) => <Name>{row.repositories.join(', ')}</Name> },
          { name: 'Size', cell: (row) => size(row.bytes), isNumber: true },
          {
            name: 'Reason',
            cell: (row) => (
              <span className="why">
                <VisibleText text={row.reason} />
              </span>
            ),
          },
        ]}
      />
    </section>
  );
}

const STATUSES = ['IN_PROGRESS', 'PENDING', 'FAILED', 'COMPLETED'] as const;
const STATUS_WORDS: Readonly<Record<string, string>> = {
  IN_PROGRESS: 'running',
  PENDING: 'waiting',
  FAILED: 'failed',
  COMPLETED: 'done',
};

function Jobs() {
  const [jobId, setJobId] = useState<string>();
  const { page, valueOf, change, go } = useAddressParameters(['state', 'page', 'window']);
  const status = valueOf('state');
  const reading = useJobs(status, page);
  const job: Job | undefined = reading.data?.items.find(({ id }) => id === jobId);
  return (
    <section id="jobs">
      <div className="page-head">
        <h2>Jobs</h2>
        <select
          className="input page-filter"
          aria-label="State"
          value={status ?? ''}
          onChange={(event) => change({ state: event.target.value }, 'step')}
        >
          <option value="">all</option>
          {STATUSES.map((one) => (
            <option key={one} value={one}>
              {STATUS_WORDS[one]}
            </option>
          ))}
        </select>
      </div>
      <DataTable
        label="Jobs"
        rows={reading.data?.items}
        keyOf={({ id, queue }) => `${queue} ${id}`}
        reading={reading}
        empty={status === undefined ? 'No jobs yet.' : 'No jobs in this state.'}
        columns={[
          { name: 'Queue', cell: (row) => row.queue },
          { name: 'State', cell: (row) => <JobState job={row} /> },
          { name: 'Created', cell: (row) => <When at={row.createdAt} /> },
          { name: 'Finished', cell: (row) => <When at={row.finishedAt} never="" /> },
          {
            name: 'Error',
            cell: (row) => (
              <span className="why">
                <VisibleText text={row.errorMessage ?? ''} />
              </span>
            ),
          },
          {
            name: 'Actions',
            cell: ({ id }) => (
              <button
                type="button"
                className="button"
                aria-expanded={id === jobId}
                onClick={() => setJobId(id === jobId ? undefined : id)}
              >
                Log
              </button>
            ),
          },
        ]}
        pages={{ page, perPage: JOBS_PER_PAGE, total: reading.data?.total, go }}
      />
      {job !== undefined && <JobLog key={job.id} job={job} />}
    </section>
  );
}

export function Health() {
  const { data: ready, error, refetch } = useReady();
  return (
    <>
      {error !== null && (
        <Notice
          kind="danger"
          title={error.message}
          action={{ label: 'Try again', run: () => void refetch() }}
        />
      )}
      {ready?.shards === undefined ? (
        <p className="standing-due" />
      ) : (
        <Standing ready={ready} shards={ready.shards} />
      )}
      <HealthCharts />
      {ready?.quarantine !== undefined && <Quarantine shards={ready.quarantine} />}
      <Jobs />
    </>
  );
}
