// Whether the refs or settings of a repository may have changed since somebody last looked, without git: by the files that
// hold them. Measured: 2026-11-23, 60 to 68 us a look. Where a file system does not answer the caller waits: see ref-looks.ts.

import { hash } from 'node:crypto';
import { type BigIntStats, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { messageOf, systemCodeOf } from '../../base/caught.ts';
import { isInnerPath } from '../../base/paths.ts';
import { gitDirsOf, readName } from './git-place.ts';

/**
 * Files of git directories in which branches, tags and HEAD are, settings, and where objects are borrowed. Source:
 * gitrepository-layout(5), git-pack-refs(1).
 */
const MARKED_FILES = [
  'HEAD',
  'packed-refs',
  'reftable/tables.list',
  'config',
  'objects/info/alternates',
];
/** What git reads all else from. Why not by their times: each object that is written changes those. */
const OBJECT_FOLDERS = ['objects', 'objects/pack'];
const REF_FOLDERS = ['refs/heads', 'refs/tags'];
const REF_MARK = 'ref: ';
/** Of the file of a ref that names no other one: an id and a line end. */
const ID_SIZES: ReadonlySet<bigint> = new Set([41n, 65n]);
/** Source: SYMREF_MAXDEPTH of git. */
const SYMREF_DEPTH_MAX = 5;
/** Bounds on files that are looked at: who has more of them packs them. Of folders behind these only themselves. */
const FILES_MAX = 10_000;
const MARKS_MAX = 20_000;
/** Guess: how often git is asked where there is more than is looked at, ms: it takes a second or so. */
const UNSEEN_MS = 60_000;

/**
 * A text that changes whenever branches, tags, HEAD or settings change; rarely also when they have not.
 *
 * Errors: those of `gitDirsOf`; of the file system.
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

/** What tells a file from what it was: git replaces files as a whole. "": there is none. */
function markOf(file: string): string {
  return markOfStatus(statusOf(file));
}

function statusOf(file: string): BigIntStats | undefined {
  return statSync(file, { bigint: true, throwIfNoEntry: false });
}

function markOfStatus(status: BigIntStats | undefined): string {
  return status === undefined ? '' : `${status.ino} ${status.size} ${status.mtimeNs}`;
}

/** The ref that another one names, which may be neither a branch nor a tag. */
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
  // Why by size: to read each file takes longer than to look at it.
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
    const place = path.join(folder, entry.name);
    if (entry.isDirectory()) addMarks(place, gitDirs, marks);
    // A lock is a file that is being written, and no ref.
    else if (marks.length < FILES_MAX && !entry.name.endsWith('.lock'))
      addRef(entry.name, place, gitDirs, marks);
  }
  // A ref that is set is a file that is made and renamed there. Why always: one that came and went leaves no other trace.
  marks.push(markOf(folder));
}
