// Resolves the revision names of a query in a repository's git.

import type { RepoRecord } from '../../repos/records.ts';
import { checkRef, RefError, shortIdOf } from '../../sources/git/names.ts';
import { resolveRef } from '../../sources/git/resolve.ts';
import type { OnDemandRepo } from './on-demand-docs.ts';

export interface RequestedRevisions {
  readonly record: RepoRecord;
  readonly revisions: OnDemandRepo['revisions'];
}

/**
 * The names that the repo's git can resolve and read.
 *
 * @param onError  called with the reason if a name cannot be looked up; may throw
 */
export async function requestedRevisionsOf(
  record: RepoRecord,
  names: readonly string[],
  signal: AbortSignal,
  onError: (name: string, error: unknown) => undefined,
): Promise<RequestedRevisions> {
  const revisions: { name: string; commit: string }[] = [];
  for (const name of names) {
    const commit = await commitOf(record, name, signal).catch((error: unknown) =>
      error instanceof RefError ? undefined : onError(name, error),
    );
    if (commit !== undefined) revisions.push({ name, commit });
  }
  return { record, revisions };
}

/** Errors: those of resolveRef. */
async function commitOf(
  record: RepoRecord,
  name: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  checkRef(name);
  const short = shortIdOf(name);
  if (
    short !== undefined &&
    (await resolveRef(record, short, signal)).startsWith(short.toLowerCase())
  )
    return undefined;
  return await resolveRef(record, name, signal);
}
