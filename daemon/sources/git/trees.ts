// Reads the trees of many commits at once, level by level, through one git: each folder version of a path once, however
// many commits share it. The result is the union of their docs, and the docs of each commit. Memory: a number for each
// entry of each folder version, and each path once.

import { BlobReader } from './blob-reader.ts';
import { findObjects, type ReadOptions } from './objects.ts';
import { forEachEntry, MODE_SUBMODULE, MODE_SYMLINK, MODE_TREE } from './tree-object.ts';
import { addToList } from '../../base/lists.ts';
import { decodePath, isInnerPath, type TreePath } from '../../base/paths.ts';

/** A path and blob in some commit. */
export interface TreeDoc extends TreePath {
  readonly oid: string;
  /** In the commit that lists it first; the blob is the same in all. */
  readonly isSymlink: boolean;
}

export interface TreeUnion {
  /** In no particular order. */
  readonly docs: readonly TreeDoc[];
  readonly submodulePaths: readonly string[];
  /** Paths that leave the repository (`isInnerPath`), in no commit's docs. */
  readonly outerPaths: readonly string[];
  /** Folders missing from the repository in some commit, with a trailing slash; the commit itself if that is the root. */
  readonly lostPaths: readonly string[];
  /** Calls back with the index of each doc of a commit, by the commit's index in the call. */
  visit(commit: number, onDoc: (doc: number) => void): void;
}

/** One version of the folder at one path. */
interface FolderVersion {
  readonly docs: number[];
  /** Indexes of folder versions. */
  readonly folders: number[];
}

/** The state of a path that is a folder in some commit. */
interface Folder {
  /** Path with a trailing slash, "" for the root; its bytes as Latin-1. */
  readonly prefix: string;
  /** Versions by tree id, docs by name and blob id in bytes. */
  readonly versions: Map<string, number>;
  readonly docs: Map<string, number>;
  readonly children: Map<string, Folder>;
}

/** A folder version whose tree is not read yet. */
interface Unread {
  readonly oid: string;
  readonly folder: Folder;
  readonly version: number;
}

/** The union of the trees of these commits, except missing objects. Errors: GitError. */
export async function readTrees(
  repoPath: string,
  commits: readonly string[],
  options: ReadOptions = {},
): Promise<TreeUnion> {
  const trees = await findObjects(
    repoPath,
    commits.map((commit) => `${commit}^{tree}`),
    { timeoutMs: 0, ...options },
  );
  const union = new Union();
  const roots = trees.map((tree, index) => {
    if (tree !== undefined) return union.addRoot(tree.oid);
    union.lostPaths.add(commits[index]!);
    return undefined;
  });
  await readAll(repoPath, union, options);
  return {
    docs: union.docs,
    submodulePaths: [...union.submodulePaths],
    outerPaths: [...union.outerPaths],
    lostPaths: [...union.lostPaths],
    visit: (commit, onDoc) => {
      const root = roots[commit];
      if (root !== undefined) union.visit(root, onDoc);
    },
  };
}

async function readAll(repoPath: string, union: Union, options: ReadOptions): Promise<void> {
  const reader = await BlobReader.open(repoPath, { signal: options.signal, type: 'tree' });
  try {
    for (let level = union.takeUnread(); level.length > 0; level = union.takeUnread()) {
      const byTree = new Map<string, Unread[]>();
      for (const unread of level) addToList(byTree, unread.oid, unread);
      const ids = [...byTree.keys()];
      await reader.readBlobs(ids, (index, bytes) => {
        const oid = ids[index]!;
        for (const unread of byTree.get(oid)!)
          if (bytes === undefined) union.lostPaths.add(pathOf(unread.folder, '').path);
          else union.addEntries(unread, bytes);
      });
    }
  } finally {
    await reader.close();
  }
}

class Union {
  readonly docs: TreeDoc[] = [];
  readonly submodulePaths = new Set<string>();
  readonly outerPaths = new Set<string>();
  readonly lostPaths = new Set<string>();
  readonly #versions: FolderVersion[] = [];
  readonly #root: Folder = newFolder('');
  #unread: Unread[] = [];

  addRoot(oid: string): number {
    return this.#versionOf(this.#root, oid);
  }

  takeUnread(): Unread[] {
    const level = this.#unread;
    this.#unread = [];
    return level;
  }

  #versionOf(folder: Folder, oid: string): number {
    const cached = folder.versions.get(oid);
    if (cached !== undefined) return cached;
    const version = this.#versions.push({ docs: [], folders: [] }) - 1;
    folder.versions.set(oid, version);
    this.#unread.push({ oid, folder, version });
    return version;
  }

  addEntries({ oid, folder, version }: Unread, tree: Buffer): void {
    const { docs, folders } = this.#versions[version]!;
    forEachEntry(oid, tree, (mode, nameStart, nameEnd) => {
      const name = tree.toString('latin1', nameStart, nameEnd);
      const idEnd = nameEnd + 1 + oid.length / 2;
      const id = tree.toString('hex', nameEnd + 1, idEnd);
      if (!isInnerPath(name)) this.outerPaths.add(pathOf(folder, name).path);
      else if (mode === MODE_TREE) folders.push(this.#versionOf(childOf(folder, name), id));
      else if (mode === MODE_SUBMODULE) this.submodulePaths.add(pathOf(folder, name).path);
      else {
        const key = tree.toString('latin1', nameStart, idEnd);
        let doc = folder.docs.get(key);
        if (doc === undefined) {
          const isSymlink = mode === MODE_SYMLINK;
          doc = this.docs.push({ ...pathOf(folder, name), oid: id, isSymlink }) - 1;
          folder.docs.set(key, doc);
        }
        docs.push(doc);
      }
    });
  }

  visit(version: number, onDoc: (doc: number) => void): void {
    const { docs, folders } = this.#versions[version]!;
    for (const doc of docs) onDoc(doc);
    for (const folder of folders) this.visit(folder, onDoc);
  }
}

function newFolder(prefix: string): Folder {
  return { prefix, versions: new Map(), docs: new Map(), children: new Map() };
}

function childOf(folder: Folder, name: string): Folder {
  let child = folder.children.get(name);
  if (child === undefined) {
    child = newFolder(`${folder.prefix}${name}/`);
    folder.children.set(name, child);
  }
  return child;
}

function pathOf({ prefix }: Folder, name: string): TreePath {
  return decodePath(Buffer.from(prefix + name, 'latin1'));
}
