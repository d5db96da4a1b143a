// The list of files with matches. Only cards near the window are in the page. A card has its final height from the
// first paint, and stays in place while others arrive.

import { LRUCache } from 'lru-cache';
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { type CacheSnapshot, Virtualizer, type VirtualizerHandle } from 'virtua';
import { meanHeight } from './card-rows.ts';
import { focusSoon } from '../parts/focus-soon.ts';
import { useIsLate, usePainted } from '../parts/late.ts';
import { addressTyped } from './box-state.ts';
import { copyCode } from './copy-code.ts';
import { FilteredOut, Nothing, Unread } from './no-results.tsx';
import { PrintedResults } from './printed-results.tsx';
import { isPositionRequested, savePosition, takePosition } from './list-position.ts';
import type { RequestedPosition } from './list-position.ts';
import { CardTotal, ResultCard } from './result-card.tsx';
import { type Focused, focusedOf, type Parts, useResultKeys } from './result-keys.ts';
import type { ResultFile } from './rows.ts';
import { hasAllCome, useSearch } from './search-store.ts';

interface ResultListProps {
  readonly files: readonly ResultFile[];
  /** Number of files before filtering. */
  readonly loadedCount: number;
  /** Called when a part of a file gets the focus. */
  readonly onFocus: (focused: Focused) => void;
}

/** px drawn above and below the window. */
const BUFFER_SIZE = 600;
/** ms without scrolling after which the position is stored. */
const SCROLL_REST_MS = 100;

/** Heights of earlier lists by their content, for the way back. */
const heights = new LRUCache<string, CacheSnapshot>({ max: 5 });

function useListName(files: readonly ResultFile[]): string {
  const { displayed, sort } = useSearch.getState();
  return JSON.stringify([displayed, sort, files.length, files[0]?.key]);
}

/** Restores the focus once its element is in the page, unless the user has moved it meanwhile. */
function focusPosition(
  scroller: Element,
  { position: { key, line }, focused }: RequestedPosition,
): void {
  if (key === undefined) return;
  const stop = line === 0 ? '.file-link' : `.result-line[data-line="${line}"]`;
  const target = `article[data-key="${CSS.escape(key)}"] ${stop}`;
  const find = () => scroller.querySelector<HTMLElement>(target) ?? undefined;
  focusSoon(find, { preventScroll: true }, focused);
}

/** Restores the stored scroll position once the list is long enough. Gives up if another list appears. */
function useReturn({ scroller, list, files }: Parts, viewId: number): void {
  const isOver = useSearch(({ state }) => state !== 'running');
  const [taken, setTaken] = useState(() => ({ target: takePosition(), viewId }));
  const target = taken.viewId === viewId ? taken.target : undefined;
  useLayoutEffect(() => {
    const handle = list.current;
    if (target === undefined || handle === null || files.length === 0) return;
    const { offset } = target.position;
    if (!isOver && handle.scrollSize < offset + handle.viewportSize) return;
    setTaken({ target: undefined, viewId });
    handle.scrollTo(offset);
    if (scroller.current !== null) focusPosition(scroller.current, target);
  }, [target, files.length, isOver, list, scroller, viewId]);
}

/** Stores the scroll position and the focus in the history entry. */
function useSavedPosition({ scroller, list, files }: Parts): () => void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef(files);
  latest.current = files;
  const keep = (): void => {
    clearTimeout(timer.current);
    const { displayed, submitted } = useSearch.getState();
    if (list.current === null || displayed !== submitted) return;
    const focused = focusedOf({ scroller, files: latest.current });
    const { scrollOffset: offset } = list.current;
    savePosition({ offset, key: focused?.file.key, line: focused?.line ?? 0 });
  };
  const kept = useRef(keep);
  kept.current = keep;
  useEffect(() => {
    // Stores the position before navigation. Why only for links: storing changes the history state, so the router
    // rerenders, which would undo the tick of a checkbox being clicked.
    const now = ({ target, button, ctrlKey, metaKey, shiftKey }: MouseEvent): void => {
      if (!(target instanceof Element) || target.closest('a') === null) return;
      if (button === 0 && !ctrlKey && !metaKey && !shiftKey) addressTyped();
      kept.current();
    };
    addEventListener('click', now, { capture: true });
    return () => {
      removeEventListener('click', now, { capture: true });
      clearTimeout(timer.current);
    };
  }, []);
  return () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => kept.current(), SCROLL_REST_MS);
  };
}

/** Files that stay mounted at any distance: the focused one with its neighbours, and those with selected text. */
function useKeptFiles({ scroller, files }: Omit<Parts, 'list'>) {
  const [focusedKey, setFocused] = useState<string>();
  const [selected, setSelected] = useState<readonly string[]>([]);
  useEffect(() => {
    const check = (): void => {
      const selection = getSelection();
      const ends =
        selection?.isCollapsed === false ? [selection.anchorNode, selection.focusNode] : [];
      const keys = ends.flatMap((node) => {
        const element = node instanceof Element ? node : node?.parentElement;
        const article = element?.closest('article[data-key]');
        return article instanceof HTMLElement && scroller.current?.contains(article) === true
          ? [article.dataset['key'] ?? '']
          : [];
      });
      setSelected((before) => (before.join() === keys.join() ? before : keys));
    };
    document.addEventListener('selectionchange', check);
    return () => document.removeEventListener('selectionchange', check);
  }, [scroller]);
  const at = focusedKey === undefined ? -1 : files.findIndex(({ key }) => key === focusedKey);
  const near = at < 0 ? [] : [at - 1, at, at + 1];
  const others = selected.map((key) => files.findIndex((file) => file.key === key));
  const keepMounted = [...new Set([...near, ...others])]
    .filter((index) => index >= 0 && index < files.length)
    .toSorted((a, b) => a - b);
  return { keepMounted, setFocused };
}

/** When the order changes, keeps the current file at its place in the window. */
function useSortAnchor({ scroller, list, files }: Parts): void {
  const sort = useSearch((state) => state.sort);
  const before = useRef({ sort, files });
  useLayoutEffect(() => {
    const handle = list.current;
    const { sort: sortBefore, files: filesBefore } = before.current;
    before.current = { sort, files };
    if (sortBefore === sort || handle === null) return;
    const focused = focusedOf({ scroller, files: filesBefore });
    const index = handle.findItemIndex(handle.scrollOffset);
    const anchor = focused?.file ?? filesBefore[index];
    const position = files.findIndex(({ key }) => key === anchor?.key);
    if (position < 0 || anchor === undefined) return;
    const was = filesBefore.indexOf(anchor);
    const offset = handle.scrollOffset - handle.getItemOffset(was);
    handle.scrollToIndex(position, { align: 'start', offset });
  }, [sort, files, list, scroller]);
}

function cardOf(file: ResultFile, index: number) {
  return <ResultCard key={file.key} file={file} position={index + 1} />;
}

interface FeedProps extends ResultListProps {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly viewId: number;
}

function Feed({ files, loadedCount, onFocus, scroller, viewId }: FeedProps) {
  const list = useRef<VirtualizerHandle>(null);
  const { state, displayed, submitted, failure } = useSearch();
  const areAll = useSearch(hasAllCome);
  const isUnread = state === 'failed' && failure?.statusCode === 400;
  const parts = { scroller, list, files };
  const name = useListName(files);
  const [cache] = useState(() => heights.get(name));
  const [itemSize] = useState(() => meanHeight(files));
  const { keepMounted, setFocused } = useKeptFiles(parts);
  const latestName = useRef(name);
  latestName.current = name;
  useLayoutEffect(() => {
    const handle = list.current;
    return () => {
      if (handle !== null) heights.set(latestName.current, handle.cache);
    };
  }, []);
  useReturn(parts, viewId);
  useSortAnchor(parts);
  useResultKeys(parts);
  const keepSoon = useSavedPosition(parts);
  // The first paint draws only what is in the window.
  const bufferSize = usePainted(viewId, -1) === viewId ? BUFFER_SIZE : 0;
  // Why late: marking the old results costs a repaint while the answer is due.
  const isLate = useIsLate(displayed !== submitted);
  const isOld = isLate && displayed !== submitted && files.length > 0;
  return (
    <div
      ref={scroller}
      className={isOld ? 'result-scroller results-old' : 'result-scroller'}
      tabIndex={0}
      // The role `feed` requires articles.
      role={files.length === 0 ? 'region' : 'feed'}
      aria-label={isOld ? 'Results of the previous search' : 'Results'}
      aria-busy={state === 'running'}
      onCopy={copyCode}
      onFocus={() => {
        const focused = focusedOf(parts);
        setFocused(focused?.file.key);
        if (focused !== undefined) onFocus(focused);
        keepSoon();
      }}
    >
      {files.length === 0 && loadedCount > 0 && <FilteredOut loadedCount={loadedCount} />}
      {loadedCount === 0 && state === 'done' && <Nothing />}
      {loadedCount === 0 && isUnread && <Unread />}
      <CardTotal value={areAll ? files.length : -1}>
        <Virtualizer
          ref={list}
          data={files}
          scrollRef={scroller}
          bufferSize={bufferSize}
          itemSize={itemSize}
          keepMounted={keepMounted}
          onScroll={keepSoon}
          {...(cache === undefined ? {} : { cache })}
        >
          {cardOf}
        </Virtualizer>
      </CardTotal>
      <PrintedResults files={files} />
    </div>
  );
}

/** Can a new list reuse the frame of the current one? Only if that is at its top and its cards are measured. */
function isFrameFit(scroller: Element | null): boolean {
  if (scroller === null || isPositionRequested()) return false;
  return scroller.scrollTop === 0 && scroller.querySelector('.result-card') !== null;
}

/**
 * A new list begins at its top. Why it reuses the frame if possible: a new frame draws nothing until it has been
 * measured.
 */
export function ResultList(props: ResultListProps) {
  const viewId = useSearch((state) => state.viewId);
  const scroller = useRef<HTMLDivElement>(null);
  const [displayed, setDisplayed] = useState({ viewId, frame: viewId });
  if (displayed.viewId !== viewId) {
    const frame = isFrameFit(scroller.current) ? displayed.frame : viewId;
    setDisplayed({ viewId, frame });
  }
  return <Feed key={displayed.frame} {...props} scroller={scroller} viewId={viewId} />;
}
