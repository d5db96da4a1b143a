// What the endpoints about history have in common: their parameters, and how the repo that they name is found.

import { z } from 'zod';
import type { RepoRecord } from '../repos/records.ts';
import type { CallContext } from './endpoint.ts';
import { ApiError } from './errors.ts';
import { checkPath, checkRef } from './git-names.ts';
import { requiredText } from './input.ts';

export const repoField = requiredText().meta({ description: 'Name of the repository.' });

export const refField = z.string().optional().meta({
  description: 'Branch, tag or commit; default: the default branch. Empty counts as absent.',
});

export const pathField = z.string().optional().meta({
  description: 'Only this file, or what lies below this folder.',
});

/** Codes that all of these endpoints may answer. */
export const HISTORY_ERRORS = [
  'NOT_FOUND',
  'FILE_NOT_FOUND',
  'INVALID_GIT_REF',
  'SERVER_OVERLOADED',
] as const;

/** The ref of an optional parameter. Why: an empty optional ref counts as absent, unlike any other empty value. */
export function refOf(ref: string | undefined): string | undefined {
  if (ref === undefined || ref === '') return undefined;
  checkRef(ref);
  return ref;
}

/** The path of an optional parameter; the empty one is that of everything. Errors: FILE_NOT_FOUND. */
export function scopeOf(path: string | undefined): string | undefined {
  if (path === undefined || path === '') return undefined;
  checkPath(path);
  return path;
}

/** Errors: NOT_FOUND. */
export function findRepo(name: string, { services, sight }: CallContext): RepoRecord {
  const repo = services.repos.byName(name, sight);
  if (repo === undefined) throw new ApiError('NOT_FOUND', `Repository "${name}" not found.`);
  return repo;
}

/** Aborted when the client goes away or the deadline for git has passed. */
export function gitSignal({ signal, settings }: CallContext): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(settings.gitTimeoutMs)]);
}
