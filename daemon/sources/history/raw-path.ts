// Paths whose bytes are not UTF-8: a caller writes them as they look, with U+FFFD, and git must be asked for their
// bytes. They are found by comparing what the paths of a commit look like.

import { listTree, type ReadOptions } from '../git/objects.ts';
import type { NamedPath } from '../../base/paths.ts';

/** Bound: some half a million files, for a request. */
const LISTING_SIZE_MAX = 64 << 20;
const REPLACEMENT = '\uFFFD';
const SLASH = 0x2f;

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
    const { entries } = await listTree(repoPath, commit, limits);
    for (const { path: candidate, rawPath, size } of entries) {
      if (rawPath === undefined) continue;
      if (candidate === path) return { path, rawPath, size };
      if (candidate.startsWith(`${path}/`)) return { path, rawPath: cut(rawPath, segmentCount) };
    }
  }
  return { path };
}

/** The first segments of a path. */
function cut(rawPath: Uint8Array, segmentCount: number): Uint8Array {
  let end = -1;
  for (let i = 0; i < segmentCount; i++) {
    end = rawPath.indexOf(SLASH, end + 1);
    if (end < 0) return rawPath;
  }
  return rawPath.subarray(0, end);
}
