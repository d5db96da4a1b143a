// Fingerprint of a repository's refs and settings, read from their files without git. Measured: 2026-11-23, 60 to 68 us a
// call. Blocks if the file system does not answer: see ref-poller.ts.

import { hash } from 'node:crypto';
import { type BigIntStats, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { messageOf, systemCodeOf } from '../../base/caught.ts';
import { isInnerPath } from '../../base/paths.ts';
import { gitDirsOf, readName } from './git-paths.ts';

/**
 * Files of git directories with branches, tags, HEAD, settings, and borrowed objects. Source: gitrepository-layout(5),
 * git-pack-refs(1).
 */
const MARKED_FILES = [
  'HEAD',
  'packed-refs',
  'reftable/tables.list',
  'config',
  'objects/info/alternates',
];
/** Folders with everything else git reads. Why not by their times: each new object changes those. */
const OBJECT_FOLDERS = ['objects', 'objects/pack'];
const REF_FOLDERS = ['refs/heads', 'refs/tags'];
const REF_MARK = 'ref: ';
/** Size of a ref's file unless it names another ref: an id and a line end. */
const ID_SIZES: ReadonlySet<bigint> = new Set([41n, 65n]);
/** Source: SYMREF_MAXDEPTH of git. */
const SYMREF_DEPTH_MAX = 5;
/** Limit on files and folders that are checked: a repository with more should pack its refs. */
const MARKS_MAX = 10_000;
/** Interval of asking git in repositories beyond the limit. Bound: load; git takes a second or so. */
const UNSEEN_MS = 60_000;

/**
 * A text that changes whenever branches, tags, HEAD or settings change; rarely also without a change. Errors: those of
 * `gitDirsOf`; of the file system.
 */
export function refStateOf(repoPath: string): string {
  const marks: string[] = [];
  const gitDirs = gitDirsOf(repoPath);
  for (const gitDir of gitDirs) {
    for (const name of MARKED_FILES) marks.push(markOf(path.join(gitDir, name)));
    for (const name of OBJECT_FOLDERS)
      marks.push(String(statusOf(path.join(gitDir, name))?.ino ?? ''));
    for (const folder of REF_FOLDERS) addMarks(path.join(gitDir, folder), gitDirs, marks);
    addTarget(path.join(gitDir, 'HEAD'), gitDirs, marks);
  }
  if (marks.length >= MARKS_MAX) marks.push(String(Math.floor(Date.now() / UNSEEN_MS)));
  return hash('sha1', marks.join());
}

/** A text that changes whenever a shallow history gets other ends, or grafts change. Errors: as `refStateOf`. */
export function historyEndsOf(repoPath: string): string {
  const files = gitDirsOf(repoPath).flatMap((gitDir) =>
    ['shallow', 'info/grafts'].map((name) => path.join(gitDir, name)),
  );
  return files.map(markOf).join();
}

/** Fingerprint of a file: git replaces files as a whole. "": no file. */
function markOf(file: string): string {
  return markOfStatus(statusOf(file));
}

function statusOf(file: string): BigIntStats | undefined {
  return statSync(file, { bigint: true, throwIfNoEntry: false });
}

function markOfStatus(status: BigIntStats | undefined): string {
  return status === undefined ? '' : `${status.ino} ${status.size} ${status.mtimeNs}`;
}

/** The target of a symbolic ref, which may be neither a branch nor a tag. */
function addTarget(file: string, gitDirs: readonly string[], marks: string[], depth = 0): void {
  const text = readName(file);
  const target = text?.startsWith(REF_MARK) === true ? text.slice(REF_MARK.length) : undefined;
  if (target === undefined || !isInnerPath(target) || depth === SYMREF_DEPTH_MAX) return;
  for (const gitDir of gitDirs)
    addRef(target, path.join(gitDir, target), gitDirs, marks, depth + 1);
}

function addRef(
  name: string,
  file: string,
  gitDirs: readonly string[],
  marks: string[],
  depth = 0,
): void {
  const status = statusOf(file);
  marks.push(`${name} ${markOfStatus(status)}`);
  // Why by size: reading each file takes longer than a stat.
  if (status === undefined || ID_SIZES.has(status.size)) return;
  try {
    addTarget(file, gitDirs, marks, depth);
  } catch (error) {
    marks.push(messageOf(error));
  }
}

function addMarks(folder: string, gitDirs: readonly string[], marks: string[]): void {
  let entries;
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    marks.push(systemCodeOf(error) ?? messageOf(error));
    return;
  }
  for (const entry of entries) {
    if (marks.length >= MARKS_MAX) return;
    const location = path.join(folder, entry.name);
    if (entry.isDirectory()) addMarks(location, gitDirs, marks);
    // A lock file is being written, and is not a ref.
    else if (!entry.name.endsWith('.lock')) addRef(entry.name, location, gitDirs, marks);
  }
  // Setting a ref creates and renames a file there. Why always: a ref that was created and removed leaves no other trace.
  marks.push(markOf(folder));
}
