// The rows of a tree of files, from top to bottom: what folders that are open hold, and what is to be said of one that cannot
// be read or holds nothing.

export interface TreeItem {
  /** `tree`: a folder. */
  readonly type: string;
  readonly path: string;
  readonly name: string;
}

/** What one folder holds; undefined: not known yet, or not to be had because of `fault`. */
export interface TreeLevel {
  readonly items: readonly TreeItem[] | undefined;
  readonly fault: string | undefined;
}

/** Depth is 1 at the root. */
export type TreeRow =
  | {
      readonly kind: 'item';
      readonly item: TreeItem;
      readonly depth: number;
      /** Undefined: it is no folder. */
      readonly isOpen: boolean | undefined;
    }
  | {
      readonly kind: 'note';
      readonly path: string;
      readonly depth: number;
      readonly text: string;
      readonly isFault: boolean;
    };

/** Paths of the folders that lead to a file or folder, that itself among them. */
export function foldersTo(path: string): string[] {
  const names = path === '' ? [] : path.split('/');
  return names.map((_, index) => names.slice(0, index + 1).join('/'));
}

function noteOf({ items, fault }: TreeLevel): string | undefined {
  if (fault !== undefined) return fault;
  // While it is read, its place is kept.
  if (items === undefined) return '';
  return items.length === 0 ? 'Empty' : undefined;
}

/** @param levels  by path of the folder, '' for the root */
export function rowsOf(
  levels: ReadonlyMap<string, TreeLevel>,
  open: ReadonlySet<string>,
  path = '',
  depth = 1,
): TreeRow[] {
  const level = levels.get(path) ?? { items: undefined, fault: undefined };
  const text = noteOf(level);
  if (text !== undefined)
    return [{ kind: 'note', path, depth, text, isFault: level.fault !== undefined }];
  return (level.items ?? []).flatMap((item): TreeRow[] => {
    if (item.type !== 'tree') return [{ kind: 'item', item, depth, isOpen: undefined }];
    const isOpen = open.has(item.path);
    const below = isOpen ? rowsOf(levels, open, item.path, depth + 1) : [];
    return [{ kind: 'item', item, depth, isOpen }, ...below];
  });
}

/** Files that a filter shows at most. */
const FILTERED_MAX = 500;

/**
 * The files whose paths hold a text, in any case, below the folders that lead to them, which are open unless they were closed.
 *
 * @param paths  in the order of a tree
 */
export function filteredRows(
  paths: readonly string[],
  filter: string,
  closed: ReadonlySet<string>,
): TreeRow[] {
  const text = filter.trim().toLowerCase();
  const fitting = paths.filter((path) => path.toLowerCase().includes(text));
  const rows: TreeRow[] = [];
  const seen = new Set<string>();
  for (const path of fitting.slice(0, FILTERED_MAX)) {
    const names = path.split('/');
    for (const [index, name] of names.entries()) {
      const at = names.slice(0, index + 1).join('/');
      const isFile = index === names.length - 1;
      const isOpen = isFile ? undefined : !closed.has(at);
      const item = { type: isFile ? 'blob' : 'tree', path: at, name };
      if (!seen.has(at)) rows.push({ kind: 'item', item, depth: index + 1, isOpen });
      seen.add(at);
      if (isOpen === false) break;
    }
  }
  const note = filterNote(fitting.length);
  return note === undefined
    ? rows
    : [...rows, { kind: 'note', path: '', depth: 1, text: note, isFault: false }];
}

function filterNote(count: number): string | undefined {
  if (count === 0) return 'No file fits.';
  return count > FILTERED_MAX ? `First ${FILTERED_MAX} of ${count} files that fit` : undefined;
}

/** What a key does at a row: to another row, or its folder opens or closes. Undefined: nothing. */
export type TreeMove = { readonly to: number } | { readonly toggle: string } | undefined;

function stepTo(rows: readonly TreeRow[], from: number, by: 1 | -1): TreeMove {
  for (let index = from + by; index >= 0 && index < rows.length; index += by)
    if (rows[index]?.kind === 'item') return { to: index };
  return undefined;
}

function parentOf(rows: readonly TreeRow[], from: number): TreeMove {
  const depth = rows[from]?.depth ?? 1;
  const index = rows.slice(0, from).findLastIndex((row) => row.depth < depth);
  return index < 0 ? undefined : { to: index };
}

/** As trees do it everywhere: right opens and goes in, left closes and goes out. */
export function moveOf(rows: readonly TreeRow[], from: number, key: string): TreeMove {
  const row = rows[from];
  if (row?.kind !== 'item') return undefined;
  const { isOpen, item } = row;
  switch (key) {
    case 'ArrowDown':
      return stepTo(rows, from, 1);
    case 'ArrowUp':
      return stepTo(rows, from, -1);
    case 'ArrowRight':
      if (isOpen === undefined) return undefined;
      return isOpen ? stepTo(rows, from, 1) : { toggle: item.path };
    case 'ArrowLeft':
      return isOpen === true ? { toggle: item.path } : parentOf(rows, from);
    case 'Home':
      return stepTo(rows, -1, 1);
    case 'End':
      return stepTo(rows, rows.length, -1);
    default:
      return undefined;
  }
}
