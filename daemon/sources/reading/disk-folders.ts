// Folder contents of a repo whose docs are files on disk: those that git lists for a work tree, or those of a plain folder,
// without ignored ones. Not cached: the disk changes without notice.

import { readdirSync } from 'node:fs';
import { listWorktree } from '../git/objects.ts';
import { withSlot } from '../git/git-slots.ts';
import { baseNameOf, headOf, joinPath, type TreePath } from '../../base/paths.ts';
import type { RepoSource } from '../../repos/records.ts';
import { sortItems, type TreeItemType } from '../git/tree-object.ts';
import type { FolderChild, Folders } from '../git/tree-paths.ts';
import { LoopYielder } from '../../base/next-time-slice.ts';
import { diskPathOf, FolderGuard, isNowhere } from '../disk/disk.ts';
import { walkFolders } from '../disk/folder-walk.ts';
import { compileIgnoreGlobs } from '../disk/globs.ts';

/** Any path in a folder. */
const WITHIN = { path: '.' };

/**
 * The children of the requested folders; `isMatch` is true for them, the root, and each folder above one. Errors:
 * GitBusyError; GitError; an error of the file system if the root cannot be read; the reason of the signal.
 */
export function readDiskFolders(
  source: RepoSource,
  isMatch: (path: string) => boolean,
  signal: AbortSignal,
): Promise<Folders> {
  return source.kind === 'worktree'
    ? readWorktree(source, isMatch, signal)
    : readPlainFolder(source, isMatch, signal);
}

async function readPlainFolder(
  source: RepoSource,
  isMatch: (path: string) => boolean,
  signal: AbortSignal,
): Promise<Folders> {
  const folders = new Map<string, FolderChild[]>();
  const walk = walkFolders(source.path, { isEntered: isMatch, rules: source });
  for await (const { path, docs, folders: inner } of walk) {
    signal.throwIfAborted();
    const children = [...childrenOf(docs, 'blob'), ...childrenOf(inner, 'tree')];
    folders.set(path, sortItems([...(folders.get(path) ?? []), ...children]));
  }
  return folders;
}

function childrenOf(paths: readonly TreePath[], type: TreeItemType): FolderChild[] {
  return paths.map(({ path }) => ({ name: baseNameOf(path), type }));
}

/** git's listing of a folder; the bytes of the folder's path are those of its first doc. */
interface Listed {
  readonly folder: TreePath;
  /** Docs and submodules, by path. */
  readonly paths: TreePath[];
  readonly folderNames: Set<string>;
}

async function readWorktree(
  { path: root, noIgnore, ignore }: RepoSource,
  isMatch: (path: string) => boolean,
  signal: AbortSignal,
): Promise<Folders> {
  const paths = await withSlot(root, signal, () => listWorktree(root, { signal, noIgnore }));
  const isExcluded = compileIgnoreGlobs(ignore);
  const yielder = new LoopYielder();
  const listed = new Map<string, Listed>();
  for (const treePath of paths) {
    await yielder.pause();
    // A nested repository that is not a submodule has none of our docs.
    if (!treePath.path.endsWith('/') && !isExcluded(treePath.path))
      addPath(treePath, isMatch, listed);
  }
  const guard = new FolderGuard(root);
  const folders = new Map<string, readonly FolderChild[]>();
  if (!listed.has('')) folders.set('', []);
  for (const [path, entry] of listed) {
    await yielder.pause();
    signal.throwIfAborted();
    if (!guard.isInside(joinPath(entry.folder, WITHIN))) continue;
    folders.set(path, sortItems(addEntry(root, entry, guard)));
  }
  return folders;
}

/** Adds the path to each requested folder above it. */
function addPath(
  treePath: TreePath,
  isMatch: (path: string) => boolean,
  listed: Map<string, Listed>,
): void {
  const { path } = treePath;
  for (let end = 0; ;) {
    const folder = path.slice(0, Math.max(0, end - 1));
    if (!isMatch(folder)) return;
    const entry = listed.get(folder) ?? newListed(treePath, folder);
    listed.set(folder, entry);
    const slash = path.indexOf('/', end);
    if (slash < 0) {
      entry.paths.push(treePath);
      return;
    }
    entry.folderNames.add(path.slice(end, slash));
    end = slash + 1;
  }
}

function newListed({ rawPath }: TreePath, path: string): Listed {
  const count = path === '' ? 0 : path.split('/').length;
  const folder = rawPath === undefined ? { path } : { path, rawPath: headOf(rawPath, count) };
  return { folder, paths: [], folderNames: new Set() };
}

/** Drops paths missing on disk, and anything but files, links, folders and submodules. */
function addEntry(
  root: string,
  { folder, paths, folderNames }: Listed,
  guard: FolderGuard,
): FolderChild[] {
  const types = readTypes(root, folder);
  const children: FolderChild[] = [];
  for (const name of folderNames)
    if (
      types.get(name) === 'tree' &&
      !guard.isOwn(joinPath(joinPath(folder, { path: name }), WITHIN))
    )
      children.push({ name, type: 'tree' });
  for (const { path } of paths) {
    const name = baseNameOf(path);
    const type = types.get(name);
    if (type === 'blob') children.push({ name, type });
    else if (type === 'tree') children.push({ name, type: 'commit' });
  }
  return children;
}

/** Types of a folder's children on disk, by name. */
function readTypes(root: string, folder: TreePath): Map<string, 'tree' | 'blob' | undefined> {
  try {
    const location = folder.path === '' ? root : diskPathOf(root, folder);
    const entries = readdirSync(location, { withFileTypes: true });
    return new Map(
      entries.map((entry) => [
        entry.name,
        entry.isDirectory()
          ? 'tree'
          : entry.isFile() || entry.isSymbolicLink()
            ? 'blob'
            : undefined,
      ]),
    );
  } catch (error) {
    if (folder.path !== '' && isNowhere(error)) return new Map();
    throw error;
  }
}
