// Lists the folders of an on-disk source in which docs may be created, changed or removed: all except those ignored as a
// whole, and git's own.

import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { LoopYielder } from '../../base/next-time-slice.ts';
import { walkFolders } from '../disk/folder-walk.ts';
import { ignoredFolders } from '../git/objects.ts';
import type { RepoSource, SourceRules } from '../../repos/records.ts';
import { compileIgnoreGlobs } from '../disk/globs.ts';

/**
 * Paths of the folders `within` and below, "" for the root; parents first. Skips names that are not UTF-8. For a thread of its
 * own (scan-thread.ts). Errors: of the file system if the root cannot be read.
 *
 * @param gitList  `readIgnoredList` of a work tree
 */
export async function foldersOf(
  { kind, path: root, ...rules }: RepoSource,
  within: readonly string[] = [''],
  gitList: Uint8Array = new Uint8Array(),
): Promise<string[]> {
  if (kind !== 'folder')
    return foldersOfWorktree(root, rules, within, ignoredFolders(Buffer.from(gitList)));
  const isAbove = (folder: string): boolean => within.some((one) => one.startsWith(`${folder}/`));
  const isInside = (folder: string): boolean =>
    within.some((one) => one === '' || one === folder || folder.startsWith(`${one}/`));
  const isEntered = (folder: string): boolean => isInside(folder) || isAbove(folder);
  const folders: string[] = [];
  for await (const { path: folder } of walkFolders(root, { isEntered, rules }))
    if (isInside(folder)) folders.push(folder);
  return folders;
}

/**
 * Without the content of submodules and nested repositories, but with their own folders: they may turn into plain folders.
 */
async function foldersOfWorktree(
  root: string,
  { ignore }: SourceRules,
  within: readonly string[],
  ignored: ReadonlySet<string>,
): Promise<string[]> {
  const isExcluded = compileIgnoreGlobs(ignore);
  const yielder = new LoopYielder();
  const folders: string[] = [];
  const pending = [...within];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    await yielder.pause();
    if (ignored.has(folder) || isExcluded(folder)) continue;
    folders.push(folder);
    const location = path.join(root, folder);
    if (folder !== '' && existsSync(path.join(location, '.git'))) continue;
    for (const name of namesIn(location)) pending.push(folder === '' ? name : `${folder}/${name}`);
  }
  return folders;
}

/** The subfolders except `.git`; none if unreadable. */
function namesIn(location: string): string[] {
  try {
    const entries = readdirSync(location, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory() && entry.name !== '.git')
      .map(({ name }) => name);
  } catch {
    return [];
  }
}
