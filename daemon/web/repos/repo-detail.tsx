// Details of one repository: times of the last check and indexing, the last job with its log, and the files that are
// not searched.

import { Link } from 'wouter';
import { addressOf } from '../browse/address.ts';
import { JobLog } from '../jobs/job-log.tsx';
import { JobState } from '../jobs/job-state.tsx';
import { type Job, type RepoStatus, useIndexNow, useRepoStatuses } from '../jobs/job-queries.ts';
import { Detail } from '../parts/detail.tsx';
import { HostLink } from '../parts/host-link.tsx';
import { Notice } from '../parts/notice.tsx';
import { When } from '../parts/when.tsx';
import { count, size } from '../parts/number-format.ts';
import type { Repo } from './repo-queries.ts';
import { SkippedFiles } from './skipped-files.tsx';

/** Counts by name from a job's result. */
function countsIn(job: Job | null | undefined, name: string): Readonly<Record<string, number>> {
  const found = job?.result?.[name];
  if (typeof found !== 'object' || found === null) return {};
  return Object.fromEntries(
    Object.entries(found).filter((pair): pair is [string, number] => typeof pair[1] === 'number'),
  );
}

function warningsIn(job: Job | null | undefined): readonly string[] {
  const found = job?.result?.['warnings'];
  return Array.isArray(found) ? found.filter((one) => typeof one === 'string') : [];
}

interface FactsProps {
  readonly repo: Repo;
  readonly status: RepoStatus | undefined;
}

/** The version of the text that searches find. */
function IndexedText({ repo, status }: FactsProps) {
  if (repo.indexedAt === undefined || status === undefined) return null;
  const { indexedCommitHash: hash } = status;
  if (hash === null) return ', from the files on disk';
  const address = addressOf({
    repo: repo.repoName,
    revision: undefined,
    kind: 'commit',
    path: hash,
  });
  return (
    <>
      {' '}
      at{' '}
      <Link href={address}>
        <code>{hash.slice(0, 7)}</code>
      </Link>
    </>
  );
}

function Facts({ repo, status }: FactsProps) {
  const isHosted = repo.codeHostType !== 'genericGitHost' || typeof status?.askedAt === 'string';
  const ignored = Object.entries(countsIn(status?.latestJob, 'ignored'));
  return (
    <dl className="facts">
      {isHosted && (
        <>
          <dt>Last checked at host</dt>
          <dd>
            <When at={status?.askedAt} never={status === undefined ? '' : 'never'} />
          </dd>
        </>
      )}
      <dt>Indexed</dt>
      <dd>
        <When at={repo.indexedAt} />
        <IndexedText repo={repo} status={status} />
      </dd>
      {repo.docs !== undefined && (
        <>
          <dt>Files</dt>
          <dd>
            {count(repo.docs)}, {size(repo.contentBytes ?? 0)}
            {repo.shardBytes !== undefined && `; index size ${size(repo.shardBytes)}`}
          </dd>
        </>
      )}
      {ignored.length > 0 && (
        <>
          <dt>Excluded by rules</dt>
          <dd>{ignored.map(([rule, number]) => `${rule}: ${count(number)}`).join(', ')}</dd>
        </>
      )}
    </dl>
  );
}

interface RepoDetailProps {
  readonly repo: Repo;
  readonly isOwner: boolean;
  readonly close: () => void;
}

export function RepoDetail({ repo, isOwner, close }: RepoDetailProps) {
  const { data: statuses, error } = useRepoStatuses([repo.repoId]);
  const indexNow = useIndexNow();
  const status = statuses?.[0];
  const job = status?.latestJob;
  return (
    <Detail
      name={repo.repoName}
      close={close}
      head={
        <>
          <HostLink address={repo.externalWebUrl} className="icon-button" />
          {job !== null && job !== undefined && <JobState job={job} />}
        </>
      }
      buttons={
        isOwner && (
          <>
            <button
              type="button"
              className="button"
              disabled={indexNow.isPending}
              onClick={() => indexNow.mutate(repo.repoId)}
            >
              {repo.state === 'failed' ? 'Try again' : 'Index now'}
            </button>
            <Link href="/settings/connections" className="button">
              Connections
            </Link>
          </>
        )
      }
    >
      {error !== null && <Notice kind="danger" title={error.message} />}
      {indexNow.error !== null && <Notice kind="danger" title={indexNow.error.message} />}
      {job?.errorMessage !== null && job?.errorMessage !== undefined && (
        <Notice kind="danger" title={job.errorMessage}>
          Trawl retries automatically, with growing delays.
        </Notice>
      )}
      {warningsIn(job).map((warning) => (
        <Notice key={warning} kind="warn" title={warning} />
      ))}
      <Facts repo={repo} status={status} />
      {isOwner && job !== null && job !== undefined && <JobLog key={job.id} job={job} />}
      {repo.indexedAt !== undefined && (
        <SkippedFiles repo={repo} counts={countsIn(job, 'skipped')} />
      )}
    </Detail>
  );
}
