// Finds a file and reads its content. Order of the checks: repo, path syntax, ref syntax, then those of the reader.

import { z } from 'zod';
import type { RepoRecord } from '../../repos/records.ts';
import { checkPath, checkRef } from '../../sources/git/names.ts';
import type { CallContext } from '../shapes/endpoint.ts';
import { requiredText } from '../shapes/input.ts';
import { text } from '../shapes/schemas.ts';
import { findRepo, gitSignal } from './git-calls.ts';

export const repoField = requiredText().describe('Name of the repository.');
const REF = 'Branch, tag or commit; default: the default branch. Empty counts as absent.';
export const refField = text(REF).optional();

export const fileFields = {
  path: requiredText().describe('Path from the root of the repository.'),
  repo: repoField,
  ref: refField,
};

export type FileRequest = z.output<z.ZodObject<typeof fileFields>>;

export interface ReadFile {
  readonly repo: RepoRecord;
  /** Undefined: the default revision. */
  readonly ref: string | undefined;
  readonly content: Awaited<ReturnType<CallContext['services']['source']['read']>>;
}

/**
 * `isStored`: the stored bytes; default: UTF-16 is converted to UTF-8. Errors: NOT_FOUND, FILE_NOT_FOUND,
 * INVALID_GIT_REF; those of the reader.
 */
export async function readFile(
  request: FileRequest,
  context: CallContext,
  isStored = false,
): Promise<ReadFile> {
  const { services, settings, clientKey, memory } = context;
  // An empty optional ref counts as absent, unlike any other empty value.
  const ref = request.ref === '' ? undefined : request.ref;
  const repo = findRepo(request.repo, context);
  checkPath(request.path);
  if (ref !== undefined) checkRef(ref);
  const content = await services.source.read(repo, request.path, ref, {
    sizeMax: settings.maxSourceBytes,
    isStored,
    clientKey,
    memory,
    signal: gitSignal(context),
  });
  return { repo, ref, content };
}

export function noteFile({ accounts, actor }: CallContext, repo: RepoRecord, path: string): void {
  accounts.auditLog.note(actor, 'user.fetched_file_source', {
    id: `${repo.name}/${path}`,
    type: 'file',
  });
}
