// Lookups before a history request: the mailmap, the size of a file, and the bytes of a path that is not UTF-8.

import { LostObjectError } from '../git/git.ts';
import { findObject } from '../git/object-reader.ts';
import { findObjects, listTree, type ReadOptions } from '../git/objects.ts';
import { headOf, type TreePath, REPLACEMENT } from '../../base/paths.ts';
import type { RepoRecord } from '../../repos/records.ts';

/** Bytes; a larger mailmap is not used. */
const MAILMAP_SIZE_MAX = 1 << 20;

/**
 * The mailmap's blob: as in git, that of the current default revision, whichever commits are listed. Errors: as
 * `findObject`.
 */
export async function findMailmap(
  repo: RepoRecord,
  signal: AbortSignal,
): Promise<string | undefined> {
  const name = `${repo.defaultRevision}:.mailmap`;
  const found = await findObject(repo.source.path, name, signal).catch((error: unknown) => {
    // A partial clone may lack it.
    if (!(error instanceof LostObjectError)) throw error;
    return undefined;
  });
  const isUsable = found?.type === 'blob' && found.size <= MAILMAP_SIZE_MAX;
  return isUsable ? found.oid : undefined;
}

/** Bytes of the blob of this name; undefined if there is none. Errors: as `findObject`. */
export async function sizeOfFile(
  repoPath: string,
  name: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const pooled = name.includes('\n') ? undefined : await findObject(repoPath, name, signal);
  // Why again: a process of the pool may not see new objects.
  const found = pooled ?? (await findObjects(repoPath, [name], { signal }))[0];
  return found?.type === 'blob' ? found.size : undefined;
}

/** Bound: some half a million files, for a request. */
const LISTING_SIZE_MAX = 64 << 20;

export interface FoundPath extends TreePath {
  /** Bytes of the file, if found among the files of a commit. */
  readonly size?: number;
}

/**
 * The path, with its bytes if they are not UTF-8 and a file or folder of a commit matches: a caller writes such a path with
 * U+FFFD, and git needs its bytes. Errors: GitError.
 */
export async function findTreePath(
  repoPath: string,
  commits: readonly string[],
  path: string,
  options: ReadOptions,
): Promise<FoundPath> {
  if (!path.includes(REPLACEMENT)) return { path };
  const segmentCount = path.split('/').length;
  for (const commit of commits) {
    const limits = { ...options, outputSizeMax: LISTING_SIZE_MAX };
    let found: FoundPath | undefined;
    await listTree(repoPath, commit, limits, ({ path: candidate, rawPath, size }) => {
      if (rawPath === undefined || found !== undefined) return;
      if (candidate === path) found = { path, rawPath, size };
      if (candidate.startsWith(`${path}/`))
        found = { path, rawPath: headOf(rawPath, segmentCount) };
    });
    if (found !== undefined) return found;
  }
  return { path };
}
