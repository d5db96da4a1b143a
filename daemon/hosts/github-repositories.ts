// Repositories as GitHub describes them, and as we do.

import { z } from 'zod';
import { isoTime, withoutSlash } from './answers.ts';
import type { HostRepo } from './host.ts';
import type { Listed } from './targets.ts';

export const repositorySchema = z.object({
  id: z.int().positive(),
  // It becomes a part of names and addresses.
  full_name: z.string().regex(/^[\w.-]+\/(?!\.{1,2}$)[\w.-]+$/),
  fork: z.boolean(),
  // Those that follow came with versions of the server.
  private: z.boolean(),
  visibility: z.string().optional(),
  archived: z.boolean().default(false),
  topics: z.array(z.string()).default([]),
  /** KiB. */
  size: z.number().nonnegative().optional(),
  default_branch: z.string().nullish(),
  pushed_at: z.string().nullish(),
  owner: z.object({ avatar_url: z.string().nullish() }).nullish(),
});
export type GithubRepository = z.output<typeof repositorySchema>;

/**
 * @param url  of the connection; what GitHub names itself may lead elsewhere
 * @param isKept  whether the connection keeps it
 */
export function listedRepository(
  repository: GithubRepository,
  url: string,
  isKept: (repo: HostRepo) => boolean,
): Listed {
  const repo = hostRepoOf(repository, withoutSlash(url));
  return { hostId: repo.hostId, repo: isKept(repo) ? repo : undefined };
}

function hostRepoOf(repository: GithubRepository, url: string): HostRepo {
  const path = repository.full_name;
  const page = `${url}/${path}`;
  const image = repository.owner?.avatar_url ?? '';
  const pushedAt = isoTime(repository.pushed_at);
  return {
    hostId: String(repository.id),
    path,
    displayName: path,
    cloneUrl: `${page}.git`,
    webUrl: page,
    ...(/^https?:\/\//.test(image) ? { imageUrl: image } : {}),
    isFork: repository.fork,
    isArchived: repository.archived,
    visibility: visibilityOf(repository),
    topics: repository.topics,
    ...(repository.size === undefined ? {} : { size: repository.size * 1024 }),
    ...(repository.default_branch ? { defaultBranch: repository.default_branch } : {}),
    ...(pushedAt === undefined ? {} : { pushedAt }),
  };
}

/** Servers before 3.0 say only whether it is private; what they call so may be internal. */
function visibilityOf(repository: GithubRepository): HostRepo['visibility'] {
  const { visibility } = repository;
  if (visibility === undefined) return repository.private ? 'private' : 'public';
  if (visibility === 'public') return repository.private ? 'private' : 'public';
  return visibility === 'internal' || visibility === 'private' ? visibility : 'unknown';
}
