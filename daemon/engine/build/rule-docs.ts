// Finds the docs of the default revision that determine language and marks of given docs: attribute files in the folders
// above them, and the sources beside headers. Reads only these folders.

import { Breather } from '../../base/next-turn.ts';
import { joinPath, type TreePath, nameKey, parentOf } from '../../base/paths.ts';
import type { SourceFile } from '../../sources/docs/file-list.ts';
import { linksOnDisk } from '../../sources/disk/disk.ts';
import { findLinks } from '../../sources/git/objects.ts';
import {
  ATTRIBUTE_FILE_NAME,
  Attributes,
  readAttributes,
} from '../../sources/languages/attributes.ts';
import { findHeaderFolders, isHeader } from '../../sources/languages/languages.ts';
import { hasBit } from '../shards/bits.ts';
import type { DocList } from './build.ts';
import type { DocLocation, IndexedDocs } from './indexed-docs.ts';

export interface RuleDocs {
  /** Attribute files, possibly symbolic links. */
  readonly attributes: readonly SourceFile[];
  /** Paths of the docs beside headers. */
  readonly besideHeaders: readonly string[];
}

/** The rule docs for docs at these paths. Yields to other work. Cost: a lookup of each folder above them. */
export async function findRuleDocs(
  docs: IndexedDocs,
  paths: readonly TreePath[],
): Promise<RuleDocs> {
  const sets = docs.docsIn(0);
  const attributes: SourceFile[] = [];
  const besideHeaders: string[] = [];
  const [folders, ofHeaders] = [new Map<string, TreePath>(), new Map<string, TreePath>()];
  for (const path of paths) {
    let folder = parentOf(path);
    if (isHeader(path.path)) ofHeaders.set(nameKey(folder), folder);
    for (; !folders.has(nameKey(folder)); folder = parentOf(folder))
      folders.set(nameKey(folder), folder);
  }
  const breather = new Breather();
  for (const folder of folders.values()) {
    await breather.pause();
    const treePath = joinPath(folder, { path: ATTRIBUTE_FILE_NAME });
    for (const location of docs.at(treePath))
      if (hasBit(sets[location.shard]!, location.docId))
        attributes.push(fileOf(docs, location, treePath));
  }
  for (const folder of ofHeaders.values()) {
    await breather.pause();
    docs.forEachIn(sets, folder, (_, { path }) => besideHeaders.push(path));
  }
  return { attributes, besideHeaders };
}

function fileOf(docs: IndexedDocs, location: DocLocation, treePath: TreePath): SourceFile {
  const oid = docs.oidOf(location);
  const file = { ...treePath, size: docs.sizeOf(location), isSymlink: false };
  return oid === undefined ? file : { ...file, oid };
}

/**
 * The rules in these docs.
 *
 * @param commit  that of the default revision; undefined: files on disk
 *
 * Errors: GitError.
 */
export async function rulesOf(
  repoPath: string,
  commit: string | undefined,
  { attributes, besideHeaders }: RuleDocs,
): Promise<Omit<DocList, 'files'>> {
  const paths = attributes.map(({ path }) => path);
  const links =
    commit === undefined ? linksOnDisk(repoPath, paths) : await findLinks(repoPath, commit, paths);
  const texts = attributes.filter(({ path }) => !links.has(path));
  return {
    attributes: new Attributes(texts.length === 0 ? [] : await readAttributes(repoPath, texts)),
    headerFolders: findHeaderFolders(besideHeaders),
  };
}
