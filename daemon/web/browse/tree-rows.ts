// The rows of a file tree from top to bottom: the content of open folders, and a note for a folder that is empty or
// unreadable.

export interface TreeItem {
  /** `tree`: a folder. */
  readonly type: string;
  readonly path: string;
  readonly name: string;
}

/** The content of a folder; undefined: still loading, or failed with `fault`. */
export interface TreeLevel {
  readonly items: readonly TreeItem[] | undefined;
  readonly fault: string | undefined;
}

/** The depth is 1 at the root. */
export type TreeRow =
  | {
      readonly kind: 'item';
      readonly item: TreeItem;
      readonly depth: number;
      /** Undefined: not a folder. */
      readonly isOpen: boolean | undefined;
    }
  | {
      readonly kind: 'note';
      readonly path: string;
      readonly depth: number;
      readonly text: string;
      readonly isFault: boolean;
    };

/** Paths of the folders on the way to a file or folder, including itself. */
export function foldersTo(path: string): string[] {
  const names = path === '' ? [] : path.split('/');
  return names.map((_, index) => names.slice(0, index + 1).join('/'));
}

function noteOf({ items, fault }: TreeLevel): string | undefined {
  if (fault !== undefined) return fault;
  // A loading folder keeps one empty row.
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

/** Rows of a filtered tree. */
const FILTERED_MAX = 500;

/**
 * The files whose paths contain a text, ignoring case, inside their folders. Folders are open unless the user closed
 * them.
 *
 * @param paths  in tree order
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
  if (count === 0) return 'No matching files.';
  return count > FILTERED_MAX ? `First ${FILTERED_MAX} of ${count} matching files` : undefined;
}

/** The effect of a key at a row: move to another row, or toggle a folder. Undefined: none. */
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

/** The usual keys of a tree: right opens or enters a folder, left closes or leaves it. */
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
