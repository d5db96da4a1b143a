// Branches and tags of a repository as revisions: full ref names with the commits they name, annotated tags peeled.
// Which of them are wanted is decided by a test over their short names.

import { REFS_SIZE_MAX, runGit } from './git.ts';
import { findObjects, type ReadOptions } from './objects.ts';
import { shortRefName } from '../../repos/links.ts';

/** Plain values: may be posted to a worker. */
export interface Revision {
  /** Full ref name. */
  readonly name: string;
  /** Object id of the commit. */
  readonly commit: string;
}

export interface FoundRevisions {
  /** By the bytes of their names. */
  readonly revisions: readonly Revision[];
  /** Full names of tags that name no commit (a tree, a blob, a missing object). */
  readonly unusable: readonly string[];
}

/** Tests of short names, `main`, `release/1.2`. */
export interface RefTests {
  readonly isBranchWanted: (shortName: string) => boolean;
  readonly isTagWanted: (shortName: string) => boolean;
}

/**
 * The branches and tags whose short names pass.
 *
 * Errors: GitError.
 */
export async function findRevisions(
  repoPath: string,
  { isBranchWanted, isTagWanted }: RefTests,
  options: ReadOptions = {},
): Promise<FoundRevisions> {
  const listing = await runGit(
    ['for-each-ref', '--format=%(refname)', 'refs/heads/', 'refs/tags/'],
    {
      ...options,
      repoPath,
      outputSizeMax: REFS_SIZE_MAX,
    },
  );
  const names = listing
    .toString('utf8')
    .split('\n')
    .filter((name) =>
      name.startsWith('refs/heads/')
        ? isBranchWanted(shortRefName(name))
        : name !== '' && isTagWanted(shortRefName(name)),
    );
  const commits = await findObjects(
    repoPath,
    names.map((name) => `${name}^{commit}`),
    options,
  );
  const revisions: Revision[] = [];
  const unusable: string[] = [];
  for (const [index, name] of names.entries()) {
    const commit = commits[index];
    if (commit === undefined) unusable.push(name);
    else revisions.push({ name, commit: commit.oid });
  }
  return { revisions: sortRevisions(revisions), unusable };
}

function sortRevisions(revisions: readonly Revision[]): Revision[] {
  return revisions
    .map((revision) => ({ revision, key: Buffer.from(revision.name) }))
    .sort((a, b) => Buffer.compare(a.key, b.key))
    .map(({ revision }) => revision);
}
