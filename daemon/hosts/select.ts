// Which of the repositories that a host lists a connection keeps: topics that it asks for, and what it excludes, which beats
// everything else (API.md 19.4). Hosts tell names apart without case, so globs do.

import picomatch from 'picomatch';
import type { HostRepo } from './host.ts';
import type { Listed } from './targets.ts';

/** As connections have it; what a kind of host does not know is absent. */
export interface Selection {
  /** Globs: one topic at least must match. Empty: none is asked for. */
  readonly topics?: readonly string[];
  readonly exclude: {
    readonly forks?: boolean;
    readonly archived?: boolean;
    /** Globs over paths below the host. */
    readonly paths?: readonly string[];
    readonly topics?: readonly string[];
    /** Bytes; a size outside is excluded, one that is not known is not. */
    readonly size?: { readonly min?: number; readonly max?: number } | undefined;
  };
}

/** Tells of each repository whether it is kept. */
export function keeperOf({ topics = [], exclude }: Selection): (repo: HostRepo) => boolean {
  const isWantedTopic = matcherOf(topics);
  const isExcludedTopic = matcherOf(exclude.topics ?? []);
  const isExcludedPath = matcherOf(exclude.paths ?? []);
  const { min = 0, max = Infinity } = exclude.size ?? {};
  return (repo) => {
    if (exclude.forks === true && repo.isFork) return false;
    if (exclude.archived === true && repo.isArchived) return false;
    if (isExcludedPath(repo.path) || repo.topics.some(isExcludedTopic)) return false;
    if (repo.size !== undefined && (repo.size < min || repo.size > max)) return false;
    return topics.length === 0 || repo.topics.some(isWantedTopic);
  };
}

/** What a listing is told of a repository. */
export function listedAs(repo: HostRepo, isKept: (repo: HostRepo) => boolean): Listed {
  return { hostId: repo.hostId, repo: isKept(repo) ? repo : undefined };
}

/** Whether a text matches one of the globs; none matches nothing. */
function matcherOf(globs: readonly string[]): (text: string) => boolean {
  if (globs.length === 0) return () => false;
  const matches = picomatch([...globs], { dot: true, nocase: true, nonegate: true });
  return (text) => matches(text);
}
