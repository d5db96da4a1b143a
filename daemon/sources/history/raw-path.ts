// Finds the bytes of paths that are not UTF-8: a caller writes such a path with U+FFFD, and git needs its bytes. It is
// compared with the decoded paths of a commit.

import { listTree, type ReadOptions } from '../git/objects.ts';
import { headOf, type TreePath, REPLACEMENT } from '../../base/paths.ts';

/** Bound: some half a million files, for a request. */
const LISTING_SIZE_MAX = 64 << 20;

export interface FoundPath extends TreePath {
  /** Bytes of the file, if found among the files of a commit. */
  readonly size?: number;
}

/** The path, with its bytes if they are not UTF-8 and a file or folder of a commit matches. Errors: GitError. */
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
