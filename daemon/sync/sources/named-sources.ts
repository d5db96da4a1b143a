// What somebody means who names paths: a repository or folder is a source; a folder without git that holds repositories is
// all of these, each a source of its own, and what lies beside them one more. What was indexed as one folder stays that
// until a mode is given.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { messageOf } from '../../base/caught.ts';
import type { Log } from '../../base/log.ts';
import { compareText } from '../../base/paths.ts';
import type { RepoRecord } from '../../repos/records.ts';
import { seeFolder } from '../../sources/disk/identity.ts';
import { layoutOf } from '../../sources/git/layout.ts';
import type { SourceMode } from '../../sources/git/probe.ts';
import { findRepos, type FoundRepos } from './find-repos.ts';

/** A source to look at. */
export interface NamedSource {
  /** Of one that was found absolute, else as it was given. */
  readonly path: string;
  readonly mode: SourceMode | undefined;
  /** It was found in a folder that somebody named. */
  readonly isFound: boolean;
  /** That folder, absolute; absent: it is the source itself, or what lies beside sources. */
  readonly below?: string;
  /** As of a source (repos/records.ts); absent: as it was. */
  readonly reposApart?: boolean;
}

/** A folder in which sources are found, now and later. */
export interface SearchedFolder {
  /** Absolute. */
  readonly path: string;
  readonly mode: 'commits' | undefined;
  readonly found: FoundRepos;
}

export interface NamedSources {
  /** Each path once. */
  readonly sources: readonly NamedSource[];
  readonly folders: readonly SearchedFolder[];
}

export interface NamedSourcesOptions {
  /** Of the repos of the index that somebody may have named. */
  readonly records: readonly RepoRecord[];
  /** Look into work trees too. */
  readonly isDeep: boolean;
  /** Of what cannot be searched; undefined: it is not told. */
  readonly log: Log | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Errors: the reason of the signal. What cannot be read is a source, which whoever looks at it finds out. */
export async function sourcesNamed(
  paths: readonly string[],
  mode: SourceMode | undefined,
  options: NamedSourcesOptions,
): Promise<NamedSources> {
  const sources = new Map<string, NamedSource>();
  const folders: SearchedFolder[] = [];
  const found: NamedSource[] = [];
  for (const one of paths) {
    const folder = path.resolve(one);
    const inside = await sourcesInside(folder, mode, options);
    if (inside === undefined) {
      const reposApart = mode === 'folder' ? { reposApart: false } : {};
      sources.set(folder, { path: one, mode, isFound: false, ...reposApart });
      continue;
    }
    folders.push({ path: folder, mode: modeInside(mode), found: inside.found });
    found.push(...inside.sources);
  }
  for (const one of found) if (!sources.has(one.path)) sources.set(one.path, one);
  return { sources: [...sources.values()], folders };
}

/** In which found repositories are looked at: what is bare has no files on disk, whatever the others have. */
function modeInside(mode: SourceMode | undefined): 'commits' | undefined {
  return mode === 'commits' ? mode : undefined;
}

/** The sources in a folder; undefined: it is a source itself. Errors: the reason of the signal. */
async function sourcesInside(
  folder: string,
  mode: SourceMode | undefined,
  options: NamedSourcesOptions,
): Promise<{ sources: NamedSource[]; found: FoundRepos } | undefined> {
  if (mode === 'folder' || isKnownFolder(folder, mode, options)) return undefined;
  const layout = await layoutOf(folder).catch(() => undefined);
  if (layout === 'bare' || layout === 'worktree') return undefined;
  const found = await foundIn(folder, options);
  const paths = new Set(found.repos.map((repo) => repo.path));
  const known = knownBelow(folder, options).filter((one) => !paths.has(one));
  // Where nothing is there of what there was, a disk is missing rather than that somebody removed it all.
  const isEmpty = paths.size + found.fileCount === 0 && known.every((one) => !existsSync(one));
  for (const one of known) if (isEmpty || existsSync(one)) paths.add(one);
  if (paths.size === 0) return undefined;
  const ofMode = { mode: modeInside(mode), isFound: true, below: folder };
  const sources: NamedSource[] = [...paths]
    .sort(compareText)
    .map((one) => ({ path: one, ...ofMode }));
  if (found.fileCount > 0 && mode !== 'commits') sources.push(besideRepos(folder));
  return { sources, found };
}

/** The source that is what lies beside the repositories in a folder. */
export function besideRepos(folder: string): NamedSource {
  return { path: folder, mode: undefined, isFound: true, reposApart: true };
}

/** Whether a folder has been indexed with what its repositories hold, and nobody says that it is to be otherwise. */
function isKnownFolder(
  folder: string,
  mode: SourceMode | undefined,
  { records }: NamedSourcesOptions,
): boolean {
  if (mode !== undefined) return false;
  const realPath = seeFolder(folder)?.realPath;
  const isSame = (place: string): boolean =>
    place === folder || (realPath !== undefined && seeFolder(place)?.realPath === realPath);
  return records.some(
    ({ source }) => source.kind === 'folder' && source.reposApart !== true && isSame(source.path),
  );
}

function knownBelow(folder: string, { records }: NamedSourcesOptions): string[] {
  const start = folder.endsWith('/') ? folder : `${folder}/`;
  return records
    .filter(({ source }) => source.kind !== 'folder' && source.path.startsWith(start))
    .map(({ source }) => source.path);
}

async function foundIn(
  folder: string,
  { isDeep, log, signal }: NamedSourcesOptions,
): Promise<FoundRepos> {
  try {
    return await findRepos(folder, { isDeep, signal });
  } catch (error) {
    signal?.throwIfAborted();
    // Whoever looks at it as a source says that nothing is there, or a file.
    if (existsSync(`${folder}/.`))
      log?.warn('a folder could not be searched', { folder, reason: messageOf(error) });
    return { repos: [], odd: [], fileCount: 0, linkCount: 0, isPartial: false };
  }
}

/** Says what was found in a folder, and what was passed over. */
export function tellFound({ path: folder, found }: SearchedFolder, log: Log): void {
  const { repos, odd, fileCount, linkCount } = found;
  log.info('repositories found in a folder', {
    folder,
    repos: repos.length,
    bare: repos.filter(({ isBare }) => isBare).length,
    filesBeside: fileCount,
    linksNotFollowed: linkCount,
  });
  for (const { path: place, reason } of odd) log.warn('passed over', { path: place, reason });
}
