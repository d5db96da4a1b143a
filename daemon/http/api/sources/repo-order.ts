// The order of repos in lists.

import type { RepoRecord } from '../../../repos/records.ts';

/** Ascending by the bytes of the name, which is the order of UTF-8. */
export function byNameBytes(repos: readonly RepoRecord[]): RepoRecord[] {
  return repos
    .map((repo) => ({ repo, key: Buffer.from(repo.name) }))
    .sort((a, b) => Buffer.compare(a.key, b.key))
    .map(({ repo }) => repo);
}
