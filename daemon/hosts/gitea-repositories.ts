// Repositories as Gitea and Forgejo describe them, and their conversion to ours.

import { omitUndefined } from '../base/omit-undefined.ts';
import { z } from 'zod';
import { idAndAddresses, isoTime, hostText } from './answers.ts';
import type { HostRepo } from './host.ts';
import { ownerNameSchema } from './owner-name.ts';

const image = hostText.optional();

export const repositorySchema = z.object({
  id: z.int().positive(),
  full_name: ownerNameSchema,
  private: z.boolean(),
  /** Not private, but owned by an organization that only its members see. */
  internal: z.boolean().optional(),
  fork: z.boolean(),
  archived: z.boolean().default(false),
  /** Without commits; it names a default branch nevertheless. */
  empty: z.boolean().default(false),
  /** KiB. */
  size: z.number().nonnegative().optional(),
  default_branch: hostText.optional(),
  topics: z.array(hostText).max(1_000).nullish(),
  updated_at: z.string().optional(),
  avatar_url: image,
  owner: z.object({ visibility: z.string().optional(), avatar_url: image }).nullish(),
});
export type GiteaRepository = z.output<typeof repositorySchema>;

/** @param url  of the connection; Gitea's own addresses are whatever its operator configured */
export function repoOfGitea(repository: GiteaRepository, url: string): HostRepo {
  const path = repository.full_name;
  const { size, empty: isEmpty, default_branch: branch } = repository;
  const images = [repository.avatar_url, repository.owner?.avatar_url];
  const imageUrl = images.find((image) => /^https?:\/\//.test(image ?? ''));
  // Changed by pushes, but also by edits of the repository's settings.
  const pushedAt = isoTime(repository.updated_at);
  return {
    ...idAndAddresses(repository.id, path, url),
    ...omitUndefined({ imageUrl }),
    isFork: repository.fork,
    isArchived: repository.archived,
    visibility: visibilityOf(repository),
    topics: repository.topics ?? [],
    ...(size === undefined ? {} : { size: size * 1024 }),
    ...(branch && !isEmpty ? { defaultBranch: branch } : {}),
    ...omitUndefined({ pushedAt }),
  };
}

/**
 * An owner may be visible only to members, or only to signed-in users: this also limits repositories that are not private.
 */
function visibilityOf(repository: GiteaRepository): HostRepo['visibility'] {
  const owner = repository.owner?.visibility ?? 'public';
  if (repository.private || repository.internal === true || owner === 'private') return 'private';
  if (owner !== 'public' && owner !== 'limited') return 'unknown';
  return owner === 'public' ? 'public' : 'internal';
}
