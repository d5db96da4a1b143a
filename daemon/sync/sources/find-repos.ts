// The git repositories below a folder: work trees (linked ones and those of submodules too) and bare ones. Looks at names
// alone, never behind symbolic links, not into `.git`, `node_modules` and our own data directory, and not at more than a person
// would have there. In a work tree only further work trees are looked for: what looks like a bare repository there is mostly a
// file of its tests.

import { type Dirent, existsSync, lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { compareText, REPLACEMENT } from '../../base/paths.ts';
import { errorCodeOf, isGone } from '../../sources/disk/disk.ts';
import { CONTROL_FOLDERS } from '../../sources/disk/folder-walk.ts';
import { isOwnFolder } from '../../sources/disk/own-folder.ts';
import { layoutOfNames, ProbeError } from '../../sources/git/layout.ts';

export interface FoundRepo {
  /** Absolute. */
  readonly path: string;
  readonly isBare: boolean;
}

/** A folder that may be a repository, or hold some, and why it is passed over. */
export interface OddFolder {
  readonly path: string;
  readonly reason: string;
}

export interface FoundRepos {
  /** By path. */
  readonly repos: readonly FoundRepo[];
  /** The first of them. */
  readonly odd: readonly OddFolder[];
  /** Files in folders that are in no repository. */
  readonly fileCount: number;
  /** Symbolic links that lead to a repository. */
  readonly linkCount: number;
  /** There are work trees, in which nothing was looked for. */
  readonly isPartial: boolean;
}

export interface FindOptions {
  /** In work trees too; default: true. */
  readonly isDeep?: boolean;
  /** Repositories that need not be looked at, unless `isDeep`. */
  readonly isKnown?: (path: string) => boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Guess: `host/group/subgroup/name`, and some levels in a work tree. */
export const FIND_DEPTH_MAX = 8;
/** Bounds on folders that are looked at, repositories, links that are tried, and folders that are told of. */
const FOLDERS_MAX = 100_000;
const REPOS_MAX = 20_000;
const LINKS_MAX = 1_000;
const ODD_MAX = 50;
/** Guess: looking waits for the disk. */
const AT_ONCE = 16;
/** Folders in which nothing is looked for. */
export const PASSED_OVER: ReadonlySet<string> = new Set([...CONTROL_FOLDERS, 'node_modules']);

/** A folder to look at. */
interface Place {
  readonly path: string;
  readonly isInRepo: boolean;
}

/** What is found, while it is looked for. */
interface Draft {
  readonly repos: FoundRepo[];
  readonly odd: OddFolder[];
  fileCount: number;
  linkCount: number;
  linksTried: number;
  isPartial: boolean;
}

/**
 * What is found below a folder, without the folder itself, whatever that is.
 *
 * Errors: of the file system if the folder cannot be read; the reason of the signal.
 * Cost: a listing for each folder that is looked at, 100,000 of them at most.
 */
export async function findRepos(root: string, options: FindOptions = {}): Promise<FoundRepos> {
  const counts = { fileCount: 0, linkCount: 0, linksTried: 0 };
  const draft: Draft = { repos: [], odd: [], ...counts, isPartial: false };
  let lookedCount = 0;
  const atRoot = await readdir(root, { withFileTypes: true });
  let level = foldersIn({ path: root, isInRepo: false }, atRoot, draft);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > FIND_DEPTH_MAX) {
      note(draft, root, `${level.length} folders lie more than ${FIND_DEPTH_MAX} levels below it`);
      break;
    }
    const next: Place[] = [];
    for (let start = 0; start < level.length; start += AT_ONCE) {
      options.signal?.throwIfAborted();
      const some = level.slice(start, start + AT_ONCE);
      const inner = await Promise.all(some.map((place) => look(place, options, draft)));
      for (const places of inner) next.push(...places);
      lookedCount += some.length;
      const bound = boundOf(lookedCount, draft.repos.length);
      if (bound === undefined) continue;
      note(draft, root, `what is beyond ${bound} was not looked at`);
      return sorted(draft);
    }
    level = next;
  }
  return sorted(draft);
}

function boundOf(lookedCount: number, repoCount: number): string | undefined {
  if (lookedCount >= FOLDERS_MAX) return `${FOLDERS_MAX} folders`;
  return repoCount >= REPOS_MAX ? `${REPOS_MAX} repositories` : undefined;
}

function note({ odd }: Draft, place: string, reason: string): void {
  if (odd.length < ODD_MAX) odd.push({ path: place, reason });
}

function sorted(draft: Draft): FoundRepos {
  draft.repos.sort((one, other) => compareText(one.path, other.path));
  return draft;
}

/** Looks at a folder below the root; gives the folders in it that are to be looked at. Errors: none. */
async function look(place: Place, options: FindOptions, draft: Draft): Promise<Place[]> {
  const { isDeep = true, isKnown = () => false } = options;
  if (!isDeep && isKnown(place.path)) return [];
  try {
    if (isOwnFolder(lstatSync(place.path))) return [];
    const entries = await readdir(place.path, { withFileTypes: true });
    const names = new Set(entries.map(({ name }) => name));
    const isBelowRepo = place.isInRepo && !names.has('.git');
    const layout = isBelowRepo ? 'folder' : await layoutOfNames(place.path, names);
    if (layout === 'folder') return foldersIn(place, entries, draft);
    const isBare = layout === 'bare';
    draft.repos.push({ path: place.path, isBare });
    if (!names.has('.git')) return [];
    draft.isPartial ||= !isDeep;
    return isDeep ? foldersIn({ ...place, isInRepo: true }, entries, draft) : [];
  } catch (error) {
    if (error instanceof ProbeError) note(draft, place.path, error.message);
    // Of what is in a repository its own job tells.
    else if (!isGone(error) && !place.isInRepo)
      note(draft, place.path, `cannot be read (${errorCodeOf(error)})`);
    return [];
  }
}

function foldersIn(
  { path: folder, isInRepo }: Place,
  entries: readonly Dirent[],
  draft: Draft,
): Place[] {
  const places: Place[] = [];
  for (const entry of entries) {
    const child = path.join(folder, entry.name);
    if (PASSED_OVER.has(entry.name)) continue;
    if (entry.isDirectory()) {
      if (!entry.name.includes(REPLACEMENT)) places.push({ path: child, isInRepo });
      else if (!isInRepo) note(draft, child, 'its name is not UTF-8');
    } else if (isInRepo) continue;
    else if (!entry.isSymbolicLink()) draft.fileCount += entry.isFile() ? 1 : 0;
    else if (draft.linksTried++ < LINKS_MAX && leadsToRepo(child)) draft.linkCount++;
  }
  return places;
}

function leadsToRepo(link: string): boolean {
  const has = (name: string): boolean => existsSync(path.join(link, name));
  return has('.git') || (has('HEAD') && has('objects') && has('refs'));
}
