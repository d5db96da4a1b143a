// The files of a repository that are found by their name alone, by reason.

import { useState } from 'react';
import { Link } from 'wouter';
import { addressOf } from '../browse/address.ts';
import { DataTable, Pager } from '../parts/data-table.tsx';
import { Name } from '../parts/visible-text.tsx';
import { count, size } from '../parts/words.ts';
import { SKIPPED_PER_PAGE, useSkipped } from './reading.ts';
import type { Repo } from './reading.ts';

const REASONS: Readonly<Record<string, string>> = {
  too_large: 'too large',
  binary: 'binary',
  too_many_trigrams: 'too many different grams',
};

interface SkippedFilesProps {
  readonly repo: Repo;
  /** How many of each reason, as the last job says. */
  readonly counts: Readonly<Record<string, number>>;
}

export function SkippedFiles({ repo, counts }: SkippedFilesProps) {
  const [reason, setReason] = useState<string>();
  const [page, setPage] = useState(1);
  const { data, error, refetch } = useSkipped(repo.repoId, reason, page);
  const choose = (chosen: string | undefined): void => {
    setReason(chosen);
    setPage(1);
  };
  return (
    <section aria-label="Files found by name only">
      <div className="detail-head">
        <h3>Found by name only {data?.total !== undefined && count(data.total)}</h3>
        <span className="button-row">
          {[undefined, ...Object.keys(REASONS)].map((one) => (
            <button
              key={one ?? 'all'}
              type="button"
              className="button"
              aria-pressed={one === reason}
              onClick={() => choose(one)}
            >
              {one === undefined ? 'All' : REASONS[one]}
              {one !== undefined && counts[one] !== undefined && ` ${count(counts[one])}`}
            </button>
          ))}
        </span>
      </div>
      <DataTable
        label="Files found by name only"
        rows={data?.items}
        keyOf={({ path }) => path}
        error={error}
        retry={() => void refetch()}
        empty="The content of all files is searched."
        columns={[
          {
            name: 'File',
            cell: ({ path }) => (
              <Link
                href={addressOf({ repo: repo.repoName, revision: undefined, kind: 'blob', path })}
              >
                <Name>{path}</Name>
              </Link>
            ),
          },
          { name: 'Why', cell: (row) => REASONS[row.reason] ?? row.reason },
          { name: 'Size', cell: (row) => size(row.bytes), isNumber: true },
        ]}
      />
      <Pager
        page={page}
        perPage={SKIPPED_PER_PAGE}
        total={data?.total}
        go={setPage}
        words={['Before', 'Next']}
      />
    </section>
  );
}
