// A file in the results: its head, its matched lines in file order, and the gaps between them.

import { ChevronDown, ChevronRight, ChevronUp, Copy } from 'lucide-react';
import { createContext, memo, useContext, useLayoutEffect } from 'react';
import type { MouseEvent, ReactNode } from 'react';
import { Link } from 'wouter';
import { MarkedText } from '../code/marked-text.tsx';
import { copyText } from '../parts/clipboard.ts';
import { visibleName } from '../parts/hidden-characters.ts';
import { HostLink } from '../parts/host-link.tsx';
import { ICON } from '../parts/icon.ts';
import { notSearched } from '../parts/skip-reasons.ts';
import { Name } from '../parts/visible-text.tsx';
import { counted } from '../parts/number-format.ts';
import { GAP_STEP, MATCHED_FIRST, gapSpan, headOf, hiddenOf, rowsOf } from './card-rows.ts';
import type { CardState, Span } from './card-rows.ts';
import { useCard, useCards } from './cards.ts';
import { useColours } from './colours.ts';
import { useFileSource } from './file-source.ts';
import { addressOf, shortRevision } from './result-address.ts';
import { LineRow } from './result-line.tsx';
import type { ResultFile } from './rows.ts';
import { noteSeen } from './search-store.ts';

interface ResultCardProps {
  readonly file: ResultFile;
  /** 1-based, among all files. */
  readonly position: number;
}

/** Number of cards; -1: not known yet. */
export const CardTotal = createContext(-1);

interface GapProps {
  readonly gap: Span;
  readonly open: (span: Span) => void;
}

/** Hidden lines. A click shows some, Alt+click all of them. */
function Gap({ gap, open }: GapProps) {
  const count = gap.to - gap.from + 1;
  const show = (side: 'below' | 'above') => (event: MouseEvent) =>
    open(gapSpan(gap, event.altKey ? 'all' : side));
  const isSmall = count <= GAP_STEP;
  return (
    <div className="result-gap">
      <span className="gap-count">{counted(count, 'line')}</span>
      <button type="button" className="gap-button" onClick={show('below')}>
        <ChevronDown {...ICON} /> {isSmall ? 'Show' : `${GAP_STEP} below`}
      </button>
      {!isSmall && (
        <button type="button" className="gap-button" onClick={show('above')}>
          <ChevronUp {...ICON} /> {GAP_STEP} above
        </button>
      )}
    </div>
  );
}

/** The path: folders may be cut in the middle, the file name never. */
function PathLink({ file }: { readonly file: ResultFile }) {
  const cut = file.path.lastIndexOf('/') + 1;
  const folder = file.path.slice(0, cut);
  const shifted = file.pathMarks.map(({ from, to }) => ({
    from: Math.max(from - cut, 0),
    to: to - cut,
  }));
  return (
    <h2 className="file-title">
      <Link href={addressOf(file)} className="file-link" title={visibleName(file.path)}>
        <Name className="file-repo">{file.repository}</Name>
        <span className="faint" aria-hidden>
          {' ▸ '}
        </span>
        <bdi className="file-folder">
          <MarkedText
            isName
            text={folder}
            marks={file.pathMarks.filter((mark) => mark.from < cut)}
          />
        </bdi>
        <bdi className="file-name">
          <MarkedText
            isName
            text={file.path.slice(cut)}
            marks={shifted.filter((mark) => mark.to > 0)}
          />
        </bdi>
      </Link>
    </h2>
  );
}

interface HeadProps {
  readonly file: ResultFile;
  readonly isFolded: boolean;
  readonly fold: () => void;
}

/** The names of the revisions that contain the file. */
function revisionsTitle({ revisions, revisionsOmitted }: ResultFile): string {
  const more = revisionsOmitted === 0 ? [] : [`and ${revisionsOmitted} more`];
  return [...revisions, ...more].join(', ');
}

function CardHead({ file, isFolded, fold }: HeadProps) {
  const Fold = isFolded ? ChevronRight : ChevronDown;
  const [revision] = file.revisions;
  return (
    <header className="file-head">
      <button
        type="button"
        className="fold-button"
        aria-expanded={!isFolded}
        aria-label={`Lines of ${visibleName(file.path)}`}
        onClick={fold}
      >
        <Fold {...ICON} />
      </button>
      <PathLink file={file} />
      <span className="file-facts">
        {file.language !== '' && <span className="file-language">{file.language}</span>}
        {revision !== undefined && revision !== 'HEAD' && (
          <Name className="file-revision" title={revisionsTitle(file)}>
            {shortRevision(revision)}
          </Name>
        )}
        <span>{counted(file.matchCount, 'match', 'matches')}</span>
        <button
          type="button"
          className="head-button"
          aria-label="Copy path"
          title="Copy path"
          onClick={() => void copyText(file.path, 'Path')}
        >
          <Copy {...ICON} />
        </button>
        <HostLink address={file.externalUrl} className="head-button" />
      </span>
    </header>
  );
}

interface PartProps {
  readonly file: ResultFile;
  readonly card: CardState;
  readonly change: (change: (before: CardState) => CardState) => void;
}

function Rows({ file, card, change }: PartProps) {
  const source = useFileSource(file, card.opened.length > 0);
  const rows = rowsOf(file, card, source.lines);
  const lines = rows.flatMap((row) => (row.kind === 'line' ? [row.line] : []));
  const colours = useColours(file, lines);
  const open = (span: Span): void =>
    change((before) => ({ ...before, opened: [...before.opened, span] }));
  return (
    <>
      {source.fault !== undefined && <p className="result-note">{source.fault}</p>}
      {rows.length > 0 && (
        <div className="result-code" tabIndex={-1}>
          <div className="result-rows">
            {rows.map((row) =>
              row.kind === 'gap' ? (
                <Gap key={`gap-${row.from}`} gap={row} open={open} />
              ) : (
                <LineRow
                  key={row.line.number}
                  file={file}
                  line={row.line}
                  colours={colours.get(row.line.number)}
                />
              ),
            )}
          </div>
        </div>
      )}
    </>
  );
}

/** Shows more of the matches that are hidden at first. */
function More({ file, card, change }: PartProps) {
  const { lines } = file;
  const { matches, nextMax, isAll } = hiddenOf(lines, card.matchedMax);
  const isLong = headOf(lines, MATCHED_FIRST).length < lines.length;
  if (!isLong) return null;
  const fewer = matches === 0;
  const label = isAll
    ? `Show ${counted(matches, 'more match', 'more matches')} in this file`
    : `Show more of ${counted(matches, 'more match', 'more matches')} in this file`;
  return (
    <button
      type="button"
      className="line-button result-more"
      aria-expanded={fewer}
      onClick={() =>
        change((before) => ({ ...before, matchedMax: fewer ? MATCHED_FIRST : nextMax }))
      }
    >
      {fewer ? 'Show fewer' : label}
    </button>
  );
}

/** Why separate: the total arrives at the end, and must not redraw the card's content. */
function Article({ file, position, children }: ResultCardProps & { readonly children: ReactNode }) {
  return (
    <article
      className="result-card"
      aria-posinset={position}
      aria-setsize={useContext(CardTotal)}
      aria-label={visibleName(file.path)}
      data-key={file.key}
    >
      {children}
    </article>
  );
}

export const ResultCard = memo(function ResultCard({ file, position }: ResultCardProps) {
  const { key } = file;
  const card = useCard(key);
  const change = (how: (before: CardState) => CardState): void =>
    useCards.getState().change(key, how);
  // Also when the card stays but belongs to a new list.
  useLayoutEffect(() => noteSeen(key), [key, file]);
  const part = { file, card, change };
  return (
    <Article file={file} position={position}>
      <CardHead
        file={file}
        isFolded={card.isFolded}
        fold={() => change((before) => ({ ...before, isFolded: !before.isFolded }))}
      />
      {file.skipReason !== undefined && (
        <p className="result-skipped">{notSearched(file.skipReason)}</p>
      )}
      {!card.isFolded && (
        <>
          <Rows {...part} />
          <More {...part} />
        </>
      )}
    </Article>
  );
});
