// Paths whose bytes are not UTF-8: a caller writes them as they look, with U+FFFD, and git must be asked for their
// bytes. They are found by comparing what the paths of a commit look like.

import { listTree, type ReadOptions } from '../git/objects.ts';
import { headOf, type NamedPath, REPLACEMENT } from '../../base/paths.ts';

/** Bound: some half a million files, for a request. */
const LISTING_SIZE_MAX = 64 << 20;

export interface FoundPath extends NamedPath {
  /** Bytes of the file, where it was found among the files of a commit. */
  readonly size?: number;
}

/** The path, with its bytes if it is a file or folder of one of the commits that only looks like this. Errors: GitError. */
export async function findNamedPath(
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
