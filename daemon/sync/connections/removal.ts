// Which repos are to be removed, as no connection has them any more, and when. What may still turn up stays: a connection to
// their host that was not listed as a whole since it came, or since its settings changed, may have them under another name.

import type { RepoBook, StoredRepo } from '../../store/repos.ts';
import { LinkBook } from './link-book.ts';

/** A repo that is to go, and when: milliseconds since the epoch. */
export interface Removal {
  readonly repo: StoredRepo;
  readonly at: number;
}

/** @param graceMs  from when they were missed on */
export function removalsOf(book: RepoBook, graceMs: number): Removal[] {
  const links = new LinkBook(book);
  const unsure = new Set(
    book.connections
      .filter(({ wholeAt, rules }) => wholeAt === null && rules.digest !== '')
      .map(({ address }) => address),
  );
  return book.repos.flatMap((repo) => {
    const { repoId, host } = repo;
    if (host === undefined || unsure.has(host.address)) return [];
    // They go when their outer repo has them no more (submodules.ts).
    if (host.facts.submodule !== undefined) return [];
    if (!links.isMissing(repoId) || links.isKept(repoId)) return [];
    const since = links.linksOf(repoId).map(({ missingSince }) => missingSince!);
    return [{ repo, at: Math.max(0, ...since) + graceMs }];
  });
}
