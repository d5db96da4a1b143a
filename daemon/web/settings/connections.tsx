// Connections: where repositories come from. Lists the last sync of each, its progress, its issues with their fixes,
// and its log.

import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { listConnections } from '../../api/jobs/connection-endpoints.ts';
import { useAddressParameters } from '../data/address-parameters.ts';
import { type AnswerOf, call } from '../data/api.ts';
import { JobLog } from '../jobs/job-log.tsx';
import { State } from '../jobs/job-state.tsx';
import { useConnectionStatuses, useSyncNow } from '../jobs/job-queries.ts';
import type { ConnectionStatus, Job } from '../jobs/job-queries.ts';
import { useConnectionCounts } from '../jobs/index-health.ts';
import { DataTable } from '../parts/data-table.tsx';
import { Detail } from '../parts/detail.tsx';
import { visibleName } from '../parts/hidden-characters.ts';
import { Notice } from '../parts/notice.tsx';
import { Name } from '../parts/visible-text.tsx';
import { When } from '../parts/when.tsx';
import { count, counted } from '../parts/number-format.ts';

type Connection = AnswerOf<typeof listConnections>[number];
interface Row extends Connection {
  readonly status: ConnectionStatus | undefined;
}

/** Something that a sync could not do. */
interface Issue {
  readonly code: string;
  readonly target: string;
  readonly effect: string;
  readonly message: string;
}

function isIssue(value: unknown): value is Issue {
  return (
    typeof value === 'object' &&
    value !== null &&
    ['code', 'target', 'effect', 'message'].every(
      (name) => typeof Object.entries(value).find(([one]) => one === name)?.[1] === 'string',
    )
  );
}

function issuesOf(job: Job | null | undefined): readonly Issue[] {
  const issues = job?.result?.['issues'];
  return Array.isArray(issues) ? issues.filter(isIssue) : [];
}

function listedCount(job: Job | null | undefined): number | undefined {
  const listed = job?.result?.['repositories'];
  return typeof listed === 'number' ? listed : undefined;
}

const STATES = {
  PENDING: { kind: 'waiting', word: 'Waiting' },
  IN_PROGRESS: { kind: 'running', word: 'Syncing' },
  FAILED: { kind: 'failed', word: 'Failed' },
} as const;

/** Did the last sync fail or have issues? */
function isOpen({ status }: Row): boolean {
  const job = status?.latestJob;
  return (
    job?.status === 'FAILED' || (job?.errorMessage ?? null) !== null || issuesOf(job).length > 0
  );
}

/** Is it a local repository? It is watched, never synced. */
function isSource({ connectionType, name }: Connection): boolean {
  return connectionType === 'git' && name.startsWith('local/');
}

function ConnectionState({ row }: { readonly row: Row }) {
  if (isSource(row)) return <State kind="ready" word="Watched" />;
  const job = row.status?.latestJob;
  if (job === null || job === undefined) return null;
  if (job.status === 'PENDING' && job.errorMessage !== null)
    return <State kind="failed" word="Failed, will be retried" />;
  if (job.status !== 'COMPLETED') return <State {...STATES[job.status]} job={job} />;
  const issueCount = issuesOf(job).length;
  if (issueCount === 0) return <State kind="ready" word="Up to date" />;
  return <State kind="failed" word={`Incomplete: ${counted(issueCount, 'issue')}`} />;
}

function Banners() {
  const { data: counts } = useConnectionCounts();
  const { firstTimeSyncingCount: first = 0, failedCount = 0, warningCount = 0 } = counts ?? {};
  return (
    <div className="banners">
      {failedCount > 0 && (
        <Notice kind="danger" title={`${counted(failedCount, 'connection')} failed.`}>
          <Link href="/settings/health?state=FAILED">Failed jobs and their logs</Link>
        </Notice>
      )}
      {warningCount > 0 && (
        <Notice
          kind="warn"
          title={`${counted(warningCount, 'connection')} synced only in part. Nothing is removed until this is fixed.`}
        />
      )}
      {first > 0 && (
        <Notice
          kind="info"
          title={`Syncing ${counted(first, 'connection')} for the first time. You can search what is ready.`}
        />
      )}
    </div>
  );
}

const EFFECTS: Readonly<Record<string, string>> = {
  TARGET_SKIPPED: 'skipped',
  DISCOVERY_INCOMPLETE: 'list may be incomplete',
};

function Issues({ issues }: { readonly issues: readonly Issue[] }) {
  return (
    <section>
      <h3>Issues {count(issues.length)}</h3>
      <DataTable
        label="Issues"
        rows={issues}
        keyOf={({ code, target, message }) => `${code} ${target} ${message}`}
        empty="None."
        columns={[
          { name: 'Target', cell: (row) => <Name>{row.target}</Name> },
          { name: 'Effect', cell: (row) => EFFECTS[row.effect] ?? row.effect },
          { name: 'Cause and fix', cell: (row) => <Name>{row.message}</Name> },
        ]}
      />
    </section>
  );
}

function About({ row, close }: { readonly row: Row; readonly close: () => void }) {
  const job = row.status?.latestJob;
  const trouble = row.trouble ?? job?.errorMessage ?? undefined;
  const issues = issuesOf(job);
  const listed = listedCount(job);
  const readers = row.status?.readers;
  return (
    <Detail
      name={row.name}
      close={close}
      head={
        <>
          <ConnectionState row={row} />
          {listed !== undefined && (
            <span className="faint">{counted(listed, 'repository', 'repositories')}</span>
          )}
          {readers !== undefined && (
            <span className="faint">
              {`${count(readers.known)} of ${counted(readers.count, 'reader')} known`}
            </span>
          )}
        </>
      }
      buttons={
        <Link href={`/repos?connectionId=${row.id}`} className="button">
          Repositories
        </Link>
      }
    >
      {trouble !== undefined && (
        <Notice kind="danger" title={trouble}>
          Trawl retries automatically. Run `trawl config check --online` to see what the host
          answers.
        </Notice>
      )}
      {issues.length > 0 && <Issues issues={issues} />}
      {job !== null && job !== undefined && <JobLog key={job.id} job={job} />}
      {isSource(row) && (
        <p className="faint">
          This is a local repository. Trawl watches it instead of syncing it. Its state is on the
          page Repositories.
        </p>
      )}
    </Detail>
  );
}

export function Connections() {
  const { valueOf, change } = useAddressParameters(['page', 'open']);
  const reading = useQuery({
    queryKey: ['connections'],
    queryFn: ({ signal }) => call<typeof listConnections>('/api/connections', { signal }),
  });
  const statuses = useConnectionStatuses((reading.data ?? []).map(({ id }) => id));
  const sync = useSyncNow();
  const byId = new Map(statuses.data?.map((status) => [status.connectionId, status]));
  // Connections that need attention come first.
  const rows = reading.data
    ?.map((one) => ({ ...one, status: byId.get(one.id) }))
    .toSorted((a, b) => Number(isOpen(b)) - Number(isOpen(a)));
  const opened = rows?.find(({ id }) => String(id) === valueOf('open'));
  const columns = [
    { name: 'Name', cell: (row: Row) => <Name>{row.name}</Name> },
    { name: 'Type', cell: (row: Row) => (isSource(row) ? 'this machine' : row.connectionType) },
    { name: 'State', cell: (row: Row) => <ConnectionState row={row} /> },
    {
      name: 'Last synced',
      cell: ({ status }: Row) => (
        <When at={status?.syncedAt} never={status?.latestJob ? 'never' : ''} />
      ),
    },
    {
      name: 'Actions',
      cell: (row: Row) => (
        <span className="button-row">
          {!isSource(row) && (
            <button
              type="button"
              className="button"
              disabled={sync.isPending}
              aria-label={`Sync now: ${visibleName(row.name)}`}
              onClick={() => sync.mutate(row.id)}
            >
              Sync now
            </button>
          )}
          <button
            type="button"
            className="button"
            aria-expanded={row === opened}
            aria-label={`About ${visibleName(row.name)}`}
            onClick={() => change({ open: row === opened ? '' : String(row.id) })}
          >
            About
          </button>
        </span>
      ),
    },
  ];
  return (
    <>
      <Banners />
      {sync.error !== null && <Notice kind="danger" title={sync.error.message} />}
      {opened !== undefined && (
        <About key={opened.id} row={opened} close={() => change({ open: '' })} />
      )}
      <DataTable<Row>
        label="Connections"
        rows={rows}
        keyOf={({ id }) => id}
        reading={reading.error === null ? statuses : reading}
        empty="No connections. Add code hosts to the configuration file. `trawl config schema` describes its format."
        columns={columns}
      />
    </>
  );
}
