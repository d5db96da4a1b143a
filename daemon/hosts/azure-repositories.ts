// Repositories as Azure DevOps describes them through its library, and their conversion to ours.

import { omitUndefined } from '../base/omit-undefined.ts';
import { z } from 'zod';
import type { HostRepo } from './host.ts';
import { listedAs } from './select.ts';
import type { Listed } from './targets.ts';

export const repositorySchema = z.object({
  id: z.string().min(1),
  name: z.string().min(1),
  project: z.object({
    name: z.string().min(1),
    /** A value of the enumeration `ProjectVisibility`. */
    visibility: z.number().optional(),
  }),
  /** Full name of a ref; absent: it is empty. */
  defaultBranch: z.string().optional(),
  isDisabled: z.boolean().optional(),
  isFork: z.boolean().optional(),
  size: z.number().nonnegative().optional(),
});
type Repository = z.output<typeof repositorySchema>;

/** `Public` of `ProjectVisibility`. A project visible to all members of an organization counts as private here. */
const PUBLIC = 2;

export interface AzureOrganization {
  readonly org: string;
  /** Of the organization. */
  readonly url: string;
}

export interface ListedOrganization extends AzureOrganization {
  readonly isKept: (repo: HostRepo) => boolean;
}

export function listedRepository(repository: Repository, organization: ListedOrganization): Listed {
  return listedAs(repoOfAzure(repository, organization), organization.isKept);
}

export function repoOfAzure(repository: Repository, { org, url }: AzureOrganization): HostRepo {
  const { id, name, project, size, defaultBranch } = repository;
  const path = [org, project.name, name].join('/');
  // Not the host's address: it contains a user name.
  const page = `${url}/${encodeURIComponent(project.name)}/_git/${encodeURIComponent(name)}`;
  return {
    hostId: id,
    path,
    displayName: path,
    cloneUrl: page,
    webUrl: page,
    isFork: repository.isFork === true,
    // It can be neither read nor written.
    isArchived: repository.isDisabled === true,
    visibility: visibilityOf(project.visibility),
    topics: [],
    ...omitUndefined({ size }),
    ...(defaultBranch === undefined
      ? {}
      : { defaultBranch: defaultBranch.replace(/^refs\/heads\//, '') }),
  };
}

function visibilityOf(visibility: number | undefined): HostRepo['visibility'] {
  if (visibility === undefined) return 'unknown';
  return visibility === PUBLIC ? 'public' : 'private';
}
