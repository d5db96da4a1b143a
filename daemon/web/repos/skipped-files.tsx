// The files of a repository that are found by name only, by reason.

import { useState } from 'react';
import { Link } from 'wouter';
import { addressOf } from '../browse/address.ts';
import { DataTable } from '../parts/data-table.tsx';
import { SKIP_REASONS, skipWords } from '../parts/skip-reasons.ts';
import { Name } from '../parts/visible-text.tsx';
import { count, size } from '../parts/number-format.ts';
import { type Repo, SKIPPED_PER_PAGE, useSkipped } from './repo-queries.ts';

interface SkippedFilesProps {
  readonly repo: Repo;
  /** Number of files by reason, from the last job. */
  readonly counts: Readonly<Record<string, number>>;
}

export function SkippedFiles({ repo, counts }: SkippedFilesProps) {
  const [reason, setReason] = useState<string>();
  const [page, setPage] = useState(1);
  const reading = useSkipped(repo.repoId, reason, page);
  const { data } = reading;
  const choose = (chosen: string | undefined): void => {
    setReason(chosen);
    setPage(1);
  };
  return (
    <section>
      <div className="detail-head">
        <h3>Found by name only {data?.total !== undefined && count(data.total)}</h3>
        <span className="button-row">
          {[undefined, ...SKIP_REASONS].map((one) => (
            <button
              key={one ?? 'all'}
              type="button"
              className="button"
              aria-pressed={one === reason}
              onClick={() => choose(one)}
            >
              {one === undefined ? 'All' : skipWords(one)}
              {one !== undefined && counts[one] !== undefined && ` ${count(counts[one])}`}
            </button>
          ))}
        </span>
      </div>
      <DataTable
        label="Files found by name only"
        rows={data?.items}
        keyOf={({ path }) => path}
        reading={reading}
        empty="All files are searched by content."
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
          { name: 'Reason', cell: (row) => skipWords(row.reason) },
          { name: 'Size', cell: (row) => size(row.bytes), isNumber: true },
        ]}
        pages={{
          page,
          perPage: SKIPPED_PER_PAGE,
          total: data?.total,
          go: setPage,
          words: ['Previous', 'Next'],
        }}
      />
    </section>
  );
}
