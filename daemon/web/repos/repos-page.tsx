// All repositories that the user may see, with state, age and size; for owners also errors and a retry button. Details
// of one repository open above the table.

import { Link } from 'wouter';
import { addressOf } from '../browse/address.ts';
import { type AddressParameters, useAddressParameters } from '../data/address-parameters.ts';
import { useAccount } from '../data/session.ts';
import { State } from '../jobs/job-state.tsx';
import { type RepoStatus, useIndexNow, useRepoStatuses } from '../jobs/job-queries.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { FilterInput } from '../parts/field.tsx';
import { visibleName } from '../parts/hidden-characters.ts';
import { Notice } from '../parts/notice.tsx';
import { useTitle } from '../parts/title.ts';
import { Name, VisibleText } from '../parts/visible-text.tsx';
import { When } from '../parts/when.tsx';
import { count, size } from '../parts/number-format.ts';
import { type Repo, REPOS_PER_PAGE, useRepos } from './repo-queries.ts';
import { RepoDetail } from './repo-detail.tsx';
import { RepoBanners } from './repo-banners.tsx';
import '../styles/tables.css';
import '../styles/jobs.css';

interface Row extends Repo {
  readonly status: RepoStatus | undefined;
}

const PARAMETERS = ['query', 'state', 'connectionId', 'sort', 'direction', 'page', 'open'];

const STATES = {
  ready: { kind: 'ready', word: 'Ready' },
  indexing: { kind: 'running', word: 'Indexing' },
  waiting: { kind: 'waiting', word: 'Waiting' },
  failed: { kind: 'failed', word: 'Failed' },
} as const;

/** The available orders, as `sort` and `direction` of the address. */
const ORDERS = [
  { value: '', label: 'by name' },
  { value: 'name desc', label: 'by name, reversed' },
  { value: 'pushed desc', label: 'newest commit first' },
  { value: 'pushed asc', label: 'oldest commit first' },
] as const;

function RepoLink({ row: { repoName } }: { readonly row: Row }) {
  return (
    <Link href={addressOf({ repo: repoName, revision: undefined, kind: 'tree', path: '' })}>
      <Name>{repoName}</Name>
    </Link>
  );
}

function Why({ row }: { readonly row: Row }) {
  const message = row.status?.latestJob?.errorMessage;
  if (row.state !== 'failed' || message === null || message === undefined) return null;
  return (
    <div className="why danger">
      <VisibleText text={message} />
    </div>
  );
}

function columnsFor(isOwner: boolean, { valueOf, change }: AddressParameters): Column<Row>[] {
  const opened = valueOf('open');
  const common: Column<Row>[] = [
    { name: 'Repository', cell: (row) => <RepoLink row={row} /> },
    {
      name: 'State',
      cell: (row) => (
        <>
          <State {...STATES[row.state]} job={row.status?.latestJob} />
          <Why row={row} />
        </>
      ),
    },
    { name: 'Indexed', cell: ({ indexedAt }) => <When at={indexedAt} /> },
    { name: 'Branch', cell: ({ defaultBranch }) => <Name>{defaultBranch ?? ''}</Name> },
    { name: 'Newest commit', cell: ({ pushedAt }) => <When at={pushedAt} never="" /> },
    { name: 'Files', cell: ({ docs }) => (docs === undefined ? '' : count(docs)), isNumber: true },
    {
      name: 'Size',
      cell: ({ contentBytes }) => (contentBytes === undefined ? '' : size(contentBytes)),
      isNumber: true,
    },
  ];
  const detail = ({ repoName, state }: Row) => (
    <button
      type="button"
      className="button"
      aria-expanded={repoName === opened}
      aria-label={`About ${visibleName(repoName)}`}
      onClick={() => change({ open: repoName === opened ? '' : repoName }, 'note')}
    >
      {isOwner && state === 'failed' ? 'Log' : 'About'}
    </button>
  );
  const action = (row: Row) => (
    <span className="button-row">
      {detail(row)}
      {isOwner && <IndexButton row={row} />}
    </span>
  );
  return [...common, { name: 'Actions', cell: action }];
}

function IndexButton({ row: { repoId, repoName, state } }: { readonly row: Row }) {
  const { mutate, isPending, error } = useIndexNow();
  const label = state === 'failed' ? 'Try again' : 'Index now';
  return (
    <>
      <button
        type="button"
        className="button"
        disabled={isPending}
        aria-label={`${label}: ${visibleName(repoName)}`}
        onClick={() => mutate(repoId)}
      >
        {label}
      </button>
      {error !== null && <span className="danger">{error.message}</span>}
    </>
  );
}

function Filters({ valueOf, change }: AddressParameters) {
  const order = `${valueOf('sort') ?? 'name'} ${valueOf('direction') ?? 'asc'}`;
  const sort = (value: string): void => {
    const [by, direction] = value.split(' ');
    change(
      { sort: by === 'name' ? '' : by, direction: direction === 'asc' ? '' : direction },
      'step',
    );
  };
  return (
    <span className="button-row">
      <FilterInput
        className="page-filter"
        label="Filter by name"
        value={valueOf('query') ?? ''}
        set={(query) => change({ query })}
      />
      <select
        className="input page-choice"
        aria-label="State"
        value={valueOf('state') ?? ''}
        onChange={(event) => change({ state: event.target.value }, 'step')}
      >
        <option value="">any state</option>
        {Object.entries(STATES).map(([state, { word }]) => (
          <option key={state} value={state}>
            {word}
          </option>
        ))}
      </select>
      <select
        className="input page-choice"
        aria-label="Order"
        value={order === 'name asc' ? '' : order}
        onChange={(event) => sort(event.target.value)}
      >
        {ORDERS.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </span>
  );
}

function Nothing({ valueOf, change }: AddressParameters) {
  const part = valueOf('query');
  const isNarrowed = ['query', 'state', 'connectionId'].some((name) => valueOf(name) !== undefined);
  if (!isNarrowed) return 'Nothing is indexed yet. Add a connection, or start Trawl with a folder.';
  const clear = (): void => change({ query: '', state: '', connectionId: '' }, 'step');
  return (
    <>
      {part === undefined
        ? 'No repositories in this state.'
        : `No visible repository has “${visibleName(part)}” in its name.`}{' '}
      <button type="button" className="link-button" onClick={clear}>
        Show all
      </button>
    </>
  );
}

export default function ReposPage() {
  useTitle('Repositories');
  const address = useAddressParameters(PARAMETERS);
  const { page, valueOf, go, change } = address;
  const filter = Object.fromEntries(PARAMETERS.slice(0, 5).map((name) => [name, valueOf(name)]));
  const reading = useRepos({ ...filter, page });
  const { data } = reading;
  const { data: account } = useAccount();
  const isOwner = account?.user?.role === 'OWNER';
  const { data: statuses } = useRepoStatuses((data?.items ?? []).map(({ repoId }) => repoId));
  const byId = new Map(statuses?.map((status) => [status.repoId, status]));
  const rows = data?.items.map((repo) => ({ ...repo, status: byId.get(repo.repoId) }));
  const openedName = valueOf('open');
  const found = useRepos({ name: openedName }, openedName !== undefined);
  const opened = openedName === undefined ? undefined : found.data?.items[0];
  return (
    <section className="wide">
      <div className="page-head">
        <h1>
          Repositories{' '}
          {data?.total !== undefined && <span className="faint">{count(data.total)}</span>}
        </h1>
        <Filters {...address} />
      </div>
      {isOwner && <RepoBanners />}
      {openedName !== undefined && found.isSuccess && opened === undefined && (
        <Notice
          kind="info"
          title={`Repository ${openedName} does not exist, or you may not see it.`}
        />
      )}
      {opened !== undefined && (
        <RepoDetail
          key={opened.repoId}
          repo={opened}
          isOwner={isOwner}
          close={() => change({ open: '' })}
        />
      )}
      <DataTable
        label="Repositories"
        columns={columnsFor(isOwner, address)}
        rows={rows}
        keyOf={({ repoId }) => repoId}
        reading={reading}
        empty={<Nothing {...address} />}
        pages={{
          page,
          perPage: REPOS_PER_PAGE,
          total: data?.total,
          go,
          words: ['Previous', 'Next'],
        }}
      />
    </section>
  );
}
