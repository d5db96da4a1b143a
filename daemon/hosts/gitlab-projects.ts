// Projects as GitLab describes them, and their conversion to repositories.

import { omitUndefined } from '../base/omit-undefined.ts';
import { z } from 'zod';
import type { SettingsOf } from '../base/config/connections.ts';
import { idAndAddresses, isoTime, hostText } from './answers.ts';
import type { HostRepo } from './host.ts';
import { selectionFilter } from './select.ts';
import type { Listed } from './targets.ts';

/** The used fields of a project. Without a token GitLab sends only those before `namespace`. */
export const projectSchema = z.object({
  id: z.int().positive(),
  path_with_namespace: z.string().min(1),
  default_branch: hostText.nullish(),
  topics: z.array(hostText).max(1_000).nullish(),
  avatar_url: hostText.nullish(),
  last_activity_at: z.string().nullish(),
  namespace: z.object({ kind: z.string() }).nullish(),
  visibility: z.string().optional(),
  archived: z.boolean().optional(),
  forked_from_project: z.unknown().optional(),
  repository_access_level: z.string().nullish(),
});
export type Project = z.output<typeof projectSchema>;

type Settings = SettingsOf<'gitlab'>;

/** Converts listed projects to repositories, without those excluded by the connection. */
export function projectReader(
  settings: Settings,
): (project: Project, isAnonymous: boolean) => Listed {
  const { topics, exclude } = settings;
  const isKept = selectionFilter({ topics, exclude: { ...exclude, paths: exclude.projects } });
  return (project, isAnonymous) => {
    const repo = repoOfGitLab(project, settings, isAnonymous);
    const isPersonal = exclude.userOwnedProjects && project.namespace?.kind === 'user';
    // A project may have only issues or packages.
    const hasCode = project.repository_access_level !== 'disabled';
    const isListed = hasCode && !isPersonal && isKept(repo);
    return { hostId: repo.hostId, repo: isListed ? repo : undefined };
  };
}

/** @param isAnonymous  requested without a token, so everything listed is public */
export function repoOfGitLab(project: Project, settings: Settings, isAnonymous: boolean): HostRepo {
  const { path_with_namespace: path, default_branch: branch } = project;
  const image = project.avatar_url ?? '';
  const pushedAt = isoTime(project.last_activity_at);
  return {
    // Not GitLab's own address, which may differ.
    ...idAndAddresses(project.id, path, settings.url, settings.webUrl),
    ...(/^https?:\/\//.test(image) ? { imageUrl: image } : {}),
    isFork: project.forked_from_project !== undefined && project.forked_from_project !== null,
    isArchived: project.archived === true,
    visibility: isAnonymous ? 'public' : visibilityOf(project),
    topics: project.topics ?? [],
    ...(branch ? { defaultBranch: branch } : {}),
    // The last activity of any kind, updated once an hour at most: it may report news too early.
    ...omitUndefined({ pushedAt }),
  };
}

/**
 * Of the code: a public project may restrict its repository to members. GitLab omits the default branch for callers who may
 * not read the code.
 */
function visibilityOf(project: Project): HostRepo['visibility'] {
  if (project.repository_access_level === 'private') return 'private';
  if (project.default_branch === undefined) return 'private';
  const { visibility } = project;
  return visibility === 'public' || visibility === 'internal' || visibility === 'private'
    ? visibility
    : 'unknown';
}
