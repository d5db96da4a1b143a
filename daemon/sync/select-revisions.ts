// Which revisions of a repo are to be indexed: the default one, and the branches and tags that its globs select.

import { compileGlobs } from '../sources/disk/globs.ts';
import type { ProbedSource } from '../sources/git/probe.ts';
import type { RepoRecord } from '../repos/records.ts';
import { findRevisions, type Revision } from '../sources/git/refs.ts';
import type { LogFields } from '../base/log.ts';

/** What somebody may not have meant, as a log line. */
export interface RevisionWarning {
  readonly message: string;
  readonly fields: LogFields;
}

/**
 * The revisions besides the default one, by name.
 *
 * @param warnings  gets what was not found
 * Errors: GitError.
 */
export async function selectRevisions(
  { name, selection, source }: RepoRecord,
  { defaultRevision }: ProbedSource,
  warnings: RevisionWarning[],
): Promise<readonly Revision[]> {
  if (selection === undefined || source.kind === 'folder') return [];
  const { branches, tags } = selection;
  const warn = (message: string, fields: LogFields): void =>
    void warnings.push({ message, fields: { repo: name, ...fields } });
  const { revisions, unusable } = await findRevisions(source.path, {
    isBranchWanted: compileGlobs(branches),
    isTagWanted: compileGlobs(tags),
  });
  for (const revision of unusable) warn('revision left out: it names no commit', { revision });
  const has = (prefix: string): boolean => revisions.some((one) => one.name.startsWith(prefix));
  if (branches.length > 0 && !has('refs/heads/')) warn('no branch matches', { branches });
  if (tags.length > 0 && !has('refs/tags/')) warn('no tag matches', { tags });
  return revisions.filter((revision) => revision.name !== defaultRevision);
}
