// The order of repos in lists, and their default branch.

import { shortRefName } from '../../repos/links.ts';
import type { RepoRecord } from '../../repos/records.ts';

/** Ascending by the bytes of the name (UTF-8 order). */
export function byNameBytes<Named extends { readonly name: string }>(
  all: readonly Named[],
): Named[] {
  return all
    .map((one) => ({ one, key: Buffer.from(one.name) }))
    .sort((a, b) => Buffer.compare(a.key, b.key))
    .map(({ one }) => one);
}

/** ms since 1970; repos without push date come last. */
function pushTime({ pushedAt }: RepoRecord): number {
  return pushedAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(pushedAt);
}

/** By name or by time of the newest commit, ties by name; default: by name, ascending. */
export function sortRepos(
  repos: readonly RepoRecord[],
  sort: 'name' | 'pushed' = 'name',
  direction: 'asc' | 'desc' = 'asc',
): RepoRecord[] {
  const sorted = byNameBytes(repos);
  if (sort === 'pushed') sorted.sort((a, b) => pushTime(a) - pushTime(b) || 0);
  return direction === 'desc' ? sorted.reverse() : sorted;
}

/** Short name of the default branch; undefined if it has no name. */
export function defaultBranchOf({
  defaultBranch,
  defaultRevision,
}: RepoRecord): string | undefined {
  const branch = defaultBranch ?? defaultRevision;
  return branch.startsWith('refs/') ? shortRefName(branch) : undefined;
}
