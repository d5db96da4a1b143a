// All changed files below the head of the page, with the list of files beside them. Only rows near the window are
// drawn; further files are fetched page by page. Keys `n` and `p` go to the next and previous file, `j` and `k` to
// changes.

import { type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { Virtualizer, type VirtualizerHandle } from 'virtua';
import { visibleName } from '../parts/hidden-characters.ts';
import { useKeys } from '../parts/keys.ts';
import { Notice } from '../parts/notice.tsx';
import { toast } from '../parts/toasts.ts';
import { Name } from '../parts/visible-text.tsx';
import { count, counted } from '../parts/number-format.ts';
import type { DiffSides } from './diff-colours.ts';
import { Counts, Item } from './diff-item.tsx';
import type { DisplayedFile } from './diff-gaps.ts';
import { type Direction, useGrowing } from './diff-growing.ts';
import { type DiffItem, itemsOf, keyOf, pathOf } from './diff-rows.ts';
import { useWordCompare } from './diff-words.ts';
import type { FileDiff, useDiff } from './history-queries.ts';

/** px drawn above and below the window. */
const BUFFER_SIZE = 600;

interface DiffListProps {
  readonly sides: DiffSides;
  readonly head: ReactNode;
  readonly diff: ReturnType<typeof useDiff>;
  readonly isSplit: boolean;
  readonly switchSplit: () => void;
}

function Totals({ diff }: Pick<DiffListProps, 'diff'>) {
  const { files, total } = diff;
  const sum = (of: (file: FileDiff) => number): string =>
    count(files.reduce((all, file) => all + of(file), 0));
  return (
    <p className="diff-totals">
      {counted(total ?? 0, 'file')} <span className="added">+{sum((one) => one.additions)}</span>{' '}
      <span className="removed">−{sum((one) => one.deletions)}</span>
      {files.length < (total ?? 0) && (
        <span className="faint"> in the first {count(files.length)}</span>
      )}
    </p>
  );
}

interface FileListProps {
  readonly files: readonly FileDiff[];
  readonly current: string | undefined;
  readonly go: (file: FileDiff) => void;
}

function FileList({ files, current, go }: FileListProps) {
  return (
    <ul className="diff-files" aria-label="Files">
      {files.map((file) => (
        <li key={keyOf(file)}>
          <button
            type="button"
            className="diff-file-link"
            aria-current={keyOf(file) === current}
            title={visibleName(pathOf(file))}
            onClick={() => go(file)}
          >
            <Name className="diff-file-name">{pathOf(file).split('/').at(-1) ?? ''}</Name>
            <Counts file={file} />
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Fetches the next page when it comes near the window. */
function More({ diff }: Pick<DiffListProps, 'diff'>) {
  const { fetchNextPage, error, isFetching } = diff;
  useEffect(() => {
    if (error === null) void fetchNextPage();
  }, [fetchNextPage, error]);
  if (error !== null)
    return (
      <Notice
        kind="danger"
        title={error.message}
        action={{ label: 'Try again', run: () => void fetchNextPage() }}
      />
    );
  return <p className="empty">{isFetching ? 'Comparing more files' : ''}</p>;
}

/** Does the item belong to a change? */
function isChange(item: DiffItem | undefined): boolean {
  if (item?.kind === 'line') return item.line.kind !== 'same';
  return item?.kind === 'pair' && item.left?.kind !== 'same';
}

interface Steps {
  readonly items: readonly DiffItem[];
  /** Index of the first visible item. */
  readonly at: () => number;
  readonly go: (index: number) => void;
  readonly switchSplit: () => void;
  readonly grow: (file: DisplayedFile, index: number, direction: Direction) => void;
}

function useDiffKeys({ items, at, go, switchSplit, grow }: Steps): void {
  const isFile = (index: number): boolean => items[index]?.kind === 'file';
  const isHunk = (index: number): boolean => isChange(items[index]) && !isChange(items[index - 1]);
  const next = (is: (index: number) => boolean) => () =>
    go(items.findIndex((_, index) => index > at() && is(index)));
  const before = (is: (index: number) => boolean) => () =>
    go(items.findLastIndex((_, index) => index < at() && is(index)));
  const growNext = (): void => {
    const gap = items.find((item, index) => index >= at() && item.kind === 'gap' && item.count > 0);
    if (gap?.kind !== 'gap') return;
    grow(gap.file, gap.index, gap.index < gap.file.hunks.length ? 'up' : 'down');
  };
  useKeys({
    moreLines: growNext,
    nextChanged: next(isFile),
    previousChanged: before(isFile),
    nextChange: next(isHunk),
    previousChange: before(isHunk),
    split: switchSplit,
  });
}

/** The file at the top of the window. */
function useCurrent(items: readonly DiffItem[], handle: RefObject<VirtualizerHandle | null>) {
  const [current, setCurrent] = useState<string>();
  const check = (): void => {
    if (handle.current === null) return;
    // Item 0 is the head of the page.
    const top = handle.current.findItemIndex(handle.current.scrollOffset + 1) - 1;
    const file = items.slice(0, Math.max(1, top + 1)).findLast(({ kind }) => kind === 'file');
    setCurrent(file?.key);
  };
  return { current, check };
}

function report(error: unknown): void {
  toast(error instanceof Error ? error.message : String(error));
}

/** The files with their expanded gaps. Errors appear as toasts. */
function useDisplayed(
  files: readonly FileDiff[],
  { target }: DiffSides,
  scroller: RefObject<HTMLElement | null>,
) {
  const { displayed, grow } = useGrowing(files, target);
  // Why: when a gap is fully expanded, its button is gone, and with it the focus.
  const keepFocus = (): void => {
    if (document.activeElement === document.body) scroller.current?.focus();
  };
  const growAndReport = (file: DisplayedFile, index: number, direction: Direction): void =>
    void grow(file, index, direction).then(() => requestAnimationFrame(keepFocus), report);
  return { displayed, grow: growAndReport };
}

export function DiffList({ sides, head, diff, isSplit, switchSplit }: DiffListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const handle = useRef<VirtualizerHandle>(null);
  const [opened, setOpened] = useState<ReadonlyMap<string, boolean>>(new Map());
  const words = useWordCompare();
  const { files, hasNextPage } = diff;
  const { displayed, grow } = useDisplayed(files, sides, scroller);
  const items = useMemo(
    () => itemsOf(displayed, { isSplit, opened }),
    [displayed, isSplit, opened],
  );
  const { current, check } = useCurrent(items, handle);
  const toggle = (file: FileDiff, isOpen: boolean): void =>
    setOpened((before) => new Map(before).set(keyOf(file), isOpen));
  const go = (index: number): void => {
    if (index >= 0) handle.current?.scrollToIndex(index + 1, { align: 'start' });
  };
  const at = (): number => {
    const { current: list } = handle;
    return list === null ? -1 : list.findItemIndex(list.scrollOffset + 1) - 1;
  };
  useDiffKeys({ items, at, go, switchSplit, grow });
  const context = { sides, words, toggle, grow };
  return (
    <div className="diff">
      <aside className="diff-list" aria-label="Changed files" tabIndex={0}>
        <FileList
          files={files}
          current={current ?? items[0]?.key}
          go={(file) => go(items.findIndex(({ key }) => key === keyOf(file)))}
        />
      </aside>
      <div
        ref={scroller}
        className={isSplit ? 'diff-scroller diff-split' : 'diff-scroller'}
        tabIndex={0}
        role="region"
        aria-label="Changes"
      >
        <Virtualizer ref={handle} scrollRef={scroller} bufferSize={BUFFER_SIZE} onScroll={check}>
          <div className="diff-top">
            {head}
            {diff.total !== undefined && <Totals diff={diff} />}
            {diff.error !== null && files.length === 0 && (
              <Notice kind="danger" title={diff.error.message} />
            )}
            {diff.total === 0 && <p className="faint">No differences.</p>}
          </div>
          {items.map((item) => (
            <Item key={item.key} item={item} context={context} />
          ))}
          {hasNextPage && <More key={`more ${files.length}`} diff={diff} />}
        </Virtualizer>
      </div>
    </div>
  );
}
