// Finds the git repositories below a folder: work trees (also linked ones and submodules) and bare ones. Reads only names and
// follows no symbolic links. Inside a work tree only further work trees count: a bare one there is mostly test data.

import { type Dirent, existsSync, lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { compareText, REPLACEMENT } from '../../base/paths.ts';
import { errorCodeOf, isGone } from '../../sources/disk/disk.ts';
import { CONTROL_FOLDERS } from '../../sources/disk/folder-walk.ts';
import { knownReposBelow } from '../../sources/disk/known-repos.ts';
import { isOwnFolder } from '../../sources/disk/own-folder.ts';
import { layoutOfNames, ProbeError } from '../../sources/git/path-kind.ts';

export interface FoundRepo {
  readonly path: string;
  readonly isBare: boolean;
}

/** A folder that may be or contain a repository, and why it is skipped. */
export interface OddFolder {
  readonly path: string;
  readonly reason: string;
}

export interface FoundRepos {
  /** By path. */
  readonly repos: readonly FoundRepo[];
  readonly odd: readonly OddFolder[];
  /** Files in folders outside repositories. */
  readonly fileCount: number;
  /** Symbolic links to repositories. */
  readonly linkCount: number;
  /** Folders below the last searched level, without those inside them. */
  readonly deepCount: number;
}

/** Guess: `host/group/subgroup/name`, and some levels in a work tree. */
export const FIND_DEPTH_MAX = 8;
/** Bounds for searched folders, repositories, checked links, and reported folders. */
export const FOLDERS_MAX = 100_000;
export const REPOS_MAX = 20_000;
const LINKS_MAX = 1_000;
const ODD_MAX = 50;
export const PASSED_OVER: ReadonlySet<string> = new Set([...CONTROL_FOLDERS, 'node_modules']);

interface FolderLocation {
  readonly path: string;
  readonly isInRepo: boolean;
}

interface Draft {
  /** Absolute paths of known repositories, of which some may have lost their git. */
  readonly known: ReadonlySet<string>;
  readonly repos: FoundRepo[];
  readonly odd: OddFolder[];
  fileCount: number;
  linkCount: number;
  deepCount: number;
  linksTried: number;
}

/** Without the folder itself. Errors: the folder cannot be read; the reason of the signal. */
export async function findRepos(root: string, signal?: AbortSignal): Promise<FoundRepos> {
  const known = [...knownReposBelow(root)].map((one) => path.join(root, one));
  const draft: Draft = {
    known: new Set(known),
    repos: [],
    odd: [],
    fileCount: 0,
    linkCount: 0,
    deepCount: 0,
    linksTried: 0,
  };
  let visitedCount = 0;
  const atRoot = await readdir(root, { withFileTypes: true });
  let level = foldersIn({ path: root, isInRepo: false }, atRoot, draft);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > FIND_DEPTH_MAX) {
      draft.deepCount = level.length;
      break;
    }
    const next: FolderLocation[] = [];
    // Bound: folders in memory. Node.js reads four of them at a time (its thread pool), so more would only wait.
    for (let start = 0; start < level.length; start += 16) {
      signal?.throwIfAborted();
      const some = level.slice(start, start + 16);
      const inner = await Promise.all(some.map((location) => searchFolder(location, draft)));
      for (const locations of inner) next.push(...locations);
      visitedCount += some.length;
      const bound = boundOf(visitedCount, draft.repos.length);
      if (bound === undefined) continue;
      note(draft, root, `folders beyond ${bound} were not searched`);
      return sorted(draft);
    }
    level = next;
  }
  return sorted(draft);
}

function boundOf(visitedCount: number, repoCount: number): string | undefined {
  if (visitedCount >= FOLDERS_MAX) return `${FOLDERS_MAX} folders`;
  return repoCount >= REPOS_MAX ? `${REPOS_MAX} repositories` : undefined;
}

function note({ odd }: Draft, location: string, reason: string): void {
  if (odd.length < ODD_MAX) odd.push({ path: location, reason });
}

function sorted(draft: Draft): FoundRepos {
  draft.repos.sort((one, other) => compareText(one.path, other.path));
  return draft;
}

/** Searches a folder below the root; returns its subfolders to search. Errors: none. */
async function searchFolder(location: FolderLocation, draft: Draft): Promise<FolderLocation[]> {
  try {
    if (isOwnFolder(lstatSync(location.path))) return [];
    const entries = await readdir(location.path, { withFileTypes: true });
    const names = new Set(entries.map(({ name }) => name));
    const isBelowRepo = location.isInRepo && !names.has('.git');
    const layout = isBelowRepo ? 'folder' : await layoutOfNames(location.path, names);
    if (layout === 'folder')
      return foldersIn(
        draft.known.has(location.path) ? inRepo(location) : location,
        entries,
        draft,
      );
    draft.repos.push({ path: location.path, isBare: layout === 'bare' });
    if (!names.has('.git')) return [];
    return foldersIn(inRepo(location), entries, draft);
  } catch (error) {
    if (error instanceof ProbeError) note(draft, location.path, error.message);
    // Problems inside a repository are reported by its own job.
    else if (!isGone(error) && !location.isInRepo)
      note(draft, location.path, `cannot be read (${errorCodeOf(error)})`);
    return [];
  }
}

function inRepo({ path: folder }: FolderLocation): FolderLocation {
  return { path: folder, isInRepo: true };
}

function foldersIn(
  { path: folder, isInRepo }: FolderLocation,
  entries: readonly Dirent[],
  draft: Draft,
): FolderLocation[] {
  const locations: FolderLocation[] = [];
  for (const entry of entries) {
    const child = path.join(folder, entry.name);
    if (PASSED_OVER.has(entry.name)) continue;
    if (entry.isDirectory()) {
      if (!entry.name.includes(REPLACEMENT)) locations.push({ path: child, isInRepo });
      else if (!isInRepo) note(draft, child, 'its name is not UTF-8');
    } else if (isInRepo) continue;
    else if (!entry.isSymbolicLink()) draft.fileCount += entry.isFile() ? 1 : 0;
    else if (draft.linksTried++ < LINKS_MAX && leadsToRepo(child)) draft.linkCount++;
  }
  return locations;
}

function leadsToRepo(link: string): boolean {
  const has = (name: string): boolean => existsSync(path.join(link, name));
  return has('.git') || (has('HEAD') && has('objects') && has('refs'));
}
