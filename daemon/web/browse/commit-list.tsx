// The history of a repository, folder or file, filtered by author, message and date.

import { Link } from 'wouter';
import { useAddressParameters } from '../data/address-parameters.ts';
import { DataTable } from '../parts/data-table.tsx';
import { ParameterField } from '../parts/parameter-field.tsx';
import { Name } from '../parts/visible-text.tsx';
import { When } from '../parts/when.tsx';
import { addressOf, type BrowseTarget } from './address.ts';
import { COMMITS_PER_PAGE, shortId, useCommits } from './history-queries.ts';
import '../styles/tables.css';

const PARAMETERS = ['author', 'since', 'until', 'query', 'page'];

export function CommitList({ target }: { readonly target: BrowseTarget }) {
  const address = useAddressParameters(PARAMETERS);
  const { page, valueOf, change, go } = address;
  const reading = useCommits(target, {
    author: valueOf('author'),
    query: valueOf('query'),
    since: valueOf('since'),
    until: valueOf('until'),
    page,
  });
  return (
    <div className="history">
      <div className="form-row">
        <ParameterField address={address} name="author" label="Author" />
        <ParameterField address={address} name="query" label="Message contains" />
        <ParameterField address={address} name="since" label="From" type="date" />
        <ParameterField address={address} name="until" label="Until" type="date" />
      </div>
      <DataTable
        label="Commits"
        rows={reading.data?.items}
        keyOf={({ hash }) => hash}
        reading={reading}
        empty={
          <>
            No commits match.{' '}
            <button
              type="button"
              className="link-button"
              onClick={() => change({ author: '', since: '', until: '', query: '' }, 'step')}
            >
              Clear filters
            </button>
          </>
        }
        columns={[
          {
            name: 'Commit',
            cell: ({ hash }) => (
              <Link href={addressOf({ ...target, kind: 'commit', path: hash })}>
                <code className="commit-id">{shortId(hash)}</code>
              </Link>
            ),
          },
          { name: 'Message', cell: ({ message }) => <Name>{message}</Name> },
          {
            name: 'Author',
            cell: ({ authorName, authorEmail }) => (
              <Name className="commit-author" title={`${authorName} ${authorEmail}`}>
                {authorName}
              </Name>
            ),
          },
          { name: 'When', cell: ({ date }) => <When at={date} /> },
        ]}
        pages={{ page, perPage: COMMITS_PER_PAGE, total: reading.data?.total, go }}
      />
    </div>
  );
}
