// Selects the revisions of a repo to index: the default one, and the branches and tags that match its globs.

import { compileGlobs } from '../../sources/disk/globs.ts';
import type { ProbedSource } from '../../sources/git/probe.ts';
import { REPLACEMENT } from '../../base/paths.ts';
import type { RepoRecord } from '../../repos/records.ts';
import { findRevisions, type Revision } from '../../sources/git/refs.ts';

/** The revisions besides the default one, by name; warns of missing ones. Errors: GitError. */
export async function selectRevisions(
  { selection, source }: RepoRecord,
  { defaultRevision }: ProbedSource,
  warnings: string[],
): Promise<readonly Revision[]> {
  if (selection === undefined || source.kind === 'folder') return [];
  const { branches, tags } = selection;
  const { revisions, unusable } = await findRevisions(source.path, {
    isBranchSelected: compileGlobs(branches),
    isTagSelected: compileGlobs(tags),
  });
  for (const revision of unusable)
    warnings.push(`revision left out: ${whyUnusable(revision)}: ${revision}`);
  const has = (prefix: string): boolean => revisions.some((one) => one.name.startsWith(prefix));
  if (branches.length > 0 && !has('refs/heads/'))
    warnings.push(`no branch matches: ${branches.join(', ')}`);
  if (tags.length > 0 && !has('refs/tags/')) warnings.push(`no tag matches: ${tags.join(', ')}`);
  return revisions.filter((revision) => revision.name !== defaultRevision);
}

/** Git cannot be asked for a name whose bytes are not UTF-8. */
function whyUnusable(revision: string): string {
  return revision.includes(REPLACEMENT) ? 'its name is not UTF-8' : 'it names no commit';
}
