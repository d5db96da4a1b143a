// Probes the location of a source to be indexed. A former git repository whose git is missing does not become a plain
// folder, which would make its ignored files searchable, unless the operator says so.

import { ProbeError } from '../../sources/git/path-kind.ts';
import { modeOf, type ProbedSource, probeSource } from '../../sources/git/probe.ts';
import { resolveCommit } from '../../sources/git/objects.ts';
import type { RepoSource, SourceKind } from '../../repos/records.ts';
import type { RepoRegistry } from './registry.ts';

const LOST_GIT =
  'was a git repository, but its .git is missing; "--mode folder" makes it a plain folder, ' +
  'which makes all its files searchable, including those that git ignored';

/**
 * @param mode  default: the files on disk if there is a work tree
 * Errors: ProbeError; GitError if git is missing or exceeds its time limit.
 */
export async function probeForIndex(
  registry: Pick<RepoRegistry, 'mayBe'>,
  location: string,
  mode: SourceKind | undefined,
): Promise<ProbedSource> {
  const probed = await probeSource(location, mode);
  if (probed.layout === 'worktree' && mode === undefined) return probeSource(location, 'worktree');
  const isLost =
    probed.layout === 'folder' &&
    mode !== 'folder' &&
    registry
      .mayBe(probed)
      .some((repo) => repo.location !== undefined && repo.location.kind !== 'folder');
  if (isLost) throw new ProbeError(location, 'not_a_repository', LOST_GIT);
  return probed;
}

/** As `probeForIndex`, for a known source. */
export async function reprobeSource(
  registry: Pick<RepoRegistry, 'mayBe'>,
  source: RepoSource,
): Promise<ProbedSource> {
  const probed = await probeForIndex(registry, source.path, modeOf(source));
  if (source.kind === 'worktree' && probed.layout === 'folder')
    throw new ProbeError(source.path, 'not_a_repository', LOST_GIT);
  const { commit } = source;
  if (commit === undefined) return probed;
  if ((await resolveCommit(source.path, commit)) === undefined)
    throw new ProbeError(source.path, 'not_a_repository', `commit ${commit} does not exist`);
  const { defaultBranch: _, ...rest } = probed;
  return { ...rest, commit, defaultRevision: commit };
}
