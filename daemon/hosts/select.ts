// Selects among a host's repositories for a connection: required topics, and exclusions, which beat everything else (API.md
// 19.4). Globs ignore case, as hosts do.

import { globTest } from '../base/glob-test.ts';
import type { HostRepo } from './host.ts';

/** As in connections; members unknown to a kind of host are absent. */
export interface Selection {
  /** Globs: at least one topic must match. Empty: no condition. */
  readonly topics?: readonly string[];
  readonly exclude: {
    readonly forks?: boolean;
    readonly archived?: boolean;
    /** Globs over paths below the host. */
    readonly paths?: readonly string[];
    readonly topics?: readonly string[];
    /** Bytes; a size outside is excluded, an unknown one is not. */
    readonly size?: { readonly min?: number; readonly max?: number } | undefined;
  };
}

/** A test whether a repository is kept. */
export function selectionFilter({ topics = [], exclude }: Selection): (repo: HostRepo) => boolean {
  const isTopicSelected = globTest(topics, { ignoresCase: true });
  const isExcludedTopic = globTest(exclude.topics ?? [], { ignoresCase: true });
  const isExcludedPath = globTest(exclude.paths ?? [], { ignoresCase: true });
  const { min = 0, max = Infinity } = exclude.size ?? {};
  return (repo) => {
    if (exclude.forks === true && repo.isFork) return false;
    if (exclude.archived === true && repo.isArchived) return false;
    if (isExcludedPath(repo.path) || repo.topics.some(isExcludedTopic)) return false;
    if (repo.size !== undefined && (repo.size < min || repo.size > max)) return false;
    return topics.length === 0 || repo.topics.some(isTopicSelected);
  };
}
