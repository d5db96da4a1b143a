// One file of the results: its head, its matched lines in the order of the file, and what is left out between them.

import { ExternalLink } from 'lucide-react';
import { memo, useState } from 'react';
import { Link } from 'wouter';
import { MarkedText } from '../code/marked-text.tsx';
import { useColours } from './colours.ts';
import type { Colour } from '../code/marks.ts';
import type { ResultFile, ResultLine } from './rows.ts';
import { useSearch } from './search-store.ts';
import { counted } from '../parts/words.ts';

/** Matched lines of a file that are shown at first. */
const LINES_SHOWN = 8;

interface ResultCardProps {
  readonly file: ResultFile;
  /** 1-based, among all; `total` -1: not known yet. */
  readonly place: number;
  readonly total: number;
}

/** The address of a file or a line in this instance, below the base path; the file steps through the matches of the query. */
function addressOf(file: ResultFile, line?: ResultLine): string {
  const { pathname } = new URL(file.webUrl);
  const { shown } = useSearch.getState();
  const parameters = new URLSearchParams();
  if (line !== undefined) parameters.set('highlightRange', String(line.number));
  if (shown !== undefined) parameters.set('query', shown.query);
  if (shown?.isRegexEnabled === true) parameters.set('isRegexEnabled', 'true');
  if (shown?.isCaseSensitivityEnabled === true) parameters.set('isCaseSensitivityEnabled', 'true');
  return `${pathname.slice(pathname.indexOf('/browse/'))}?${parameters.toString()}`;
}

/** The lines to show at first: up to as many matched ones as fit, with what stands around them. */
function headOf(lines: readonly ResultLine[]): readonly ResultLine[] {
  let matched = 0;
  const end = lines.findIndex((line) => line.marks.length > 0 && ++matched > LINES_SHOWN);
  return end < 0 ? lines : lines.slice(0, end);
}

interface LineProps {
  readonly file: ResultFile;
  readonly line: ResultLine;
  readonly colours: readonly Colour[] | undefined;
}

function Line({ file, line, colours }: LineProps) {
  const label = `line ${line.number}: ${line.text.trim()}`;
  return (
    <Link href={addressOf(file, line)} className="result-line" aria-label={label}>
      <span className="line-number">{line.number}</span>
      <MarkedText className="line-text" text={line.text} marks={line.marks} colours={colours} />
    </Link>
  );
}

function Gap({ count }: { readonly count: number }) {
  return <div className="result-gap">{counted(count, 'line')}</div>;
}

function rowsOf(
  file: ResultFile,
  lines: readonly ResultLine[],
  colours: readonly (readonly Colour[])[] | undefined,
) {
  return lines.flatMap((line, index) => {
    const before = lines[index - 1];
    const skipped = before === undefined ? 0 : line.number - before.number - 1;
    return [
      ...(skipped > 0 ? [<Gap key={`gap-${line.number}`} count={skipped} />] : []),
      <Line key={line.number} file={file} line={line} colours={colours?.[index]} />,
    ];
  });
}

/** The folders of a path, which may be cut in the middle, and its name, which never is. */
function PathLink({ file }: { readonly file: ResultFile }) {
  const cut = file.path.lastIndexOf('/') + 1;
  const folder = file.path.slice(0, cut);
  const shifted = file.pathMarks.map(({ from, to }) => ({
    from: Math.max(from - cut, 0),
    to: to - cut,
  }));
  return (
    <h2 className="file-title">
      <Link href={addressOf(file)} className="file-link">
        <bdi className="file-repo">{file.repository}</bdi>
        <span className="faint" aria-hidden>
          {' ▸ '}
        </span>
        <bdi className="file-folder">
          <MarkedText text={folder} marks={file.pathMarks.filter((mark) => mark.from < cut)} />
        </bdi>
        <bdi className="file-name">
          <MarkedText text={file.path.slice(cut)} marks={shifted.filter((mark) => mark.to > 0)} />
        </bdi>
      </Link>
    </h2>
  );
}

const SKIPPED: Readonly<Record<string, string>> = {
  too_large: 'larger than 2 MB',
  too_many_trigrams: 'too many different grams',
  binary: 'binary',
};

export const ResultCard = memo(function ResultCard({ file, place, total }: ResultCardProps) {
  const [isOpen, setOpen] = useState(false);
  const colours = useColours(file);
  const head = headOf(file.lines);
  const lines = isOpen ? file.lines : head;
  const more = file.lines.slice(head.length).filter((line) => line.marks.length > 0).length;
  return (
    <article className="result-card" aria-posinset={place} aria-setsize={total}>
      <header className="file-head">
        <PathLink file={file} />
        <span className="file-facts">
          {file.language !== '' && <span>{file.language}</span>}
          <span>{counted(file.matchCount, 'match', 'matches')}</span>
          {file.externalUrl !== undefined && (
            <a
              href={file.externalUrl}
              rel="noopener noreferrer"
              target="_blank"
              aria-label="At the code host"
            >
              <ExternalLink size={16} strokeWidth={1.5} aria-hidden />
            </a>
          )}
        </span>
      </header>
      {file.skipReason !== undefined && (
        <p className="result-skipped">
          Not searched: {SKIPPED[file.skipReason] ?? file.skipReason}.
        </p>
      )}
      {lines.length > 0 && (
        <div className="result-code" tabIndex={-1}>
          <div className="result-rows">{rowsOf(file, lines, colours)}</div>
        </div>
      )}
      {more > 0 && (
        <button
          type="button"
          className="result-more"
          onClick={() => setOpen(!isOpen)}
          aria-expanded={isOpen}
        >
          {isOpen ? 'Show fewer' : `Show ${counted(more, 'more matched line')} of this file`}
        </button>
      )}
    </article>
  );
});
