// The set of repos a caller may access. Created by accounts/repo-access-resolver.ts, applied by the search, the lists and everything that
// serves a repo.

import { compactIds, type RepoIds } from './repo-id-set.ts';

export interface RepoAccess {
  /** Shared by many callers: all repos, or one set object for all of them. */
  readonly base: 'all' | ReadonlySet<number>;
  /** Additional repoIds, none of them in `base`. */
  readonly extra: RepoIds;
}

export const NO_REPOS: ReadonlySet<number> = new Set();

export const SEES_ALL: RepoAccess = { base: 'all', extra: NO_REPOS };
export const SEES_NOTHING: RepoAccess = { base: NO_REPOS, extra: NO_REPOS };

/** Whether all repos are visible: shard numbers, which repos share, may then be revealed. */
export function seesAll({ base }: RepoAccess): boolean {
  return base === 'all';
}

export function canSee({ base, extra }: RepoAccess, repoId: number): boolean {
  return base === 'all' || base.has(repoId) || extra.has(repoId);
}

export function narrowed(repoAccess: RepoAccess, repoIds: readonly number[]): RepoAccess {
  return {
    base: NO_REPOS,
    extra: compactIds(repoIds.filter((repoId) => canSee(repoAccess, repoId))),
  };
}
