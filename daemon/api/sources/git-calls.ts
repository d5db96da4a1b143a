// Shared by endpoints that read repositories: finding the repo, git's time limit, and schemas.

import { signalOf } from '../../base/cancellation.ts';
import { z } from 'zod';
import { limitedSignal } from '../../base/time-limit.ts';
import type { RepoRecord } from '../../repos/records.ts';
import { checkRef } from '../../sources/git/names.ts';
import { type Folders, withFoldersAbove } from '../../sources/git/tree-paths.ts';
import { canSee } from '../../repos/repo-access.ts';
import type { CallContext } from '../shapes/endpoint.ts';
import { ApiError } from '../shapes/api-error.ts';
import { text } from '../shapes/schemas.ts';

export const READ_ERRORS = [
  'NOT_FOUND',
  'FILE_NOT_FOUND',
  'INVALID_GIT_REF',
  'SERVER_OVERLOADED',
] as const;

export const GIT_READ = {
  access: 'opt',
  tag: 'Git',
  isCounted: true,
  errors: READ_ERRORS,
} as const;

/** The repo with this name. Errors: NOT_FOUND if it does not exist or the caller cannot see it. */
export function findRepo(name: string, { services, repoAccess }: CallContext): RepoRecord {
  const repo = services.repos.byName(name, repoAccess);
  if (repo === undefined) throw new ApiError('NOT_FOUND', `Repository "${name}" not found.`);
  return repo;
}

/** Errors: as `findRepo`. */
export function findRepoById(repoId: number, { services, repoAccess }: CallContext): RepoRecord {
  const repo = canSee(repoAccess, repoId) ? services.repos.byId(repoId) : undefined;
  if (repo === undefined) throw new ApiError('NOT_FOUND', `Repository ${repoId} not found.`);
  return repo;
}

/** Aborted when the client goes away or git's time limit is over. */
export function gitSignal({ signal, settings }: CallContext): AbortSignal {
  return limitedSignal(signalOf(signal), settings.gitTimeoutMs, 'The time limit for git is over.');
}

/** With an audit record, and the signal of `gitSignal`. Errors: INVALID_GIT_REF; those of `trees.folders`. */
export async function readFolders(
  repo: RepoRecord,
  revisionName: string,
  folderPaths: readonly string[],
  context: CallContext,
): Promise<{ readonly folders: Folders; readonly signal: AbortSignal }> {
  const { services, accounts, actor, clientKey } = context;
  checkRef(revisionName);
  const requested = withFoldersAbove(folderPaths);
  const signal = gitSignal(context);
  const folders = await services.trees.folders(repo, revisionName, requested, signal, clientKey);
  accounts.auditLog.noteRepeated(actor, 'user.fetched_file_tree', { id: repo.name, type: 'repo' });
  return { folders, signal };
}

export const revisionFields = {
  repoName: z.string({ error: 'required' }).describe('Name of the repository.'),
  revisionName: z
    .string({ error: 'required' })
    .describe('Branch, tag, commit or any revision that git can resolve.'),
};

export const folderItemFields = {
  type: z.enum(['tree', 'blob', 'commit']).describe('Folder, file or symbolic link, or submodule.'),
  path: text('Path from the root of the repository.'),
  name: text('Last segment of the path.'),
};
