// What the endpoints that give a file, or a place in it, have in common: which file is asked for, and its content. Order of
// the checks: repo, path syntax, ref syntax, then what the reader finds.

import { z } from 'zod';
import type { RepoRecord } from '../../repos/records.ts';
import { checkPath, checkRef } from '../../sources/git/names.ts';
import type { CallContext } from '../shapes/endpoint.ts';
import { requiredText } from '../shapes/input.ts';
import { findRepo, type GitTime, gitSignal, type RepoView, type Trail } from './git-calls.ts';

/** Parameters that name a file. */
export const fileFields = {
  path: requiredText().meta({ description: 'Path from the root of the repository.' }),
  repo: requiredText().meta({ description: 'Name of the repository.' }),
  ref: z.string().optional().meta({
    description: 'Branch, tag or commit; default: the default branch. Empty counts as absent.',
  }),
};

/** A file as callers name it. */
export interface AskedFile {
  readonly repo: string;
  readonly path: string;
  readonly ref?: string | undefined;
}

interface FileSource {
  readonly services: Pick<CallContext['services'], 'source'>;
}

/** What `readFile` found. */
export interface ReadFile {
  readonly repo: RepoRecord;
  /** Undefined: the default revision. */
  readonly ref: string | undefined;
  readonly content: Awaited<ReturnType<CallContext['services']['source']['read']>>;
}

/**
 * The content of a file.
 *
 * @param isStored  the bytes as they are stored; default: text in UTF-16 is UTF-8
 *
 * Errors: NOT_FOUND, FILE_NOT_FOUND, INVALID_GIT_REF; those of the reader.
 */
export async function readFile(
  asked: AskedFile,
  context: RepoView & GitTime & Pick<CallContext, 'settings' | 'holder' | 'memory'> & FileSource,
  isStored = false,
): Promise<ReadFile> {
  const { services, settings, holder, memory } = context;
  // Why: an empty optional ref counts as absent, unlike any other empty value.
  const ref = asked.ref === '' ? undefined : asked.ref;
  const repo = findRepo(asked.repo, context);
  checkPath(asked.path);
  if (ref !== undefined) checkRef(ref);
  const content = await services.source.read(repo, asked.path, ref, {
    sizeMax: settings.maxSourceBytes,
    isStored,
    holder,
    memory,
    signal: gitSignal(context),
  });
  return { repo, ref, content };
}

/** Keeps a record of a file that was given. */
export function noteFile({ accounts, actor }: Trail, repo: RepoRecord, path: string): void {
  accounts.trail.note(actor, 'user.fetched_file_source', {
    id: `${repo.name}/${path}`,
    type: 'file',
  });
}
