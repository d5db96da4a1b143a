// Lookups before a history request: the mailmap, and the bytes of a path that is not UTF-8.

import { LostObjectError } from '../git/git.ts';
import { findObject } from '../git/object-reader.ts';
import { listTree, type ReadOptions } from '../git/objects.ts';
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

/** Bound: some half a million files, for a request. */
const LISTING_SIZE_MAX = 64 << 20;

/**
 * The path, with its bytes if they are not UTF-8 and a file or folder of a commit matches: a caller writes such a path with
 * U+FFFD, and git needs its bytes. Errors: GitError.
 */
export async function findTreePath(
  repoPath: string,
  commits: readonly string[],
  path: string,
  options: ReadOptions,
): Promise<TreePath> {
  if (!path.includes(REPLACEMENT)) return { path };
  const segmentCount = path.split('/').length;
  for (const commit of commits) {
    const limits = { ...options, outputSizeMax: LISTING_SIZE_MAX };
    let found: TreePath | undefined;
    await listTree(repoPath, commit, limits, ({ path: candidate, rawPath }) => {
      if (rawPath === undefined || found !== undefined) return;
      if (candidate === path) found = { path, rawPath };
      if (candidate.startsWith(`${path}/`))
        found = { path, rawPath: headOf(rawPath, segmentCount) };
    });
    if (found !== undefined) return found;
  }
  return { path };
}
