// What changed in one file: its rows, added and removed told by sign, bar and colour.

import { useState } from 'react';
import { Link } from 'wouter';
import { VisibleText } from '../code/marked-text.tsx';
import { counted } from '../parts/words.ts';
import { addressOf } from './address.ts';
import type { Place } from './address.ts';
import { rowsOf } from './diff-rows.ts';
import type { DiffRow } from './diff-rows.ts';
import type { FileDiff } from './history-reading.ts';

/** Changes of more rows are drawn only when they are asked for. */
const ROWS_MAX = 2000;

const SIGNS: Readonly<Record<DiffRow['kind'], string>> = {
  added: '+',
  removed: '−',
  same: ' ',
  note: ' ',
};
const SPOKEN: Readonly<Record<DiffRow['kind'], string>> = {
  added: 'added',
  removed: 'removed',
  same: '',
  note: 'note',
};

function Row({ row }: { readonly row: DiffRow }) {
  return (
    <tr className={`diff-${row.kind}`}>
      <td className="diff-number">{row.oldNumber}</td>
      <td className="diff-number">{row.newNumber}</td>
      <td className="diff-sign">
        <span aria-hidden>{SIGNS[row.kind]}</span>
        <span className="visually-hidden">{SPOKEN[row.kind]}</span>
      </td>
      <td className="diff-text">
        <VisibleText text={row.text} />
      </td>
    </tr>
  );
}

function Title({ file }: { readonly file: FileDiff }) {
  const { oldPath, newPath } = file;
  if (oldPath !== null && newPath !== null && oldPath !== newPath)
    return (
      <>
        <bdi>{oldPath}</bdi> → <bdi>{newPath}</bdi>
      </>
    );
  return <bdi>{newPath ?? oldPath}</bdi>;
}

interface FileChangesProps {
  /** Of the commit, as a revision. */
  readonly place: Place;
  readonly file: FileDiff;
  readonly isOpenAtFirst: boolean;
}

export function FileChanges({ place, file, isOpenAtFirst }: FileChangesProps) {
  const hunks = file.hunks.map((hunk) => ({ heading: hunk.heading, rows: rowsOf(hunk) }));
  const rowCount = hunks.reduce((sum, { rows }) => sum + rows.length, 0);
  const [isOpen, setOpen] = useState(isOpenAtFirst && rowCount <= ROWS_MAX);
  const path = file.newPath ?? file.oldPath ?? '';
  return (
    <section className="diff-file">
      <header className="file-head">
        <h3 className="file-title">
          <Title file={file} />
        </h3>
        <span className="file-facts">
          {file.oldPath === null && <span>new</span>}
          {file.newPath === null && <span>deleted</span>}
          {file.newPath !== null && (
            <Link href={addressOf({ ...place, kind: 'blob', path })}>View file</Link>
          )}
        </span>
      </header>
      {rowCount === 0 && <p className="empty">No lines differ: a binary file, a name or a mode.</p>}
      {rowCount > 0 && !isOpen && (
        <button type="button" className="result-more" onClick={() => setOpen(true)}>
          Show this file ({counted(rowCount, 'line')})
        </button>
      )}
      {isOpen && (
        <div className="diff-scroller" tabIndex={0} role="region" aria-label={`Changes of ${path}`}>
          <table className="diff">
            {hunks.map(({ heading, rows }, index) => (
              <tbody key={index}>
                <tr className="diff-heading">
                  <td colSpan={4}>{heading ?? '⋯'}</td>
                </tr>
                {rows.map((row, number) => (
                  <Row key={number} row={row} />
                ))}
              </tbody>
            ))}
          </table>
        </div>
      )}
    </section>
  );
}
