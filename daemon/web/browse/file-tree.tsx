// The file tree. A folder is listed when it is opened; folders on the path to the file are open. The active row is the
// only tab stop; arrow keys move from it. Only rows near the window are drawn.

import { useQueries } from '@tanstack/react-query';
import { ChevronDown, ChevronRight, File, Folder, FolderGit2 } from 'lucide-react';
import { type KeyboardEvent, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { Virtualizer, type VirtualizerHandle } from 'virtua';
import { Link } from 'wouter';
import { FilterInput } from '../parts/field.tsx';
import { visibleName } from '../parts/hidden-characters.ts';
import { focusSoon } from '../parts/focus-soon.ts';
import { ICON } from '../parts/icon.ts';
import { Name } from '../parts/visible-text.tsx';
import { addressOf, type BrowseTarget } from './address.ts';
import { folderQuery, useFiles } from './file-queries.ts';
import { filteredRows, foldersTo, moveOf, rowsOf } from './tree-rows.ts';
import type { TreeLevel, TreeRow } from './tree-rows.ts';

/** Height of a row in px. A first estimate: the styles set the real height. */
const ROW_HEIGHT = 24;
const NONE: ReadonlySet<string> = new Set();

/** Removes the folder from the set, or adds it. */
function toggled(folders: ReadonlySet<string>, folder: string): ReadonlySet<string> {
  const after = new Set(folders);
  if (!after.delete(folder)) after.add(folder);
  return after;
}

/** The open folders. Those on the path of the address open when the address changes. */
function useOpenFolders({ path }: BrowseTarget) {
  const [open, setOpen] = useState<ReadonlySet<string>>(() => new Set(foldersTo(path)));
  useEffect(() => setOpen((before) => new Set([...before, ...foldersTo(path)])), [path]);
  const toggle = (folder: string): void => setOpen((before) => toggled(before, folder));
  return { open, toggle };
}

interface Levels {
  /** The content of open folders, by path. */
  readonly levels: ReadonlyMap<string, TreeLevel>;
  /** Is a folder still loading? */
  readonly isDue: boolean;
}

function useLevels(target: BrowseTarget, open: ReadonlySet<string>): Levels {
  // Why: the last path may name a file. Only paths that their parent lists as folders are fetched.
  const listed = useRef(new Set<string>(['']));
  const paths = ['', ...open].filter((path) => listed.current.has(path));
  const answers = useQueries({ queries: paths.map((path) => folderQuery({ ...target, path })) });
  const levels = new Map<string, TreeLevel>();
  for (const [index, path] of paths.entries()) {
    const { data, error } = answers[index] ?? {};
    levels.set(path, { items: data, fault: error?.message });
    for (const item of data ?? []) if (item.type === 'tree') listed.current.add(item.path);
  }
  // Folders found in this render are fetched in the next one.
  const [, render] = useState(0);
  const isBehind = [...open].some((path) => listed.current.has(path) && !levels.has(path));
  useEffect(() => {
    if (isBehind) render((count) => count + 1);
  }, [isBehind]);
  const isAsking = [...levels.values()].some(({ items, fault }) => (items ?? fault) === undefined);
  return { levels, isDue: isBehind || isAsking };
}

/** No rows until the whole path is loaded. Otherwise rows would move when the folders above them arrive. */
function useRows(target: BrowseTarget, open: ReadonlySet<string>): readonly TreeRow[] {
  const { levels, isDue } = useLevels(target, open);
  const hasStarted = useRef(false);
  if (!isDue) hasStarted.current = true;
  return hasStarted.current ? rowsOf(levels, open) : [];
}

interface RowProps {
  readonly target: BrowseTarget;
  readonly row: TreeRow;
  readonly isActive: boolean;
  readonly toggle: (folder: string) => void;
  readonly activate: (path: string) => void;
}

function indent(depth: number) {
  return { paddingLeft: `calc(var(--space-16) * ${depth - 1})` };
}

function Row({ target, row, isActive, toggle, activate }: RowProps) {
  if (row.kind === 'note')
    return (
      <p
        className={row.isFault ? 'tree-note danger' : 'tree-note faint'}
        role="none"
        style={indent(row.depth)}
      >
        {row.text}
      </p>
    );
  const { item, depth, isOpen } = row;
  const isHere = target.path === item.path;
  const Arrow = isOpen === true ? ChevronDown : ChevronRight;
  const LeafIcon = item.type === 'commit' ? FolderGit2 : File;
  const Icon = isOpen === undefined ? LeafIcon : Folder;
  return (
    <div
      role="none"
      className={isHere ? 'tree-row tree-row-here' : 'tree-row'}
      style={indent(depth)}
    >
      <span
        className="tree-arrow"
        aria-hidden
        {...(isOpen === undefined ? {} : { onClick: () => toggle(item.path) })}
      >
        {isOpen !== undefined && <Arrow {...ICON} />}
      </span>
      <Link
        href={addressOf({
          ...target,
          kind: isOpen === undefined ? 'blob' : 'tree',
          path: item.path,
        })}
        className="tree-link"
        title={visibleName(item.path)}
        role="treeitem"
        aria-level={depth}
        aria-selected={isHere}
        aria-expanded={isOpen}
        tabIndex={isActive ? 0 : -1}
        onFocus={() => activate(item.path)}
      >
        <Icon {...ICON} />
        <Name>{item.name}</Name>
      </Link>
    </div>
  );
}

function pathOf(row: TreeRow | undefined): string | undefined {
  return row?.kind === 'item' ? row.item.path : undefined;
}

/** The row with the tab stop, and the keys that move it. */
function useActiveRow(rows: readonly TreeRow[], here: string, toggle: (folder: string) => void) {
  const list = useRef<VirtualizerHandle>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const wantsFocus = useRef(false);
  const [active, setActive] = useState(here);
  const found = rows.findIndex((row) => pathOf(row) === active);
  const index = Math.max(0, found);
  const hereIndex = rows.findIndex((row) => pathOf(row) === here);
  const hasHere = hereIndex >= 0;
  useEffect(() => {
    if (hasHere) list.current?.scrollToIndex(hereIndex, { align: 'nearest' });
    // Scrolls once per address: the row's index may change later.
  }, [here, hasHere]);
  useLayoutEffect(() => {
    if (!wantsFocus.current) return;
    wantsFocus.current = false;
    list.current?.scrollToIndex(index, { align: 'nearest' });
    const active = '[role="treeitem"][tabindex="0"]';
    focusSoon(() => scroller.current?.querySelector<HTMLElement>(active) ?? undefined, {
      preventScroll: true,
    });
  }, [index]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const move = moveOf(rows, index, event.key);
    if (move === undefined) return;
    event.preventDefault();
    if ('toggle' in move) {
      toggle(move.toggle);
      return;
    }
    wantsFocus.current = true;
    setActive(pathOf(rows[move.to]) ?? '');
  };
  return { list, scroller, index, setActive, onKeyDown };
}

interface Rows {
  readonly rows: readonly TreeRow[];
  readonly toggle: (folder: string) => void;
}

/** The rows that match the filter, with folders open at first; undefined: no filter. */
function useFilteredRows(target: BrowseTarget, filter: string): Rows | undefined {
  const isOn = filter.trim() !== '';
  const { data, error } = useFiles(target, { enabled: isOn });
  const paths = useMemo(() => data?.map(({ path }) => path).toSorted(), [data]);
  const [closed, setClosed] = useState<ReadonlySet<string>>(NONE);
  useEffect(() => setClosed(NONE), [filter]);
  const rows = useMemo(() => filteredRows(paths ?? [], filter, closed), [paths, filter, closed]);
  if (!isOn) return undefined;
  const toggle = (folder: string): void => setClosed((before) => toggled(before, folder));
  if (paths !== undefined) return { rows, toggle };
  const text = error?.message ?? 'Loading the list of files';
  return { rows: [{ kind: 'note', path: '', depth: 1, text, isFault: error !== null }], toggle };
}

export function FileTree({ target }: { readonly target: BrowseTarget }) {
  const [filter, setFilter] = useState('');
  const { open, toggle: toggleOpen } = useOpenFolders(target);
  const all: Rows = { rows: useRows(target, open), toggle: toggleOpen };
  const { rows, toggle } = useFilteredRows(target, filter) ?? all;
  // Why: a tree that holds only a note must not have the role `tree`.
  const hasItems = rows.some(({ kind }) => kind === 'item');
  const { list, scroller, index, setActive, onKeyDown } = useActiveRow(rows, target.path, toggle);
  return (
    <aside className="tree" aria-label="Files">
      <div className="tree-head">
        <FilterInput label="Filter files" hint="Filter" value={filter} set={setFilter} />
      </div>
      <div
        ref={scroller}
        className="tree-rows"
        {...(hasItems ? { role: 'tree', 'aria-label': 'Files' } : {})}
        onKeyDown={onKeyDown}
      >
        <Virtualizer
          ref={list}
          data={rows}
          scrollRef={scroller}
          itemSize={ROW_HEIGHT}
          keepMounted={[index]}
        >
          {(row, at) => (
            <Row
              key={row.kind === 'item' ? row.item.path : `${row.path}/`}
              target={target}
              row={row}
              isActive={at === index}
              toggle={toggle}
              activate={setActive}
            />
          )}
        </Virtualizer>
      </div>
    </aside>
  );
}
