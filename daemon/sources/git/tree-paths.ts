// Finds the objects at paths in the tree of a commit, and the content of folders. Walks down from the root through cached
// trees (object-reader.ts); a path is never given to git, so none can be taken for anything else.

import { addToList } from '../../base/lists.ts';
import { nextTimeSlice } from '../../base/next-time-slice.ts';
import { readTree } from './object-reader.ts';
import { baseNameOf, folderOf } from '../../base/paths.ts';
import { sortItems, type Tree, type TreeItem, type TreeItemType } from './tree-object.ts';

/** Levels between two yields: cached trees are read without waiting. */
const LEVELS_PER_TIME_SLICE = 64;

export interface FoundItem {
  readonly type: TreeItemType;
  readonly isSymlink: boolean;
  readonly oid: string;
}

/** A child of a folder. */
export interface FolderChild {
  readonly name: string;
  readonly type: TreeItemType;
}

/** Path of a folder, "" for the root -> its children in the order of answers. */
export type Folders = ReadonlyMap<string, readonly FolderChild[]>;

/** The trees on the way down to a path, from the root on; several per level if names look alike. */
type Levels = (level: number, trees: readonly Tree[]) => void;

/**
 * The items at a path below a root tree: none, one, or several if bytes that are not UTF-8 make paths look alike.
 * `onLevel` gets the trees on the way: those that contain the segment of that number. Yields to other work. Errors: as
 * `readTree`; the reason of the signal.
 */
export async function findItems(
  repoPath: string,
  rootOid: string,
  path: string,
  signal: AbortSignal,
  onLevel: Levels = () => {},
  clientKey = '',
): Promise<readonly FoundItem[]> {
  let found: readonly FoundItem[] = [{ type: 'tree', isSymlink: false, oid: rootOid }];
  for (const [level, segment] of path.split('/').entries()) {
    if (found.length === 0) break;
    if (level % LEVELS_PER_TIME_SLICE === LEVELS_PER_TIME_SLICE - 1) await nextTimeSlice(clientKey);
    signal.throwIfAborted();
    const next: FoundItem[] = [];
    const trees: Tree[] = [];
    for (const { oid, type } of found) {
      if (type !== 'tree') continue;
      const tree = await readTree(repoPath, oid, signal);
      trees.push(tree);
      for (const item of tree.entriesNamed(segment)) next.push(foundItem(tree, item));
    }
    onLevel(level, trees);
    found = next;
  }
  return found;
}

/** Item of a tree by name. */
export function foundItem(tree: Tree, item: TreeItem): FoundItem {
  return { type: item.type, isSymlink: item.isSymlink, oid: tree.oidOf(item) };
}

/**
 * The children of the requested folders of a tree: with each path all folders above it, and always "". Errors: as
 * `readTree`.
 */
export async function readTreeFolders(
  repoPath: string,
  rootOid: string,
  requested: ReadonlySet<string>,
  signal: AbortSignal,
  clientKey = '',
): Promise<Folders> {
  const folders = new Map<string, readonly FolderChild[]>();
  const namesIn = namesByFolder(requested);
  const pending = [{ path: '', oid: rootOid }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (folders.size % LEVELS_PER_TIME_SLICE === LEVELS_PER_TIME_SLICE - 1)
      await nextTimeSlice(clientKey);
    signal.throwIfAborted();
    const { path, oid } = next;
    const tree = await readTree(repoPath, oid, signal);
    const items = folders.get(path);
    folders.set(path, items === undefined ? tree.sorted : sortItems([...items, ...tree.items]));
    const prefix = path === '' ? '' : `${path}/`;
    for (const name of namesIn.get(path) ?? [])
      for (const item of tree.entriesNamed(name))
        if (item.type === 'tree') pending.push({ path: prefix + name, oid: tree.oidOf(item) });
  }
  return folders;
}

/** These folders, those above them, and the root. */
export function withFoldersAbove(folders: Iterable<string>): Set<string> {
  const all = new Set(['']);
  for (const folder of folders) {
    for (let slash = folder.indexOf('/'); slash >= 0; slash = folder.indexOf('/', slash + 1))
      all.add(folder.slice(0, slash));
    all.add(folder);
  }
  return all;
}

/** Path of a folder -> names of the requested folders in it. */
function namesByFolder(requested: ReadonlySet<string>): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const path of requested) {
    if (path !== '') addToList(names, folderOf(path), baseNameOf(path));
  }
  return names;
}
