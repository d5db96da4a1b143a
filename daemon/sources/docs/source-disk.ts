// Docs that are files on disk: those that git lists for a work tree, or those of a plain folder. Files are identified by
// path, mode, size and times, and not opened here. Symbolic links are docs (their target text), and never followed.

import { createHash } from 'node:crypto';
import { lstatSync, type Stats } from 'node:fs';
import { countIgnored, pathsListed } from '../git/objects.ts';
import { isInOwnFolder, OwnFiles } from '../disk/own-folder.ts';
import type { TreePath } from '../../base/paths.ts';
import { diskPathOf, errorCodeOf, FolderGuard, isGone, SETTLED_MS } from '../disk/disk.ts';
import { GLOBS_RULE, rulesAtRoot, walkFolders } from '../disk/folder-walk.ts';
import { compileIgnoreGlobs } from '../disk/globs.ts';
import { FileList, type SourceFile } from './file-list.ts';
import { IgnoredCounter, type IgnoredCounts } from './ignored.ts';
import type { ExcludedPath } from '../disk/excluded-path.ts';
import { FileStates, UNSETTLED } from './file-states.ts';
import type { SourceSpec } from './source.ts';
import { LoopYielder } from '../../base/next-time-slice.ts';

/** A listing of files on disk, without further revisions. */
export interface ListedDisk {
  readonly files: FileList;
  readonly excluded: ExcludedPath[];
  /** Ignored by the walk, by rule; `countAllIgnored` adds what git ignores. */
  readonly ignored: ReadonlyMap<string, number>;
  readonly fingerprint: string;
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
  readonly own: OwnFiles;
}

export interface ListOptions {
  /** Only these paths in UTF-8, and everything below them; all results are limited to them. */
  readonly within?: readonly string[] | undefined;
  /** `readWorktreeList` of the same paths; absent for a folder. */
  readonly gitList?: Uint8Array | undefined;
  /** When it was requested; a file changed within SETTLED_MS before is not settled. */
  readonly startMs?: number;
}

/** Errors: the folder cannot be read, which must not give an empty repo; or it must not. */
export function checkRoot(root: string): void {
  lstatSync(`${root}/.`);
  if (isInOwnFolder(root)) throw new Error(`${root} is the data directory, or in it`);
}

/**
 * Lists the files of the default revision. For a thread of its own (scan-thread.ts). Errors: of the file system if the root
 * cannot be read.
 */
export async function listDisk(
  spec: SourceSpec,
  { within, gitList, startMs = Date.now() }: ListOptions = {},
): Promise<ListedDisk> {
  checkRoot(spec.path);
  const found: Found = {
    settledMs: startMs - SETTLED_MS,
    files: [],
    excluded: [],
    ignored: new IgnoredCounter(),
    own: new OwnFiles(),
  };
  if (gitList === undefined) await addFolder(spec, within, found);
  else await addWorktree(spec, pathsListed(Buffer.from(gitList)), found);
  found.excluded.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { excluded: found.excluded, ignored: found.ignored.all, ...sortedFiles(spec, found) };
}

function sortedFiles(
  spec: SourceSpec,
  { files: listed, settledMs }: Found,
): Pick<ListedDisk, 'files' | 'states' | 'fingerprint'> {
  listed.sort(byPath);
  const files = FileList.of(listed.map(({ file }) => file));
  const hash = createHash('sha256').update(`${[spec.kind, ...(spec.ignore ?? [])].join('\n')}\n`);
  let isSettled = true;
  for (const { file, state } of listed) {
    const isOpen = state.startsWith(UNSETTLED);
    isSettled &&= !isOpen;
    hash.update(`\n${file.path}\0${isOpen ? state.slice(UNSETTLED.length) : state}`);
  }
  const sum = `files:${hash.digest('hex')}`;
  const states = FileStates.of(
    files,
    listed.map(({ state }) => state),
    sum,
  );
  // Why the time: no other listing can be proven equal to one with files that may still change unnoticed.
  return { files, states, fingerprint: isSettled ? sum : `${sum} unsettled at ${settledMs}` };
}

function byPath({ file: a }: ListedFile, { file: b }: ListedFile): number {
  return a.path < b.path ? -1 : Number(a.path > b.path);
}

/** With what git ignores in a work tree, which its listing does not report. Errors: GitError. */
export async function countAllIgnored(
  spec: SourceSpec,
  walked: ListedDisk['ignored'],
): Promise<IgnoredCounts> {
  const guard = new FolderGuard(spec.path);
  const counter = new IgnoredCounter(walked);
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

async function addWorktree(
  { path: root, ...own }: SourceSpec,
  listed: readonly TreePath[],
  found: Found,
): Promise<void> {
  const guard = new FolderGuard(root);
  const yielder = new LoopYielder();
  const rules = rulesAtRoot(root, own);
  const isExcluded = compileIgnoreGlobs(own.ignore);
  for (const treePath of listed) {
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
  if (stat === undefined || found.own.has(stat)) return;
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
