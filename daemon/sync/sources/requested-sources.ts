// Resolves paths that a user names to sources: a repository or folder is one source; a folder without git that contains
// repositories gives one source for each, and one for the files beside them. A folder that was indexed as one source
// stays so until a mode is given.

import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Log } from '../../base/log.ts';
import { compareText } from '../../base/paths.ts';
import type { RepoRecord, SourceKind } from '../../repos/records.ts';
import { seeFolder } from '../../sources/disk/identity.ts';
import { layoutOf } from '../../sources/git/path-kind.ts';
import { FIND_DEPTH_MAX, findRepos, type FoundRepos } from './find-repos.ts';

export interface RequestedSource {
  /** Absolute if it was found, else as given. */
  readonly path: string;
  readonly mode: SourceKind | undefined;
  readonly isFound: boolean;
  /** That folder, absolute; absent: the source itself was named, or is the files beside sources. */
  readonly below?: string;
  /** As of a source (repos/records.ts); absent: unchanged. */
  readonly reposApart?: boolean;
}

export interface SearchedFolder {
  readonly path: string;
  readonly found: FoundRepos;
}

export interface RequestedSources {
  readonly sources: readonly RequestedSource[];
  readonly folders: readonly SearchedFolder[];
}

export interface RequestedSourcesOptions {
  readonly records: readonly RepoRecord[];
  /** Notified of each folder that is skipped, and why. */
  readonly onSkipped: (path: string, reason: string) => void;
  readonly signal: AbortSignal | undefined;
}

/** Errors: the reason of the signal. An unreadable path is returned as a source; probing it reports the error. */
export async function requestedSources(
  paths: readonly string[],
  mode: SourceKind | undefined,
  options: RequestedSourcesOptions,
): Promise<RequestedSources> {
  const sources = new Map<string, RequestedSource>();
  const folders: SearchedFolder[] = [];
  const found: RequestedSource[] = [];
  for (const one of paths) {
    const folder = path.resolve(one);
    const inside = await sourcesInside(folder, mode, options);
    if (inside === undefined) {
      const reposApart = mode === 'folder' ? { reposApart: false } : {};
      sources.set(folder, { path: one, mode, isFound: false, ...reposApart });
      continue;
    }
    folders.push({ path: folder, found: inside.found });
    found.push(...inside.sources);
  }
  for (const one of found) if (!sources.has(one.path)) sources.set(one.path, one);
  return { sources: [...sources.values()], folders };
}

/** The sources in a folder; undefined: it is a source itself. Errors: the reason of the signal. */
async function sourcesInside(
  folder: string,
  mode: SourceKind | undefined,
  options: RequestedSourcesOptions,
): Promise<{ sources: RequestedSource[]; found: FoundRepos } | undefined> {
  if (mode === 'folder' || isIndexedFolder(folder, mode, options)) return undefined;
  const layout = await layoutOf(folder).catch(() => undefined);
  if (layout === 'bare' || layout === 'worktree') return undefined;
  const found = await foundIn(folder, options);
  const paths = new Set(found.repos.map((repo) => repo.path));
  const existing = indexedBelow(folder, options).filter((one) => !paths.has(one));
  // If everything known is gone, a disk is probably missing.
  const isEmpty = paths.size + found.fileCount === 0 && existing.every((one) => !existsSync(one));
  for (const one of existing) if (isEmpty || existsSync(one)) paths.add(one);
  const isIndexed = mode !== 'commits' && (paths.size === 0 || found.fileCount > 0);
  if (found.deepCount > 0) options.onSkipped(folder, describeDeep(found.deepCount, isIndexed));
  // Known repositories that are gone may come back: their files must not be those of the folder then.
  if (paths.size === 0 && existing.length === 0) {
    if (found.linkCount > 0)
      options.onSkipped(
        folder,
        `it contains ${found.linkCount} links to repositories, which are not followed; ` +
          `name the repositories: "trawl serve ${folder}/*/"`,
      );
    return undefined;
  }
  // Bare ones have no files on disk.
  const ofMode = { mode: mode === 'commits' ? mode : undefined, isFound: true, below: folder };
  const sources: RequestedSource[] = [...paths]
    .sort(compareText)
    .map((one) => ({ path: one, ...ofMode }));
  if (isIndexed) sources.push({ path: folder, mode: undefined, isFound: true, reposApart: true });
  return { sources, found };
}

/** @param isIndexed  whether the files outside repositories are indexed */
function describeDeep(count: number, isIndexed: boolean): string {
  const folders = count === 1 ? '1 folder' : `${count} folders`;
  const rest = isIndexed ? `; ${count === 1 ? 'its' : 'their'} files are indexed` : '';
  return `not searched for repositories below level ${FIND_DEPTH_MAX}: ${folders}${rest}`;
}

/** Whether a folder was indexed together with its repositories, and nobody requests otherwise. */
function isIndexedFolder(
  folder: string,
  mode: SourceKind | undefined,
  { records }: RequestedSourcesOptions,
): boolean {
  if (mode !== undefined) return false;
  const realPath = seeFolder(folder)?.realPath;
  const isSame = (location: string): boolean =>
    location === folder || (realPath !== undefined && seeFolder(location)?.realPath === realPath);
  return records.some(
    ({ source }) => source.kind === 'folder' && source.reposApart !== true && isSame(source.path),
  );
}

function indexedBelow(folder: string, { records }: RequestedSourcesOptions): string[] {
  const start = folder.endsWith('/') ? folder : `${folder}/`;
  return records
    .filter(({ source }) => source.kind !== 'folder' && source.path.startsWith(start))
    .map(({ source }) => source.path);
}

async function foundIn(
  folder: string,
  { onSkipped, signal }: RequestedSourcesOptions,
): Promise<FoundRepos> {
  try {
    const found = await findRepos(folder, signal);
    for (const { path: location, reason } of found.odd) onSkipped(location, reason);
    return found;
  } catch {
    signal?.throwIfAborted();
    // Probing it reports that it is missing, a file, or unreadable.
    return { repos: [], odd: [], fileCount: 0, linkCount: 0, deepCount: 0 };
  }
}

export function logFound({ path: folder, found }: SearchedFolder, log: Log): void {
  const { repos, fileCount, linkCount } = found;
  log.info('repositories found in a folder', {
    folder,
    repos: repos.length,
    bare: repos.filter(({ isBare }) => isBare).length,
    filesBeside: fileCount,
    linksNotFollowed: linkCount,
  });
}
