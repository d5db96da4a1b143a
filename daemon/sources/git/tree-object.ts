// Parses one git tree object: the children of one folder version, in git's order and in the API's order, found by name.
// object-reader.ts reads and caches trees; trees.ts reads whole trees of commits.

import { compareText, hasSurrogates, isInnerPath, REPLACEMENT } from '../../base/paths.ts';

/** `commit` is a submodule. */
export type TreeItemType = 'tree' | 'blob' | 'commit';

export interface TreeItem {
  /** One segment; U+FFFD in place of bytes that are not UTF-8. */
  readonly name: string;
  readonly type: TreeItemType;
  /** The content is the target text of a link. */
  readonly isSymlink: boolean;
  /** Bytes from the start of the tree object. */
  readonly idOffset: number;
}

const TYPE_MASK = 0o170000;
/**
 * Bytes of an item besides its part of the object: the record, its name, its positions in lists, and cached answer data.
 * Measured: 2026-11-28: 151 without answer data.
 */
const ITEM_SIZE = 300;

export class Tree {
  /** In git's order, without names that leave the folder. */
  readonly items: readonly TreeItem[];
  readonly #object: Buffer;
  readonly #idSize: number;
  #byName: ReadonlyMap<string, TreeItem> | undefined;
  #sorted: readonly TreeItem[] | undefined;

  /** The ids in a tree have as many digits as its own. The object is kept. Errors: throws if it is damaged. */
  constructor(oid: string, object: Buffer) {
    this.#object = object;
    this.#idSize = oid.length / 2;
    this.items = parseItems(oid, object);
  }

  /** Bytes of memory, approximately. */
  get memorySize(): number {
    return this.#object.length + ITEM_SIZE * (this.items.length + 1);
  }

  oidOf(item: TreeItem): string {
    return this.#object.toString('hex', item.idOffset, item.idOffset + this.#idSize);
  }

  /** The children of this name: at most one, unless bytes that are not UTF-8 make several look alike. */
  entriesNamed(name: string): readonly TreeItem[] {
    if (name.includes(REPLACEMENT)) return this.items.filter((item) => item.name === name);
    this.#byName ??= new Map(this.items.map((item) => [item.name, item]));
    const item = this.#byName.get(name);
    return item === undefined ? [] : [item];
  }

  /** Folders first, then by name without case, ties by bytes. */
  get sorted(): readonly TreeItem[] {
    this.#sorted ??= sortItems(this.items);
    return this.#sorted;
  }
}

function parseItems(oid: string, object: Buffer): TreeItem[] {
  const items: TreeItem[] = [];
  forEachEntry(oid, object, (mode, nameStart, nameEnd) => {
    const name = object.toString('utf8', nameStart, nameEnd);
    if (!isInnerPath(name)) return;
    const type = mode === MODE_TREE ? 'tree' : mode === MODE_SUBMODULE ? 'commit' : 'blob';
    items.push({ name, type, isSymlink: mode === MODE_SYMLINK, idOffset: nameEnd + 1 });
  });
  return items;
}

/** Types of entries, in octal digits of modes. */
export const MODE_TREE = 0o040000;
export const MODE_SUBMODULE = 0o160000;
export const MODE_SYMLINK = 0o120000;

/**
 * Calls back for each entry of a tree object with its type and the position of its name; its id begins one byte after
 * the name. Source: `<mode> <name>\0<id>`, repeated. Errors: throws if it is damaged.
 */
export function forEachEntry(
  oid: string,
  object: Buffer,
  onEntry: (mode: number, nameStart: number, nameEnd: number) => void,
): void {
  const idSize = oid.length / 2;
  for (let start = 0; start < object.length;) {
    const nameStart = object.indexOf(0x20, start) + 1;
    const nameEnd = object.indexOf(0, nameStart);
    const end = nameEnd + 1 + idSize;
    if (nameStart === 0 || nameEnd < 0 || end > object.length)
      throw new Error(`tree ${oid} is damaged`);
    const mode = Number.parseInt(object.toString('latin1', start, nameStart - 1), 8) & TYPE_MASK;
    onEntry(mode, nameStart, nameEnd);
    start = end;
  }
}

/**
 * Folders first, then by name without case, ties by bytes: the order of folders in answers (API.md 11.3).
 * @returns  a new list
 */
export function sortItems<Item extends { readonly name: string; readonly type: TreeItemType }>(
  items: readonly Item[],
): Item[] {
  const rows = items.map((item) => ({
    item,
    key: item.name.toLowerCase(),
    rank: item.type === 'tree' ? 0 : 1,
  }));
  // Why: testing for surrogates in each comparison takes longer than comparing.
  const compare = rows.some(({ key }) => hasSurrogates(key)) ? compareText : compareUnits;
  rows.sort(
    (a, b) => a.rank - b.rank || compare(a.key, b.key) || compare(a.item.name, b.item.name),
  );
  return rows.map(({ item }) => item);
}

/** The order of `compareText` for texts without surrogates. */
function compareUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
