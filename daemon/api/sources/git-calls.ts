// What the endpoints that read repositories have in common: the repo that was asked for, the time that git has, and
// the schemas of names and folders.

import { z } from 'zod';
import { limitedSignal } from '../../base/time-limit.ts';
import type { RepoRecord } from '../../repos/records.ts';
import { checkRef } from '../../sources/git/names.ts';
import { type Folders, withFoldersAbove } from '../../sources/git/tree-paths.ts';
import { isSeen } from '../../repos/sight.ts';
import type { CallContext } from '../shapes/endpoint.ts';
import { ApiError } from '../shapes/api-error.ts';
import { text } from '../shapes/schemas.ts';

/** Codes that all endpoints may answer which read something of a repository at a revision. */
export const READ_ERRORS = [
  'NOT_FOUND',
  'FILE_NOT_FOUND',
  'INVALID_GIT_REF',
  'SERVER_OVERLOADED',
] as const;

/** What endpoints that read something of a repository at a revision have in common. */
export const GIT_READ = {
  access: 'opt',
  tag: 'Git',
  isCounted: true,
  errors: READ_ERRORS,
} as const;

/** The repos that a caller sees. */
export interface RepoView {
  readonly services: Pick<CallContext['services'], 'repos'>;
  readonly sight: CallContext['sight'];
}

/** Where records of what a caller does are kept. */
export interface Trail extends Pick<CallContext, 'actor'> {
  readonly accounts: {
    readonly trail: Pick<CallContext['accounts']['trail'], 'note' | 'noteRepeated'>;
  };
}

/** The repo of this name. Errors: NOT_FOUND if there is none or the caller does not see it. */
export function findRepo(name: string, { services, sight }: RepoView): RepoRecord {
  const repo = services.repos.byName(name, sight);
  if (repo === undefined) throw new ApiError('NOT_FOUND', `Repository "${name}" not found.`);
  return repo;
}

/** The repo of this id. Errors: as `findRepo`. */
export function findRepoById(repoId: number, { services, sight }: RepoView): RepoRecord {
  const repo = isSeen(sight, repoId) ? services.repos.byId(repoId) : undefined;
  if (repo === undefined) throw new ApiError('NOT_FOUND', `Repository ${repoId} not found.`);
  return repo;
}

/** Aborted when the client goes away or the time that git has is over. */
export function gitSignal({ signal, settings }: GitTime): AbortSignal {
  return limitedSignal(signal, settings.gitTimeoutMs, 'The time that git has is over.');
}

export interface GitTime {
  readonly signal: AbortSignal;
  readonly settings: { readonly gitTimeoutMs: number };
}

interface FolderContext extends GitTime, Trail, Pick<CallContext, 'holder'> {
  readonly services: Pick<CallContext['services'], 'trees'>;
}

/**
 * Folders and those above them at a revision, of which a record is kept, and the signal of `gitSignal` that held.
 *
 * Errors: INVALID_GIT_REF; those of `trees.folders`.
 */
export async function readFolders(
  repo: RepoRecord,
  revisionName: string,
  asked: readonly string[],
  context: FolderContext,
): Promise<{ readonly folders: Folders; readonly signal: AbortSignal }> {
  const { services, accounts, actor, holder } = context;
  checkRef(revisionName);
  const wanted = withFoldersAbove(asked);
  const signal = gitSignal(context);
  const folders = await services.trees.folders(repo, revisionName, wanted, signal, holder);
  accounts.trail.noteRepeated(actor, 'user.fetched_file_tree', { id: repo.name, type: 'repo' });
  return { folders, signal };
}

/** Fields of a body or query that asks for a repository at a revision. */
export const revisionFields = {
  repoName: z.string({ error: 'required' }).meta({ description: 'Name of the repository.' }),
  revisionName: z
    .string({ error: 'required' })
    .meta({ description: 'Branch, tag, commit or any revision that git can resolve.' }),
};

/** Fields of a folder's child in an answer. */
export const folderItemFields = {
  type: z
    .enum(['tree', 'blob', 'commit'])
    .meta({ description: 'Folder, file or symbolic link, or submodule.' }),
  path: text('Path from the root of the repository.'),
  name: text('Last segment of the path.'),
};
