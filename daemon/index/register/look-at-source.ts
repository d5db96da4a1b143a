// What lies at the place of a source that is to be indexed. What was a repository stays one: where its git is gone, it is
// no folder whose files are searched, those that git ignored among them, unless the operator says so.

import { ProbeError } from '../../sources/git/layout.ts';
import {
  modeOf,
  type ProbedSource,
  probeSource,
  type SourceMode,
} from '../../sources/git/probe.ts';
import { resolveCommit } from '../../sources/git/objects.ts';
import type { RepoSource } from '../../repos/records.ts';
import type { RepoRegister } from './register.ts';

const LOST_GIT =
  'was a git repository, and its git is gone (no .git is there); "--mode folder" makes it a folder without git, ' +
  'whose files are all searched, those that git ignored too';

/**
 * @param mode  default: the files on disk where there is a work tree
 *
 * Errors: ProbeError; GitError if git is missing or exceeds its time limit.
 */
export async function lookAtSource(
  register: Pick<RepoRegister, 'mayBe'>,
  place: string,
  mode: SourceMode | undefined,
): Promise<ProbedSource> {
  const probed = await probeSource(place, mode);
  if (probed.layout === 'worktree' && mode === undefined) return probeSource(place, 'worktree');
  const isLost =
    probed.layout === 'folder' &&
    mode !== 'folder' &&
    register.mayBe(probed).some((repo) => repo.place !== undefined && repo.place.kind !== 'folder');
  if (isLost) throw new ProbeError(place, 'not_a_repository', LOST_GIT);
  return probed;
}

/** As `lookAtSource`, of a source as it was. */
export async function lookAgainAt(
  register: Pick<RepoRegister, 'mayBe'>,
  source: RepoSource,
): Promise<ProbedSource> {
  const probed = await lookAtSource(register, source.path, modeOf(source));
  if (source.kind === 'worktree' && probed.layout === 'folder')
    throw new ProbeError(source.path, 'not_a_repository', LOST_GIT);
  const { commit } = source;
  if (commit === undefined) return probed;
  if ((await resolveCommit(source.path, commit)) === undefined)
    throw new ProbeError(source.path, 'not_a_repository', `commit ${commit} is not there`);
  const { defaultBranch: _, ...rest } = probed;
  return { ...rest, commit, defaultRevision: commit };
}
