// From what a caller typed as a ref to the id of a commit. The form of a ref is checked before (API.md 11.0);
// names are looked up each time, as they move; full ids are looked up once.

import { LRUCache } from 'lru-cache';
import { GitError, tryGit } from './git.ts';
import { withSlot } from './git-slots.ts';
import { resolveCommit } from './probe.ts';
import type { RepoRecord } from './records.ts';

/** A ref that names no commit. The message is for the caller. */
export class RefError extends Error {
  override readonly name = 'RefError';
  readonly errorCode = 'INVALID_GIT_REF';
}

/** The part of a repo that is asked for. */
export type ResolvableRepo = Pick<RepoRecord, 'source' | 'defaultRevision'>;

const FULL_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const KNOWN_IDS_MAX = 20_000;

/** Path of the repository and full id as it was given -> id of the commit. */
const knownIds = new LRUCache<string, string>({ max: KNOWN_IDS_MAX });

/**
 * Full id of the commit that a ref names.
 *
 * @param ref  any revision that git can resolve; undefined: the default revision of the repo, for which the files
 *             on disk of a work tree count as its HEAD
 *
 * Errors: RefError if it names no commit, as it always is for a folder without git; GitBusyError; GitError; the
 * reason of the signal.
 */
export async function resolveRef(
  repo: ResolvableRepo,
  ref: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const { kind, path } = repo.source;
  if (kind === 'folder') throw refError(ref);
  const revision = ref ?? repo.defaultRevision;
  const key = FULL_ID.test(revision) ? `${path}\0${revision}` : undefined;
  const known = key === undefined ? undefined : knownIds.get(key);
  if (known !== undefined) return known;
  const commit = await lookUp(path, revision, signal);
  if (commit === undefined) throw refError(ref);
  // Why the lengths: in a repository with SHA-256 ids, 40 digits are the beginning of an id.
  if (key !== undefined && commit.length === revision.length) knownIds.set(key, commit);
  return commit;
}

function refError(ref: string | undefined): RefError {
  return new RefError(
    ref === undefined ? 'The repository has no commits.' : `Git ref "${ref}" names no commit.`,
  );
}

/**
 * Why two steps: in `HEAD:x` and `:/text` a suffix `^{commit}` would be part of the path or the text.
 */
async function lookUp(
  repoPath: string,
  revision: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  return withSlot(signal, async () => {
    try {
      const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', revision];
      const id = await tryGit(args, { repoPath, signal, timeoutMs: 0 });
      if (id === undefined || !FULL_ID.test(id)) return undefined;
      return await resolveCommit(repoPath, id, { signal, timeoutMs: 0 });
    } catch (error) {
      if (error instanceof GitError && error.failure === 'aborted') signal.throwIfAborted();
      throw error;
    }
  });
}
