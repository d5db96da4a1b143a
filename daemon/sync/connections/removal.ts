// Decides which repos to remove, because no connection lists them any more, and when. A repo stays while it may
// reappear under another name: a connection to its host has not been fully listed since it was added or changed.

import type { StoredRepos, StoredRepo } from '../../store/repos.ts';
import { LinkIndex } from './link-index.ts';

/** A repo to remove, and when: milliseconds since the epoch. */
export interface Removal {
  readonly repo: StoredRepo;
  readonly at: number;
}

/** @param graceMs  counts from when they were missed */
export function removalsOf(stored: StoredRepos, graceMs: number): Removal[] {
  const links = new LinkIndex(stored);
  const unsure = new Set(
    stored.connections
      .filter(({ wholeAt, rules }) => wholeAt === null && rules.digest !== '')
      .map(({ address }) => address),
  );
  return stored.repos.flatMap((repo) => {
    const { repoId, host } = repo;
    if (host === undefined || unsure.has(host.address)) return [];
    // Submodules are removed with their outer repo (submodules.ts).
    if (host.facts.submodule !== undefined) return [];
    if (!links.isMissing(repoId) || links.isKept(repoId)) return [];
    const since = links.linksOf(repoId).map(({ missingSince }) => missingSince!);
    return [{ repo, at: Math.max(0, ...since) + graceMs }];
  });
}
