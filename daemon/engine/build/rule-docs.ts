// Finds the docs of the default revision that determine language and marks of given docs: attribute files in the folders above
// them, and the sources beside headers.

import { LoopYielder } from '../../base/next-time-slice.ts';
import { folderOf, joinPath, type TreePath, nameKey, parentOf } from '../../base/paths.ts';
import { linksOnDisk } from '../../sources/disk/disk.ts';
import type { SourceFile } from '../../sources/docs/file-list.ts';
import { findLinks } from '../../sources/git/objects.ts';
import {
  ATTRIBUTE_FILE_NAME,
  type AttributeFile,
  ATTRIBUTE_FILE_SIZE_MAX,
  Attributes,
  readAttributes,
} from '../../sources/languages/attributes.ts';
import { findHeaderFolders, isHeader } from '../../sources/languages/languages.ts';
import { hasBit } from '../shards/bits.ts';
import type { DocList } from './build.ts';
import type { DocLocation, IndexedDocs } from './indexed-docs.ts';

/** The default revision. Its attribute files are those that were indexed. */
export interface RuleSource {
  readonly repoPath: string;
  /** Undefined: files on disk. */
  readonly commit: string | undefined;
  readonly docs: IndexedDocs;
  readonly sets: readonly Uint8Array[];
  /** Paths of its docs that no shard holds. */
  readonly newPaths: readonly string[];
}

/** Yields to other work. Errors: GitError. Cost: a lookup of each folder above the paths. */
export async function rulesFor(
  { repoPath, commit, docs, sets, newPaths }: RuleSource,
  paths: readonly TreePath[],
): Promise<Omit<DocList, 'files'>> {
  const besideHeaders = [...newPaths];
  const [folders, ofHeaders] = [new Map<string, TreePath>(), new Map<string, TreePath>()];
  for (const path of paths) {
    let folder = parentOf(path);
    if (isHeader(path.path)) ofHeaders.set(nameKey(folder), folder);
    for (; !folders.has(nameKey(folder)); folder = parentOf(folder))
      folders.set(nameKey(folder), folder);
  }
  const yielder = new LoopYielder();
  const found = new Map<string, DocLocation>();
  const indexed = docs.docsIn(0);
  for (const folder of folders.values()) {
    await yielder.pause();
    const treePath = joinPath(folder, { path: ATTRIBUTE_FILE_NAME });
    for (const location of docs.at(treePath))
      if (hasBit(indexed[location.shard]!, location.docId)) found.set(treePath.path, location);
  }
  for (const folder of ofHeaders.values()) {
    await yielder.pause();
    docs.forEachIn(sets, folder, (_, { path }) => besideHeaders.push(path));
  }
  const names = [...found.keys()];
  const links =
    commit === undefined ? linksOnDisk(repoPath, names) : await findLinks(repoPath, commit, names);
  const texts = [...found].filter(([path]) => !links.has(path));
  return {
    attributes: new Attributes(await attributesIn(repoPath, docs, texts)),
    headerFolders: findHeaderFolders(besideHeaders),
  };
}

/** Attribute files as stored in their shards; those without stored content are read from the repository. */
async function attributesIn(
  repoPath: string,
  docs: IndexedDocs,
  locations: readonly (readonly [path: string, DocLocation])[],
): Promise<AttributeFile[]> {
  const files: AttributeFile[] = [];
  const unstored: SourceFile[] = [];
  for (const [path, location] of locations) {
    const content = docs.contentOf(location);
    const size = docs.sizeOf(location);
    if (content === undefined) {
      const oid = docs.oidOf(location);
      unstored.push({ path, size, isSymlink: false, ...(oid === undefined ? {} : { oid }) });
    } else if (size <= ATTRIBUTE_FILE_SIZE_MAX)
      files.push({ folder: folderOf(path), text: Buffer.from(content).toString('utf8') });
  }
  if (unstored.length === 0) return files;
  return [...files, ...(await readAttributes(repoPath, unstored))];
}
