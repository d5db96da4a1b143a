// Parameters that the history endpoints share.

import { z } from 'zod';
import { checkPath, checkRef } from '../../sources/git/names.ts';
import type { CallContext } from '../shapes/endpoint.ts';
import { requiredText } from '../shapes/input.ts';
import { text } from '../shapes/schemas.ts';
import type { GitTime, RepoView } from '../sources/git-calls.ts';

export const repoField = requiredText().describe('Name of the repository.');

export const refField = z
  .string()
  .optional()
  .describe('Branch, tag or commit; default: the default branch. Empty counts as absent.');

export const pathField = text('Only this file, or files below this folder.').optional();

export interface HistoryContext extends RepoView, GitTime, Pick<CallContext, 'clientKey'> {
  readonly services: Pick<CallContext['services'], 'repos' | 'history'>;
}

/** An empty optional ref counts as absent, unlike any other empty value. */
export function refOf(ref: string | undefined): string | undefined {
  if (ref === undefined || ref === '') return undefined;
  checkRef(ref);
  return ref;
}

/** An optional path; the empty path means everything. Errors: FILE_NOT_FOUND. */
export function scopeOf(path: string | undefined): string | undefined {
  if (path === undefined || path === '') return undefined;
  checkPath(path);
  return path;
}
