// Lists a repo at a revision for a request (API.md 11.2 to 11.4): all files, or the children of some folders; from git
// objects, or from disk if the repo's docs are files on disk. Callers check access and the form of refs and paths.

import { LRUCache } from 'lru-cache';
import { withSlot } from '../git/git-slots.ts';
import { rootTreeOf } from '../git/object-reader.ts';
import { listTreePaths } from '../git/objects.ts';
import { compareText } from '../../base/paths.ts';
import { resolveRef, type ResolvableRepo, withRepo } from '../git/resolve.ts';
import { readTreeFolders, type Folders } from '../git/tree-paths.ts';
import { readDiskFolders } from './disk-folders.ts';

/** Bound: about two million paths. */
const LISTING_SIZE_MAX = 256 << 20;
/**
 * Bytes of a path in a list and of its answer data, besides its characters. Measured: 2026-11-28: a path of 44 characters
 * takes 105 without answer data.
 */
const PATH_SIZE = 120;

/** Path of the repository and id of the root tree -> paths of its files. */
const keptListings = new LRUCache<string, readonly string[]>({
  maxSize: 64 << 20,
  sizeCalculation: (paths) =>
    paths.reduce((size, path) => size + PATH_SIZE + 3 * path.length, PATH_SIZE),
});

/**
 * Paths of all files and symbolic links at a revision, by the bytes of the paths. The list is cached and shared: do not
 * change it. Errors: as `resolveRef`, `readTree` and `readDiskFolders`.
 */
export async function listFiles(
  repo: ResolvableRepo,
  revision: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (isOnDisk(repo, revision))
    return withRepo(repo, async () =>
      filesOf(await readDiskFolders(repo.source, () => true, signal)),
    );
  const commit = await resolveRef(repo, revision, signal);
  return withRepo(repo, async () => {
    const tree = await rootTreeOf(repo.source.path, commit, signal);
    const key = `${repo.source.path}\0${tree}`;
    const kept = keptListings.get(key);
    if (kept !== undefined) return kept;
    const paths = await withSlot(repo.source.path, signal, () =>
      listTreePaths(repo.source.path, tree, { signal, outputSizeMax: LISTING_SIZE_MAX }),
    );
    keptListings.set(key, paths);
    return paths;
  });
}

/**
 * The children of the requested folders that exist at a revision: with each path all folders above it, and always "".
 * Errors: as `listFiles`.
 */
export async function listFolders(
  repo: ResolvableRepo,
  revision: string,
  requested: ReadonlySet<string>,
  signal: AbortSignal,
  clientKey = '',
): Promise<Folders> {
  if (isOnDisk(repo, revision))
    return withRepo(repo, () =>
      readDiskFolders(repo.source, (path) => requested.has(path), signal),
    );
  const commit = await resolveRef(repo, revision, signal);
  return withRepo(repo, async () => {
    const tree = await rootTreeOf(repo.source.path, commit, signal);
    return readTreeFolders(repo.source.path, tree, requested, signal, clientKey);
  });
}

/** Whether the docs at a revision are the files on disk. */
export function isOnDisk(
  { source, defaultRevision }: ResolvableRepo,
  revision: string | undefined,
): boolean {
  return source.kind !== 'commits' && (revision ?? defaultRevision) === 'HEAD';
}

function filesOf(folders: Folders): string[] {
  const paths: string[] = [];
  for (const [folder, children] of folders) {
    const prefix = folder === '' ? '' : `${folder}/`;
    for (const { name, type } of children) if (type === 'blob') paths.push(prefix + name);
  }
  return paths.sort(compareText);
}
