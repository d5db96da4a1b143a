// Resolves a caller's ref to a commit id, each time, as names move. The form is checked before (API.md 11.0). A commit that
// no ref reaches is refused.

import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { GitError, gitDirOf, LostObjectError } from './git.ts';
import { withSlot } from './git-slots.ts';
import { findObject } from './object-reader.ts';
import { isNearName, isObjectId, isPlainName, isRefName, RefError } from './names.ts';
import { findObjects, resolveCommit, resolveObject } from './objects.ts';
import { isReached } from './reached.ts';
import type { RepoRecord } from '../../repos/records.ts';

/** The repository of a repo is not on disk. The message is for the caller. */
export class RepoGoneError extends Error {
  override readonly name = 'RepoGoneError';
  readonly errorCode = 'NOT_FOUND';

  constructor(repoName: string) {
    super(`Repository "${repoName}" is not cloned: nothing exists at its path on disk.`);
  }
}

/** The parts of a repo used here. */
export type ResolvableRepo = Pick<RepoRecord, 'name' | 'source' | 'defaultRevision'>;

/**
 * Full id of the commit that a ref names. Errors: RefError if it names no commit that the refs of the repository reach, and
 * always for a folder without git; RepoGoneError; GitBusyError; GitError if the repository is damaged; the reason of the
 * signal. Cost: 0.1 ms for a name, and for an ancestor that is near (`main~3`); 10 to 20 ms for what does not exist; git's
 * time for other expressions; for a commit that is not cached that of `isReached`.
 * @param ref  any revision that git can resolve; undefined: the default revision of the repo, for which the files on disk of
 * a work tree count as its HEAD
 * @param env  variables with which git finds a commit graph
 */
export async function resolveRef(
  repo: ResolvableRepo,
  ref: string | undefined,
  signal: AbortSignal,
  env?: Readonly<Record<string, string>>,
): Promise<string> {
  const revision = ref ?? repo.defaultRevision;
  let former: string | undefined;
  for (;;) {
    const commit = await findCommit(repo, ref, signal);
    if (isRefName(revision)) return commit;
    // Why again if it moved: a forced push leaves its former commit unreached.
    if (commit === former) throw refError(revision);
    const { path: repoPath } = repo.source;
    if (await withRepo(repo, () => isReached(repoPath, commit, { signal, env }))) return commit;
    former = commit;
  }
}

async function findCommit(
  repo: ResolvableRepo,
  ref: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const { kind, path: repoPath } = repo.source;
  if (kind === 'folder') throw refError(ref);
  const revision = ref ?? repo.defaultRevision;
  const commit =
    (await queryPool(repoPath, revision, signal)) ??
    (await withRepo(repo, () => lookUp(repo, revision, signal)));
  if (commit === undefined) throw isRepoGone(repo) ? new RepoGoneError(repo.name) : refError(ref);
  return commit;
}

/** Whether neither a repository nor a folder is at the repo's path. */
export function isRepoGone({ source }: Pick<RepoRecord, 'source'>): boolean {
  const location = source.kind === 'folder' ? source.path : gitDirOf(source.path);
  const status = statSync(location, { throwIfNoEntry: false });
  if (status === undefined) return true;
  // A file names the folder elsewhere, as in a work tree that was added to a repository.
  return (
    source.kind !== 'folder' && status.isDirectory() && !existsSync(path.join(location, 'HEAD'))
  );
}

/** Reports a RepoGoneError if something failed because the repository is gone. */
export async function withRepo<Value>(
  repo: Pick<RepoRecord, 'name' | 'source'>,
  run: () => Promise<Value>,
): Promise<Value> {
  try {
    return await run();
  } catch (error) {
    if (isRepoGone(repo)) throw new RepoGoneError(repo.name);
    throw error;
  }
}

function refError(ref: string | undefined): RefError {
  return new RefError(
    ref === undefined ? 'The repository has no commits.' : `Git ref "${ref}" names no commit.`,
  );
}

/** Asks a running process, which caches the commits on the way; undefined: not found. */
async function queryPool(
  repoPath: string,
  revision: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!isNearName(revision)) return undefined;
  try {
    return (await findObject(repoPath, `${revision}^{commit}`, signal))?.oid;
  } catch (error) {
    if (error instanceof GitError && (error.failure === 'exit' || error.failure === 'not_started'))
      return undefined;
    throw error;
  }
}

/**
 * Asks a new git process. Why two steps: in `HEAD:x` and `:/text` a suffix `^{commit}` would be part of the path or the
 * text.
 */
async function lookUp(
  { source }: ResolvableRepo,
  revision: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const options = { signal, timeoutMs: 0 };
  return withSlot(source.path, signal, async () => {
    const id = await resolveObject(source.path, revision, options);
    if (id === undefined || !isObjectId(id)) return undefined;
    const commit = await resolveCommit(source.path, id, options);
    if (commit !== undefined) return commit;
    const [object] = await findObjects(source.path, [id], options);
    if (object !== undefined || !isPlainName(revision)) return undefined;
    // A full id need not exist; the object of a ref or an abbreviated id does, and is damaged if it cannot be read.
    const isWhole = id === revision.toLowerCase();
    const target = isWhole ? await resolveObject(source.path, id.slice(0, -1), options) : id;
    if (target === id) throw new LostObjectError('cat-file', id);
    return undefined;
  });
}
