// From paths to objects in the tree of a commit: what is at a path, and what the folders of a set of paths hold. Walks
// down from the root through trees that are kept (object-reader.ts); a path is never given to git, so none can be
// taken for anything else.

import { readTree } from './object-reader.ts';
import { sortItems, type Tree, type TreeItemType } from './tree-object.ts';

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

/**
 * What is at a path: nothing, one item, or several where bytes that are not UTF-8 make paths look alike.
 *
 * @param rootOid  id of the root tree
 * @param path     not ""
 *
 * Errors: as `readTree`.
 */
export async function findItems(
  repoPath: string,
  rootOid: string,
  path: string,
  signal: AbortSignal,
): Promise<readonly FoundItem[]> {
  let found: readonly FoundItem[] = [{ type: 'tree', isSymlink: false, oid: rootOid }];
  for (const segment of path.split('/')) {
    const next: FoundItem[] = [];
    for (const { oid, type } of found) {
      if (type !== 'tree') continue;
      const tree = await readTree(repoPath, oid, signal);
      for (const item of tree.named(segment))
        next.push({ type: item.type, isSymlink: item.isSymlink, oid: tree.oidOf(item) });
    }
    found = next;
  }
  return found;
}

/**
 * The children of those folders of a tree that are wanted.
 *
 * @param wanted  with each path the paths of the folders above it, and "" in any case
 *
 * Errors: as `readTree`.
 */
export async function readTreeFolders(
  repoPath: string,
  rootOid: string,
  wanted: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Folders> {
  const folders = new Map<string, readonly FolderChild[]>();
  const pending = [{ path: '', oid: rootOid }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { path, oid } = next;
    const tree = await readTree(repoPath, oid, signal);
    const known = folders.get(path);
    folders.set(path, known === undefined ? tree.sorted : sortItems([...known, ...tree.items]));
    if (wanted.size > folders.size) pending.push(...wantedChildren(path, tree, wanted));
  }
  return folders;
}

/** Cost: looks at the wanted paths or at the items, whichever are fewer. */
function wantedChildren(
  path: string,
  tree: Tree,
  wanted: ReadonlySet<string>,
): { path: string; oid: string }[] {
  const prefix = path === '' ? '' : `${path}/`;
  const items =
    wanted.size < tree.items.length
      ? [...wanted]
          .filter((other) => other.startsWith(prefix) && other !== path)
          .map((other) => other.slice(prefix.length))
          .filter((name) => !name.includes('/'))
          .flatMap((name) => tree.named(name))
      : tree.items.filter(({ name }) => wanted.has(prefix + name));
  return items
    .filter(({ type }) => type === 'tree')
    .map((item) => ({ path: prefix + item.name, oid: tree.oidOf(item) }));
}
