// Lookups before a history request: the mailmap, and the size of a file.

import { LostObjectError } from '../git/git.ts';
import { findObject } from '../git/object-reader.ts';
import { findObjects } from '../git/objects.ts';
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
