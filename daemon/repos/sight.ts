// Which repos somebody sees. Made by accounts/sights.ts, applied by the search, the lists and all that serves a
// repo. Knows nothing of why.

import { compactIds, type RepoIds } from './repo-ids.ts';

export interface Sight {
  /** What many see alike: all repos, or a set that is the same object for all of them. */
  readonly base: 'all' | ReadonlySet<number>;
  /** RepoIds that come on top; none of them is in `base`. */
  readonly extra: RepoIds;
}

export const NO_REPOS: ReadonlySet<number> = new Set();

export const SEES_ALL: Sight = { base: 'all', extra: NO_REPOS };
export const SEES_NOTHING: Sight = { base: NO_REPOS, extra: NO_REPOS };

/** Whether nothing is hidden: numbers of shards, which repos share, may be told. */
export function seesAll({ base }: Sight): boolean {
  return base === 'all';
}

export function isSeen({ base, extra }: Sight, repoId: number): boolean {
  return base === 'all' || base.has(repoId) || extra.has(repoId);
}

/** What is seen by both `sight` and a list of ids. */
export function narrowed(sight: Sight, repoIds: readonly number[]): Sight {
  return { base: NO_REPOS, extra: compactIds(repoIds.filter((repoId) => isSeen(sight, repoId))) };
}
