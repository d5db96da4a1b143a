// Which revisions of a repo are to be indexed: the default one, and the branches and tags that its globs select.

import { compileGlobs } from '../sources/disk/globs.ts';
import type { ProbedSource } from '../sources/git/probe.ts';
import type { RepoRecord } from '../repos/records.ts';
import { findRevisions, type Revision } from '../sources/git/refs.ts';
import type { Log } from '../base/log.ts';

/**
 * The revisions besides the default one, by name.
 *
 * Errors: GitError.
 */
export async function selectRevisions(
  { name, selection, source }: RepoRecord,
  { defaultRevision }: ProbedSource,
  log: Log,
): Promise<readonly Revision[]> {
  if (selection === undefined || source.kind === 'folder') return [];
  const { branches, tags } = selection;
  const { revisions, unusable } = await findRevisions(source.path, {
    isBranchWanted: compileGlobs(branches),
    isTagWanted: compileGlobs(tags),
  });
  for (const revision of unusable)
    log.warn('revision left out: it names no commit', { repo: name, revision });
  const has = (prefix: string): boolean => revisions.some((one) => one.name.startsWith(prefix));
  if (branches.length > 0 && !has('refs/heads/'))
    log.warn('no branch matches', { repo: name, branches });
  if (tags.length > 0 && !has('refs/tags/')) log.warn('no tag matches', { repo: name, tags });
  return revisions.filter((revision) => revision.name !== defaultRevision);
}
