// Repositories as GitHub describes them, and their conversion to ours.

import { omitUndefined } from '../base/omit-undefined.ts';
import { z } from 'zod';
import { idAndAddresses, isoTime, hostText } from './answers.ts';
import type { HostRepo } from './host.ts';
import { ownerNameSchema } from './owner-name.ts';

export const repositorySchema = z.object({
  id: z.int().positive(),
  full_name: ownerNameSchema,
  fork: z.boolean(),
  // Older servers lack the following ones.
  private: z.boolean(),
  visibility: z.string().optional(),
  archived: z.boolean().default(false),
  topics: z.array(hostText).max(1_000).default([]),
  /** KiB. */
  size: z.number().nonnegative().optional(),
  default_branch: hostText.nullish(),
  pushed_at: z.string().nullish(),
  owner: z.object({ avatar_url: hostText.nullish() }).nullish(),
});
export type GithubRepository = z.output<typeof repositorySchema>;

/** @param url  of the connection; GitHub's own addresses may lead elsewhere */
export function repoOfGithub(repository: GithubRepository, url: string): HostRepo {
  const path = repository.full_name;
  const image = repository.owner?.avatar_url ?? '';
  const pushedAt = isoTime(repository.pushed_at);
  return {
    ...idAndAddresses(repository.id, path, url),
    ...(/^https?:\/\//.test(image) ? { imageUrl: image } : {}),
    isFork: repository.fork,
    isArchived: repository.archived,
    visibility: visibilityOf(repository),
    topics: repository.topics,
    ...(repository.size === undefined ? {} : { size: repository.size * 1024 }),
    ...(repository.default_branch ? { defaultBranch: repository.default_branch } : {}),
    ...omitUndefined({ pushedAt }),
  };
}

/** Servers before 3.0 only report private or not; private ones may be internal. */
function visibilityOf(repository: GithubRepository): HostRepo['visibility'] {
  const { visibility = 'public' } = repository;
  if (visibility === 'internal') return 'internal';
  if (visibility === 'private' || repository.private) return 'private';
  return visibility === 'public' ? 'public' : 'unknown';
}
