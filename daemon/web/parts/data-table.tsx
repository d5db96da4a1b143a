// A table of records, with loading, empty and error states.

import type { ReactNode } from 'react';
import { Notice } from './notice.tsx';

export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers are aligned right. */
  readonly isNumber?: boolean;
}

interface DataTableProps<Row> {
  /** Describes the rows for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  /** Undefined: loading. */
  readonly rows: readonly Row[] | undefined;
  readonly keyOf: (row: Row) => string | number;
  readonly empty: ReactNode;
  /** The query that loads the rows; undefined: they are always there. */
  readonly reading?: Reading;
  /** Undefined: all rows are on one page. */
  readonly pages?: PagerProps;
}

/** The state of that query. */
interface Reading {
  readonly error: Error | null;
  readonly refetch: () => unknown;
}

const LOADING_ROWS = 6;

function LoadingRows({ columnCount }: { readonly columnCount: number }) {
  return Array.from({ length: LOADING_ROWS }, (_, index) => (
    <tr key={index} className="row-loading">
      <td colSpan={columnCount}>&nbsp;</td>
    </tr>
  ));
}

function Table<Row>({ label, columns, rows, keyOf, empty, pages }: DataTableProps<Row>) {
  if (rows?.length === 0) {
    const isPastEnd = pages !== undefined && pages.page > 1;
    return <div className="empty">{isPastEnd ? 'There is nothing on this page.' : empty}</div>;
  }
  return (
    <div className="table-scroller" tabIndex={0} role="region" aria-label={label}>
      <table className="table" aria-busy={rows === undefined}>
        <thead>
          <tr>
            {columns.map(({ name, isNumber }) => (
              <th key={name} scope="col" className={isNumber === true ? 'number' : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows === undefined ? (
            <LoadingRows columnCount={columns.length} />
          ) : (
            rows.map((row) => (
              <tr key={keyOf(row)}>
                {columns.map(({ name, cell, isNumber }) => (
                  <td
                    key={name}
                    className={isNumber === true ? 'number' : undefined}
                    data-name={name}
                  >
                    {cell(row)}
                  </td>
                ))}
              </tr>
            ))
          )}
        </tbody>
      </table>
    </div>
  );
}

/** Rows stay on display if a refetch fails. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { rows, reading, pages } = props;
  const error = reading?.error ?? null;
  const again = { label: 'Try again', run: () => void reading?.refetch() };
  return (
    <>
      {error !== null && <Notice kind="danger" title={error.message} action={again} />}
      {(error === null || rows !== undefined) && <Table {...props} />}
      {pages !== undefined && <Pager {...pages} />}
    </>
  );
}

interface PagerProps {
  readonly page: number;
  readonly perPage: number;
  readonly total: number | undefined;
  readonly go: (page: number) => void;
  /** Labels of the buttons; default: for a list that begins with the newest. */
  readonly words?: readonly [before: string, after: string];
}

function Pager({
  page,
  perPage,
  total,
  go,
  words: [before, after] = ['Newer', 'Older'],
}: PagerProps) {
  if (total === undefined || (total <= perPage && page === 1)) return null;
  const last = Math.max(1, Math.ceil(total / perPage));
  return (
    <nav className="pager" aria-label="Pages">
      <button
        type="button"
        className="button"
        disabled={page <= 1}
        onClick={() => go(Math.min(page - 1, last))}
      >
        {before}
      </button>
      <span>
        Page {page} of {last}
      </span>
      <button type="button" className="button" disabled={page >= last} onClick={() => go(page + 1)}>
        {after}
      </button>
    </nav>
  );
}
