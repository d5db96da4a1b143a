// One row of a diff: the head of a file, a gap, a line or a pair of lines. Added and removed lines differ by sign, bar
// and colour.

import { ChevronDown, ChevronRight, ChevronUp } from 'lucide-react';
import { Link } from 'wouter';
import { cutLine } from '../code/cut-line.ts';
import { LineText } from '../code/line-text.tsx';
import { MarkedText } from '../code/marked-text.tsx';
import { visibleName } from '../parts/hidden-characters.ts';
import { IconButton } from '../parts/icon-button.tsx';
import { ICON } from '../parts/icon.ts';
import { Name } from '../parts/visible-text.tsx';
import { counted } from '../parts/number-format.ts';
import { addressOf } from './address.ts';
import { colourOf, type DiffColours, type DiffSides, useDiffColours } from './diff-colours.ts';
import type { DisplayedFile } from './diff-gaps.ts';
import { type Direction, STEP } from './diff-growing.ts';
import { type DiffItem, type DiffLine, keyOf, pathOf } from './diff-rows.ts';
import { type useWordCompare, wordMarks } from './diff-words.ts';
import type { FileDiff } from './history-queries.ts';

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
  readonly sides: DiffSides;
  readonly words: ReturnType<typeof useWordCompare>;
  readonly toggle: (file: FileDiff, isOpen: boolean) => void;
  /** Expands the gap above a hunk. */
  readonly grow: (file: DisplayedFile, index: number, direction: Direction) => void;
}

function Title({ file: { oldPath, newPath } }: { readonly file: FileDiff }) {
  if (oldPath !== null && newPath !== null && oldPath !== newPath)
    return (
      <>
        <Name>{oldPath}</Name> → <Name>{newPath}</Name>
      </>
    );
  return <Name>{newPath ?? oldPath ?? ''}</Name>;
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

function FileHead({ file, isOpen, sides: { target }, toggle }: HeadProps) {
  const path = pathOf(file);
  return (
    <header className="diff-head" data-file={keyOf(file)}>
      <IconButton
        label={`${isOpen ? 'Fold' : 'Unfold'} ${visibleName(path)}`}
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
        <Link href={addressOf({ ...target, kind: 'blob', path })}>View file</Link>
      )}
    </header>
  );
}

interface Highlights {
  readonly words: ItemContext['words'];
  readonly colours: DiffColours | undefined;
}

function Text({ line, words, colours }: Highlights & { readonly line: DiffLine }) {
  const displayed = cutLine(line.text, wordMarks(line.text, line.partner, words));
  return (
    <>
      <span className="diff-sign">
        <span aria-hidden>{SIGNS[line.kind]}</span>
        <span className="visually-hidden">{SPOKEN[line.kind]}</span>
      </span>
      <LineText
        className="diff-text"
        {...displayed}
        colours={displayed.cut === undefined ? colourOf(line, colours) : []}
      />
    </>
  );
}

interface SideProps extends Highlights {
  readonly line: DiffLine | undefined;
  readonly number: number | undefined;
}

function Side({ line, number, ...highlights }: SideProps) {
  if (line === undefined) return <div className="diff-side diff-none" />;
  return (
    <div className={`diff-side diff-${line.kind}`}>
      <span className="diff-number">{number}</span>
      <Text line={line} {...highlights} />
    </div>
  );
}

type Of<Kind extends DiffItem['kind']> = Extract<DiffItem, { readonly kind: Kind }>;

interface RowProps {
  readonly item: Of<'pair'> | Of<'line'>;
  readonly context: ItemContext;
}

/** A line, or a pair side by side. */
function Row({ item, context: { sides, words } }: RowProps) {
  const highlights = { words, colours: useDiffColours(item.file, sides) };
  if (item.kind === 'pair')
    return (
      <div className="diff-pair">
        <Side line={item.left} number={item.left?.oldNumber} {...highlights} />
        <Side line={item.right} number={item.right?.newNumber} {...highlights} />
      </div>
    );
  const { line } = item;
  return (
    <div className={`diff-line diff-${line.kind}`}>
      <span className="diff-number">{line.oldNumber}</span>
      <span className="diff-number">{line.newNumber}</span>
      <Text line={line} {...highlights} />
    </div>
  );
}

interface GapProps {
  readonly item: Of<'gap'>;
  readonly grow: ItemContext['grow'];
}

/** A gap: the number of unchanged lines and the buttons that expand it. */
function GapRow({ item: { file, index, count, heading }, grow }: GapProps) {
  const more = (direction: Direction, Icon: typeof ChevronUp) => {
    const label = `Show ${counted(Math.min(STEP, count), 'line')} ${direction === 'up' ? 'above' : 'below'}`;
    return (
      <button
        type="button"
        className="diff-more"
        aria-label={label}
        title={label}
        onClick={() => grow(file, index, direction)}
      >
        <Icon {...ICON} />
      </button>
    );
  };
  return (
    <div className="diff-gap">
      <span className="diff-gap-ways">
        {count > 0 && index > 0 && more('down', ChevronDown)}
        {count > 0 && index < file.hunks.length && more('up', ChevronUp)}
      </span>
      {count > 0 && (
        <span className="diff-gap-count">
          {count === Infinity ? 'More lines below' : counted(count, 'unchanged line')}
        </span>
      )}
      {heading !== undefined && <MarkedText text={heading} marks={[]} />}
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
  const { toggle, grow } = context;
  switch (item.kind) {
    case 'file':
      return <FileHead {...context} file={item.file} isOpen={item.isOpen} />;
    case 'fold':
      return (
        <button
          type="button"
          className="line-button diff-fold"
          onClick={() => toggle(item.file, true)}
        >
          Show changes ({counted(item.lineCount, 'line')})
        </button>
      );
    case 'silent':
      return (
        <p className="empty">
          {item.file.isBinary
            ? 'Binary file: no lines to show.'
            : 'No line differs. Only the name, the mode or white space changed.'}
        </p>
      );
    case 'gap':
      return <GapRow item={item} grow={grow} />;
    case 'line':
    case 'pair':
      return <Row item={item} context={context} />;
  }
}
