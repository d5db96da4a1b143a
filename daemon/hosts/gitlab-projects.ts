// What GitLab says of a project, and the repository that it is for us.

import { given } from '../base/given.ts';
import { z } from 'zod';
import type { SettingsOf } from '../base/config/connections.ts';
import { idAndAddresses, isoTime } from './answers.ts';
import type { HostRepo } from './host.ts';
import { keeperOf } from './select.ts';
import type { Listed } from './targets.ts';

/** Guess: as long as anything here that means something. */
const text = z.string().max(1_000);

/** What is used of a project. Without a token GitLab says no more than the fields before `namespace`. */
export const projectSchema = z.object({
  id: z.int().positive(),
  path_with_namespace: z.string().min(1),
  default_branch: text.nullish(),
  topics: z.array(text).max(1_000).nullish(),
  avatar_url: text.nullish(),
  last_activity_at: z.string().nullish(),
  namespace: z.object({ kind: z.string() }).nullish(),
  visibility: z.string().optional(),
  archived: z.boolean().optional(),
  forked_from_project: z.unknown().optional(),
  repository_access_level: z.string().nullish(),
});
export type Project = z.output<typeof projectSchema>;

type Settings = SettingsOf<'gitlab'>;

/** Turns what GitLab lists into repositories, those left out that the connection excludes. */
export function projectReader(
  settings: Settings,
): (project: Project, isAnonymous: boolean) => Listed {
  const { topics, exclude } = settings;
  const isKept = keeperOf({ topics, exclude: { ...exclude, paths: exclude.projects } });
  return (project, isAnonymous) => {
    const repo = repoOfGitLab(project, settings, isAnonymous);
    const isPersonal = exclude.userOwnedProjects && project.namespace?.kind === 'user';
    // A project may be one of issues or packages alone.
    const hasCode = project.repository_access_level !== 'disabled';
    const isListed = hasCode && !isPersonal && isKept(repo);
    return { hostId: repo.hostId, repo: isListed ? repo : undefined };
  };
}

/** @param isAnonymous  asked without a token, so that everything listed is public */
export function repoOfGitLab(project: Project, settings: Settings, isAnonymous: boolean): HostRepo {
  const { path_with_namespace: path, default_branch: branch } = project;
  const image = project.avatar_url ?? '';
  const pushedAt = isoTime(project.last_activity_at);
  return {
    // Not what GitLab names: its own idea of its address may be another one.
    ...idAndAddresses(project.id, path, settings.url, settings.webUrl),
    ...(/^https?:\/\//.test(image) ? { imageUrl: image } : {}),
    isFork: project.forked_from_project !== undefined && project.forked_from_project !== null,
    isArchived: project.archived === true,
    visibility: isAnonymous ? 'public' : visibilityOf(project),
    topics: project.topics ?? [],
    ...(branch ? { defaultBranch: branch } : {}),
    // The last activity of any kind, and once an hour at most: it may say too early that there is something new.
    ...given({ pushedAt }),
  };
}

/**
 * Of the code: a public project may keep its repository for members. GitLab leaves the default branch out of what it says to
 * somebody who may not read the code.
 */
function visibilityOf(project: Project): HostRepo['visibility'] {
  if (project.repository_access_level === 'private') return 'private';
  if (project.default_branch === undefined) return 'private';
  const { visibility } = project;
  return visibility === 'public' || visibility === 'internal' || visibility === 'private'
    ? visibility
    : 'unknown';
}
