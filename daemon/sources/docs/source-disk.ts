// Docs that are files on disk: those that git lists for a work tree, or those of a plain folder. Files are identified by
// path, mode, size and times, and not opened here. Symbolic links are docs (their target text), and never followed.

import { createHash } from 'node:crypto';
import { constants, lstatSync, type Stats } from 'node:fs';
import { countIgnored, listWorktree } from '../git/objects.ts';
import { isInOwnFolder, isOwnFile } from '../disk/own-folder.ts';
import { nameKey, type TreePath } from '../../base/paths.ts';
import { diskPathOf, errorCodeOf, FolderGuard, isGone, SETTLED_MS } from '../disk/disk.ts';
import { GLOBS_RULE, rulesAtRoot, walkFolders } from '../disk/folder-walk.ts';
import { compileIgnoreGlobs } from '../disk/globs.ts';
import { rulesOf } from '../../repos/records.ts';
import { FileList, type SourceFile } from './file-list.ts';
import { IgnoredCounter, type IgnoredCounts } from './ignored.ts';
import type { ExcludedPath } from '../disk/excluded-path.ts';
import {
  type FileStates,
  type IngestSource,
  type SourceListing,
  type SourceSpec,
  UNSETTLED,
} from './source.ts';
import { LoopYielder } from '../../base/next-time-slice.ts';
import { sortInPieces } from '../../base/sort-in-pieces.ts';

export function openDiskSource(spec: SourceSpec): IngestSource {
  return {
    spec,
    fingerprint: async () => (await listDisk(spec)).fingerprint,
    list: () => listDisk(spec),
  };
}

/** A listing of files on disk, without further revisions. */
export interface DiskListing extends SourceListing {
  readonly states: FileStates;
}

interface ListedFile {
  readonly file: SourceFile;
  readonly state: string;
}

/** A listing under construction. */
interface Found {
  /** Files changed since may change again unnoticed, ms. */
  readonly settledMs: number;
  readonly files: ListedFile[];
  readonly excluded: ExcludedPath[];
  readonly ignored: IgnoredCounter;
}

/**
 * Lists the files of the default revision. `within`: only these paths in UTF-8, and everything below them; fingerprint,
 * ignored and excluded paths are limited to them too. Errors: as `IngestSource.list`.
 */
export async function listDisk(spec: SourceSpec, within?: readonly string[]): Promise<DiskListing> {
  // Why: an unreadable root must fail, not give an empty repo.
  lstatSync(`${spec.path}/.`);
  if (isInOwnFolder(spec.path)) throw new Error(`${spec.path} is the data directory, or in it`);
  const settledMs = Date.now() - SETTLED_MS;
  const found: Found = { settledMs, files: [], excluded: [], ignored: new IgnoredCounter() };
  if (spec.kind === 'worktree') await addWorktree(spec, within, found);
  else await addFolder(spec, within, found);
  found.excluded.sort((a, b) => (a.path < b.path ? -1 : 1));
  const ignored = (): Promise<IgnoredCounts> => ignoredOf(spec, found.ignored);
  return { excluded: found.excluded, ignored, ...(await sortedFiles(spec, found)) };
}

/** In pieces, as a folder may have millions of files. */
async function sortedFiles(
  spec: SourceSpec,
  { files: listed, settledMs }: Found,
): Promise<Pick<DiskListing, 'files' | 'states' | 'fingerprint'>> {
  const files = new FileList();
  const states = new Map<string, string>();
  const sum = createHash('sha256').update(`${[spec.kind, ...(spec.ignore ?? [])].join('\n')}\n`);
  let isSettled = true;
  const yielder = new LoopYielder();
  for (const { file, state } of await sortInPieces(listed, byPath)) {
    files.add(file);
    states.set(nameKey(file), state);
    sum.update(`\n${file.path}\0${state}`);
    isSettled &&= !state.startsWith(UNSETTLED);
    await yielder.pause();
  }
  // Why the time: no other listing can be proven equal to one with files that may still change unnoticed.
  const mark = isSettled ? '' : ` unsettled at ${settledMs}`;
  return { files, states, fingerprint: `files:${sum.digest('hex')}${mark}` };
}

function byPath({ file: a }: ListedFile, { file: b }: ListedFile): number {
  return a.path < b.path ? -1 : Number(a.path > b.path);
}

/** Includes what git ignores in a work tree, which its listing does not report. */
async function ignoredOf(spec: SourceSpec, counter: IgnoredCounter): Promise<IgnoredCounts> {
  const guard = new FolderGuard(spec.path);
  if (spec.kind === 'worktree' && spec.noIgnore !== true)
    await countIgnored(spec.path, (rule, path) => {
      if (!guard.isOwn({ path })) counter.add(rule);
    });
  return counter.counts();
}

/**
 * Everything that indicates a change. The time of the last status change is included because tools that unpack or copy
 * reset the other time.
 */
function stateOf(stat: Stats, settledMs: number): string {
  const mark = stat.ctimeMs < settledMs ? '' : UNSETTLED;
  return `${mark}${stat.size} ${stat.mtimeMs} ${stat.ctimeMs} ${stat.mode}`;
}

/** Whether a file of this state is a symbolic link. */
export function isLinkState(state: string): boolean {
  return (Number(state.slice(state.lastIndexOf(' ') + 1)) & constants.S_IFMT) === constants.S_IFLNK;
}

async function addWorktree(
  { path: root, ...own }: SourceSpec,
  within: readonly string[] | undefined,
  found: Found,
): Promise<void> {
  const guard = new FolderGuard(root);
  const yielder = new LoopYielder();
  const rules = rulesAtRoot(root, own);
  const isExcluded = compileIgnoreGlobs(own.ignore);
  const options = { ...rulesOf(own), within };
  for (const treePath of await listWorktree(root, options)) {
    await yielder.pause();
    if (guard.isOwn(treePath)) continue;
    const isGlobbed = isExcluded(treePath.path.replace(/\/$/, ''));
    const rule = isGlobbed ? GLOBS_RULE : rules.ruleForAny(treePath.path);
    if (rule !== undefined) found.ignored.add(rule);
    else if (guard.isInside(treePath)) addPath(root, treePath, found);
    else if (statOf(root, treePath) !== undefined)
      found.excluded.push({ path: treePath.path, reason: 'behind_symlink' });
  }
}

async function addFolder(
  { path: root, ...own }: SourceSpec,
  within: readonly string[] | undefined,
  found: Found,
): Promise<void> {
  const isInside = within === undefined ? () => true : insideTest(within);
  const isEntered =
    within === undefined
      ? () => true
      : (folder: string) => isInside(folder) || within.some((one) => one.startsWith(`${folder}/`));
  const onIgnored = (rule: string): void => found.ignored.add(rule);
  const options = { excluded: found.excluded, isEntered, onIgnored, rules: own };
  for await (const { files } of walkFolders(root, options))
    for (const treePath of files) if (isInside(treePath.path)) addPath(root, treePath, found);
}

/** Whether a path is one of these, or lies below one. */
function insideTest(paths: readonly string[]): (path: string) => boolean {
  const all = new Set(paths);
  return (path) => {
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1))
      if (all.has(path.slice(0, end))) return true;
    return false;
  };
}

/** Adds one path to the files or to the excluded paths; ignores it if it is gone. */
function addPath(root: string, treePath: TreePath, found: Found): void {
  let stat: Stats | undefined;
  try {
    stat = statOf(root, treePath);
  } catch (error) {
    found.excluded.push({ path: treePath.path, reason: `unreadable: ${errorCodeOf(error)}` });
    return;
  }
  if (stat === undefined || isOwnFile(stat)) return;
  if (stat.isFile() || stat.isSymbolicLink()) {
    const file = { ...treePath, size: stat.size, isSymlink: stat.isSymbolicLink() };
    found.files.push({ file, state: stateOf(stat, found.settledMs) });
  } else if (!stat.isDirectory()) {
    found.excluded.push({ path: treePath.path, reason: 'special_file' });
  } else if (treePath.path.endsWith('/')) {
    found.excluded.push({ path: treePath.path.slice(0, -1), reason: 'nested_repository' });
  } else {
    found.excluded.push({ path: treePath.path, reason: 'submodule' });
  }
}

/** Undefined: nothing is there. Throws other errors of the file system. */
function statOf(root: string, treePath: TreePath): Stats | undefined {
  try {
    return lstatSync(diskPathOf(root, treePath));
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}
