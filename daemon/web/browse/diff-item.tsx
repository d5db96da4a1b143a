// One item of a difference: the head of a file, a stretch that is the same, a line or two beside each other. Added and removed are
// told by sign, bar and colour.

import { ChevronDown, ChevronRight } from 'lucide-react';
import { Link } from 'wouter';
import { useLineColours } from '../code/line-colours.ts';
import type { Lines } from '../code/line-colours.ts';
import { MarkedText } from '../code/marked-text.tsx';
import { IconButton } from '../parts/icon-button.tsx';
import { counted } from '../parts/words.ts';
import { addressOf } from './address.ts';
import type { Place } from './address.ts';
import { keyOf, pathOf } from './diff-rows.ts';
import type { DiffItem, DiffLine } from './diff-rows.ts';
import { wordMarks } from './diff-words.ts';
import type { useWordCompare } from './diff-words.ts';
import type { FileDiff } from './history-reading.ts';

const SIGNS: Readonly<Record<DiffLine['kind'], string>> = {
  added: '+',
  removed: '−',
  same: ' ',
  note: ' ',
};
const SPOKEN: Readonly<Record<DiffLine['kind'], string>> = {
  added: 'added',
  removed: 'removed',
  same: '',
  note: 'note',
};

export interface ItemContext {
  /** Of the commit, as a revision. */
  readonly place: Place;
  readonly words: ReturnType<typeof useWordCompare>;
  readonly toggle: (file: FileDiff, isOpen: boolean) => void;
  /** Shows unchanged lines of a gap. */
  readonly open: (gap: GapItem) => void;
}

export type GapItem = Extract<DiffItem, { kind: 'gap' }>;

/** Unchanged lines that are shown at once. */
export const SHOWN_AT_ONCE = 100;

function Title({ file: { oldPath, newPath } }: { readonly file: FileDiff }) {
  if (oldPath !== null && newPath !== null && oldPath !== newPath)
    return (
      <>
        <bdi>{oldPath}</bdi> → <bdi>{newPath}</bdi>
      </>
    );
  return <bdi>{newPath ?? oldPath}</bdi>;
}

export function Counts({ file }: { readonly file: FileDiff }) {
  if (file.isBinary) return <span className="faint">binary</span>;
  return (
    <span className="diff-counts">
      <span className="added">+{file.additions}</span>{' '}
      <span className="removed">−{file.deletions}</span>
    </span>
  );
}

interface HeadProps extends ItemContext {
  readonly file: FileDiff;
  readonly isOpen: boolean;
}

function FileHead({ file, isOpen, place, toggle }: HeadProps) {
  const path = pathOf(file);
  return (
    <header className="diff-head" data-file={keyOf(file)}>
      <IconButton
        label={`${isOpen ? 'Fold' : 'Unfold'} ${path}`}
        icon={isOpen ? ChevronDown : ChevronRight}
        isExpanded={isOpen}
        run={() => toggle(file, !isOpen)}
      />
      <h2 className="file-title">
        <Title file={file} />
      </h2>
      {file.status !== 'modified' && <span className="faint">{file.status}</span>}
      <Counts file={file} />
      {file.newPath !== null && (
        <Link href={addressOf({ ...place, kind: 'blob', path })}>View file</Link>
      )}
    </header>
  );
}

interface CellProps {
  readonly lines: Lines;
  readonly line: DiffLine | undefined;
  readonly words: ItemContext['words'];
}

function Text({ lines, line, words }: CellProps & { readonly line: DiffLine }) {
  const colours = useLineColours(lines);
  return (
    <>
      <span className="diff-sign">
        <span aria-hidden>{SIGNS[line.kind]}</span>
        <span className="visually-hidden">{SPOKEN[line.kind]}</span>
      </span>
      <MarkedText
        className="diff-text"
        text={line.text}
        marks={wordMarks(line.text, line.partner, words)}
        colours={line.row === undefined ? undefined : colours?.[line.row]}
      />
    </>
  );
}

/** A line of one side. */
function Side({ lines, line, words, number }: CellProps & { readonly number: number | undefined }) {
  if (line === undefined) return <div className="diff-side diff-none" />;
  return (
    <div className={`diff-side diff-${line.kind}`}>
      <span className="diff-number">{number}</span>
      <Text lines={lines} line={line} words={words} />
    </div>
  );
}

function Pair({
  lines,
  left,
  right,
  words,
}: Extract<DiffItem, { kind: 'pair' }> & Pick<CellProps, 'words'>) {
  return (
    <div className="diff-pair">
      <Side lines={lines} line={left} words={words} number={left?.oldNumber} />
      <Side lines={lines} line={right} words={words} number={right?.newNumber} />
    </div>
  );
}

function Line({ lines, line, words }: CellProps & { readonly line: DiffLine }) {
  return (
    <div className={`diff-line diff-${line.kind}`}>
      <span className="diff-number">{line.oldNumber}</span>
      <span className="diff-number">{line.newNumber}</span>
      <Text lines={lines} line={line} words={words} />
    </div>
  );
}

function Gap({ gap, open }: Pick<ItemContext, 'open'> & { readonly gap: GapItem }) {
  const all = counted(gap.count, 'unchanged line');
  const some = gap.count > SHOWN_AT_ONCE ? `${SHOWN_AT_ONCE} of ${all}` : all;
  return (
    <div className="diff-gap">
      {gap.count > 0 && (
        <button type="button" className="link-button" onClick={() => open(gap)}>
          Show {some}
        </button>
      )}
      {gap.heading !== undefined && <MarkedText text={gap.heading} marks={[]} />}
    </div>
  );
}

export function Item({
  item,
  context,
}: {
  readonly item: DiffItem;
  readonly context: ItemContext;
}) {
  const { words, toggle } = context;
  switch (item.kind) {
    case 'file':
      return <FileHead {...context} file={item.file} isOpen={item.isOpen} />;
    case 'fold':
      return (
        <button type="button" className="diff-fold" onClick={() => toggle(item.file, true)}>
          Show this file ({counted(item.lineCount, 'line')})
        </button>
      );
    case 'silent':
      return (
        <p className="empty">
          {item.file.isBinary
            ? 'A binary file: no lines to show.'
            : 'No lines differ: the name, the mode or white space.'}
        </p>
      );
    case 'gap':
      return <Gap gap={item} open={context.open} />;
    case 'line':
      return <Line lines={item.lines} line={item.line} words={words} />;
    case 'pair':
      return <Pair {...item} words={words} />;
  }
}
