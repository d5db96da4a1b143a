// Hints for searches without results: repos in scope that are not indexed yet, as after a lost catalog, and files that are
// indexed by name only because they are too large. The few repos that they concern are found once a snapshot.

import type { RepoRecord } from '../../repos/records.ts';
import { someNames } from '../../repos/some-names.ts';
import type { Hint } from '../query/hints.ts';
import type { Snapshot } from './snapshot.ts';

interface LargeFiles {
  readonly repo: RepoRecord;
  readonly count: number;
}

const largeIn = new WeakMap<Snapshot, readonly LargeFiles[]>();
const unindexedIn = new WeakMap<Snapshot, readonly RepoRecord[]>();
const withRevisionsIn = new WeakMap<Snapshot, readonly RepoRecord[]>();

function isUnindexed({ indexedAt }: RepoRecord): boolean {
  return indexedAt === undefined;
}

function hasSeveralRevisions({ revisions = [] }: RepoRecord): boolean {
  return revisions.length > 1;
}

/** Names the first ones; none if all are indexed. */
export function unindexedHints(
  snapshot: Snapshot,
  isSearched: (repo: RepoRecord) => boolean,
): Hint[] {
  const unindexed = reposIn(snapshot, unindexedIn, isUnindexed).filter(isSearched);
  if (unindexed.length === 0) return [];
  const count = unindexed.length === 1 ? '1 repository is' : `${unindexed.length} repositories are`;
  const names = someNames(unindexed.map(({ name }) => name));
  return [{ message: `${count} not indexed yet, and not searched: ${names}.` }];
}

/** Whether a search of other revisions than the default ones could find more. */
export function hasOtherRevisions(
  snapshot: Snapshot,
  isVisible: (repo: RepoRecord) => boolean,
): boolean {
  return reposIn(snapshot, withRevisionsIn, hasSeveralRevisions).some(isVisible);
}

/** Those that satisfy `test`, as `cache` has them. */
function reposIn(
  snapshot: Snapshot,
  cache: WeakMap<Snapshot, readonly RepoRecord[]>,
  test: (repo: RepoRecord) => boolean,
): readonly RepoRecord[] {
  let repos = cache.get(snapshot);
  if (repos === undefined) cache.set(snapshot, (repos = snapshot.repos.filter(test)));
  return repos;
}

/** Names the repo with most such files; none without such files. */
export function unsearchedHints(
  snapshot: Snapshot,
  isSearched: (repo: RepoRecord) => boolean,
  tooLargeOf: (repoId: number) => number,
): Hint[] {
  const large = largeFilesOf(snapshot, tooLargeOf).filter(({ repo }) => isSearched(repo));
  const [first] = large;
  if (first === undefined) return [];
  const count = large.reduce((sum, one) => sum + one.count, 0);
  const where = large.length === 1 ? 'in' : 'most of them in';
  const files = count === 1 ? '1 file is' : `${count} files are`;
  const message = `${files} not searched: too large; ${where} ${first.repo.name}.`;
  return [{ message, repo: first.repo.name }];
}

/** Most first. */
export function largeFilesOf(
  snapshot: Snapshot,
  tooLargeOf: (repoId: number) => number,
): readonly LargeFiles[] {
  let large = largeIn.get(snapshot);
  if (large === undefined) {
    large = snapshot.repos
      .map((repo) => ({ repo, count: tooLargeOf(repo.repoId) }))
      .filter(({ count }) => count > 0)
      .toSorted((a, b) => b.count - a.count);
    largeIn.set(snapshot, large);
  }
  return large;
}
