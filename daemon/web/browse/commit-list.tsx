// The history of a repository, folder or file: commits by author, words of the message and time.

import { Link, useSearchParams } from 'wouter';
import { DataTable, Pager } from '../parts/data-table.tsx';
import { Field } from '../parts/field.tsx';
import { When } from '../parts/when.tsx';
import { addressOf } from './address.ts';
import type { Place } from './address.ts';
import { COMMITS_PER_PAGE, useCommits } from './history-reading.ts';
import '../styles/tables.css';

const SHORT_ID = 7;

export function CommitList({ place }: { readonly place: Place }) {
  const [parameters, setParameters] = useSearchParams();
  const valueOf = (name: string): string | undefined => parameters.get(name) ?? undefined;
  const page = Math.max(1, Number(parameters.get('page') ?? 1) || 1);
  const { data, error, refetch } = useCommits(place, {
    author: valueOf('author'),
    query: valueOf('query'),
    since: valueOf('since'),
    until: valueOf('until'),
    page,
  });
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
  const filter = (name: string, label: string, type = 'search') => (
    <Field
      label={label}
      type={type}
      value={parameters.get(name) ?? ''}
      onChange={(event) => change(name, event.target.value)}
    />
  );
  return (
    <div className="history">
      <div className="form-row">
        {filter('author', 'Author')}
        {filter('query', 'In the message')}
        {filter('since', 'From', 'date')}
        {filter('until', 'Until', 'date')}
      </div>
      <DataTable
        label="Commits"
        rows={data?.items}
        keyOf={({ hash }) => hash}
        error={error}
        retry={() => void refetch()}
        empty="No commits match."
        columns={[
          {
            name: 'Commit',
            cell: ({ hash }) => (
              <Link href={addressOf({ ...place, kind: 'commit', path: hash })}>
                <code>{hash.slice(0, SHORT_ID)}</code>
              </Link>
            ),
          },
          { name: 'Message', cell: ({ message }) => <bdi>{message}</bdi> },
          {
            name: 'Author',
            cell: ({ authorName, authorEmail }) => <bdi title={authorEmail}>{authorName}</bdi>,
          },
          { name: 'When', cell: ({ date }) => <When at={date} /> },
        ]}
      />
      <Pager
        page={page}
        perPage={COMMITS_PER_PAGE}
        total={data?.total}
        go={(next) => change('page', String(next))}
      />
    </div>
  );
}
