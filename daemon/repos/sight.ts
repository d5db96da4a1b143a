// The set of repos a caller may access. Created by accounts/sights.ts, applied by the search, the lists and everything that
// serves a repo.

import { compactIds, type RepoIds } from './repo-ids.ts';

export interface Sight {
  /** Shared by many callers: all repos, or one set object for all of them. */
  readonly base: 'all' | ReadonlySet<number>;
  /** Additional repoIds, none of them in `base`. */
  readonly extra: RepoIds;
}

export const NO_REPOS: ReadonlySet<number> = new Set();

export const SEES_ALL: Sight = { base: 'all', extra: NO_REPOS };
export const SEES_NOTHING: Sight = { base: NO_REPOS, extra: NO_REPOS };

/** Whether all repos are visible: shard numbers, which repos share, may then be revealed. */
export function seesAll({ base }: Sight): boolean {
  return base === 'all';
}

export function isSeen({ base, extra }: Sight, repoId: number): boolean {
  return base === 'all' || base.has(repoId) || extra.has(repoId);
}

/** The intersection of `sight` and a list of ids. */
export function narrowed(sight: Sight, repoIds: readonly number[]): Sight {
  return { base: NO_REPOS, extra: compactIds(repoIds.filter((repoId) => isSeen(sight, repoId))) };
}
