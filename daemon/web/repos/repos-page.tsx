// All repositories that one sees: state, age, and for owners what failed, why, and a button that tries again.

import { useMutation, useQuery } from '@tanstack/react-query';
import { CircleCheck, CircleDashed, CircleX, LoaderCircle } from 'lucide-react';
import { Link, useSearchParams } from 'wouter';
import type { getRepoIndexStatus, triggerRepoIndex } from '../../http/api/sources/job-endpoints.ts';
import type { listRepos } from '../../http/api/sources/repo-endpoints.ts';
import { call, callPage } from '../data/api.ts';
import type { AnswerOf } from '../data/api.ts';
import { BASE_PATH } from '../data/place.ts';
import { queryClient, useAccount } from '../data/session.ts';
import { addressOf } from '../browse/address.ts';
import { DataTable, Pager } from '../parts/data-table.tsx';
import type { Column } from '../parts/data-table.tsx';
import { Progress } from '../parts/progress.tsx';
import { useTitle } from '../parts/title.ts';
import { When } from '../parts/when.tsx';
import { count } from '../parts/words.ts';
import '../styles/tables.css';

type Repo = AnswerOf<typeof listRepos>[number];
type Status = AnswerOf<typeof getRepoIndexStatus>['repositories'][number];
interface Row extends Repo {
  readonly status: Status | undefined;
}

const PER_PAGE = 50;
/** ms between looks at what is under way. */
const LOOK_MS = 2000;
const ALL_WELL_LOOK_MS = 15_000;

function useRepos(page: number, query: string) {
  return useQuery({
    queryKey: ['repos', page, query],
    queryFn: ({ signal }) =>
      callPage<typeof listRepos>('/api/repos', {
        base: BASE_PATH,
        query: { page, perPage: PER_PAGE, query: query === '' ? undefined : query },
        signal,
      }),
    placeholderData: (before) => before,
    refetchInterval: ALL_WELL_LOOK_MS,
  });
}

function isUnderWay({ latestJob }: Status): boolean {
  return latestJob?.status === 'IN_PROGRESS' || latestJob?.status === 'PENDING';
}

function useStatuses(ids: readonly number[]) {
  return useQuery({
    queryKey: ['repo-status', ids],
    queryFn: ({ signal }) =>
      call<typeof getRepoIndexStatus>('/api/repo-index-status', {
        base: BASE_PATH,
        method: 'POST',
        body: { repoIds: [...ids] },
        signal,
      }),
    enabled: ids.length > 0,
    placeholderData: (before) => before,
    refetchInterval: ({ state }) =>
      state.data?.repositories.some(isUnderWay) === true ? LOOK_MS : ALL_WELL_LOOK_MS,
  });
}

function State({ row }: { readonly row: Row }) {
  const { status, indexedAt } = row;
  const job = status?.latestJob;
  if (job?.status === 'IN_PROGRESS')
    return (
      <span className="state">
        <LoaderCircle size={16} strokeWidth={1.5} aria-hidden /> Indexing{' '}
        {job.progress !== null && <Progress progress={job.progress} />}
      </span>
    );
  if (job?.status === 'FAILED')
    return (
      <span className="state danger" title={job.errorMessage ?? undefined}>
        <CircleX size={16} strokeWidth={1.5} aria-hidden /> Failed
      </span>
    );
  if (indexedAt === undefined)
    return (
      <span className="state faint">
        <CircleDashed size={16} strokeWidth={1.5} aria-hidden /> Waiting
      </span>
    );
  return (
    <span className="state ok">
      <CircleCheck size={16} strokeWidth={1.5} aria-hidden /> Ready
    </span>
  );
}

function Why({ row }: { readonly row: Row }) {
  const message = row.status?.latestJob?.errorMessage;
  return message === null || message === undefined ? null : (
    <span className="faint">{message}</span>
  );
}

function IndexButton({ repoId }: { readonly repoId: number }) {
  const { mutate, isPending } = useMutation({
    mutationFn: () =>
      call<typeof triggerRepoIndex>(`/api/repos/${repoId}/index`, {
        base: BASE_PATH,
        method: 'POST',
      }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['repo-status'] }),
  });
  return (
    <button type="button" className="button" disabled={isPending} onClick={() => mutate()}>
      Index now
    </button>
  );
}

function columnsFor(isOwner: boolean): Column<Row>[] {
  return [
    {
      name: 'Repository',
      cell: ({ repoName }) => (
        <Link href={addressOf({ repo: repoName, revision: undefined, kind: 'tree', path: '' })}>
          <bdi>{repoName}</bdi>
        </Link>
      ),
    },
    { name: 'State', cell: (row) => <State row={row} /> },
    { name: 'Branch', cell: ({ defaultBranch }) => <bdi>{defaultBranch ?? ''}</bdi> },
    { name: 'Indexed', cell: ({ indexedAt }) => <When at={indexedAt} /> },
    { name: 'Newest commit', cell: ({ pushedAt }) => <When at={pushedAt} never="" /> },
    { name: 'Why', cell: (row) => <Why row={row} /> },
    ...(isOwner
      ? [{ name: 'Do', cell: ({ repoId }: Row) => <IndexButton repoId={repoId} /> }]
      : []),
  ];
}

export default function ReposPage() {
  useTitle('Repositories');
  const [parameters, setParameters] = useSearchParams();
  const page = Math.max(1, Number(parameters.get('page') ?? 1) || 1);
  const wanted = parameters.get('query') ?? '';
  const { data, error, refetch } = useRepos(page, wanted);
  const { data: account } = useAccount();
  const { data: statuses } = useStatuses((data?.items ?? []).map(({ repoId }) => repoId));
  const byId = new Map(statuses?.repositories.map((status) => [status.repoId, status]));
  const rows = data?.items.map((repo) => ({ ...repo, status: byId.get(repo.repoId) }));
  const change = (name: string, value: string): void =>
    setParameters(
      (before) => {
        const after = new URLSearchParams(before);
        if (name !== 'page') after.delete('page');
        if (value === '') after.delete(name);
        else after.set(name, value);
        return after;
      },
      { replace: name !== 'page' },
    );
  return (
    <section className="wide">
      <div className="page-head">
        <h1>
          Repositories{' '}
          {data?.total !== undefined && <span className="faint">{count(data.total)}</span>}
        </h1>
        <input
          type="search"
          className="input page-filter"
          aria-label="Part of the name"
          placeholder="Part of the name"
          value={wanted}
          onChange={(event) => change('query', event.target.value)}
        />
      </div>
      <DataTable
        label="Repositories"
        columns={columnsFor(account?.user?.role === 'OWNER')}
        rows={rows}
        keyOf={({ repoId }) => repoId}
        error={error}
        retry={() => void refetch()}
        empty={
          wanted === ''
            ? 'Nothing is indexed yet. Add a connection, or start Trawl with a folder.'
            : `No repository has “${wanted}” in its name.`
        }
      />
      <Pager
        page={page}
        perPage={PER_PAGE}
        total={data?.total}
        go={(next) => change('page', String(next))}
      />
    </section>
  );
}
