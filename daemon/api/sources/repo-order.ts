// The order of repos in lists, and their default branch.

import { shortRefName } from '../../repos/links.ts';
import type { RepoRecord } from '../../repos/records.ts';

/** Ascending by the bytes of the name (UTF-8 order). */
export function byNameBytes(repos: readonly RepoRecord[]): RepoRecord[] {
  return repos
    .map((repo) => ({ repo, key: Buffer.from(repo.name) }))
    .sort((a, b) => Buffer.compare(a.key, b.key))
    .map(({ repo }) => repo);
}

/** ms since 1970; repos without push date come last. */
function pushTime({ pushedAt }: RepoRecord): number {
  return pushedAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(pushedAt);
}

/** Ascending by push date, those without one last; the sort is stable, so ties stay by name. */
function sortByPush(repos: readonly RepoRecord[]): RepoRecord[] {
  return byNameBytes(repos).sort((a, b) => {
    const [timeA, timeB] = [pushTime(a), pushTime(b)];
    return timeA === timeB ? 0 : timeA - timeB;
  });
}

/** By name or by time of the newest commit; default: by name, ascending. */
export function sortRepos(
  repos: readonly RepoRecord[],
  sort: 'name' | 'pushed' = 'name',
  direction: 'asc' | 'desc' = 'asc',
): RepoRecord[] {
  const sorted = sort === 'pushed' ? sortByPush(repos) : byNameBytes(repos);
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
