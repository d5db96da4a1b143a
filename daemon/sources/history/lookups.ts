// What must be known of a repository before history is asked for: who is who in it, how large a file is.

import { LostObjectError } from '../git/git.ts';
import { findObject } from '../git/object-reader.ts';
import { findObjects } from '../git/objects.ts';
import type { RepoRecord } from '../../repos/records.ts';

/** Bytes; a larger one is not used. */
const MAILMAP_SIZE_MAX = 1 << 20;

/**
 * The blob that says who is who: as for git, what the default revision says now, whichever commits are shown.
 * Errors: as `findObject`.
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
  const known = name.includes('\n') ? undefined : await findObject(repoPath, name, signal);
  // Why again: a process of the pool may not see what is new.
  const found = known ?? (await findObjects(repoPath, [name], { signal }))[0];
  return found?.type === 'blob' ? found.size : undefined;
}
