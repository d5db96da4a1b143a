// POST /api/files: all files of a repository at a revision. Order of the checks: repo, ref syntax, ref resolves.

import { z } from 'zod';
import { checkRef } from '../../sources/git/names.ts';
import { nextTimeSlice } from '../../base/next-time-slice.ts';
import { baseNameOf } from '../../base/paths.ts';
import { endpoint } from '../shapes/endpoint.ts';
import { GIT_READ, findRepo, folderItemFields, gitSignal, revisionFields } from './git-calls.ts';

const repositoryFile = z
  .object({
    ...folderItemFields,
    type: z.literal('blob').meta({ description: 'A file or a symbolic link.' }),
  })
  .meta({ id: 'RepositoryFile', description: 'A file of a repository.' });

/** Files written between two turns: about a millisecond. */
const ITEMS_PER_TIME_SLICE = 2000;

/** Rendered answers by file list, which is the same object for the same tree. */
const rendered = new WeakMap<readonly string[], Promise<Buffer>>();

async function render(paths: readonly string[], clientKey: string): Promise<Buffer> {
  const parts: string[] = [];
  for (let start = 0; start < paths.length; start += ITEMS_PER_TIME_SLICE) {
    const items = paths
      .slice(start, start + ITEMS_PER_TIME_SLICE)
      .map((path) => JSON.stringify({ type: 'blob', path, name: baseNameOf(path) }));
    parts.push(items.join(','));
    await nextTimeSlice(clientKey);
  }
  return Buffer.from(`[${parts.join(',')}]`);
}

function renderOnce(paths: readonly string[], clientKey: string): Promise<Buffer> {
  const cached = rendered.get(paths) ?? render(paths, clientKey);
  rendered.set(paths, cached);
  return cached;
}

export const getFiles = endpoint(
  {
    ...GIT_READ,
    operationId: 'listFiles',
    method: 'POST',
    path: '/api/files',
    summary: 'All files of a repository',
    input: { body: z.object(revisionFields) },
    responses: {
      200: {
        description: 'The files at that revision, by the bytes of their paths.',
        body: z.array(repositoryFile),
      },
    },
    errors: ['NOT_FOUND', 'INVALID_GIT_REF', 'SERVER_OVERLOADED'],
  },
  async ({ body }, context) => {
    const { services, accounts, actor } = context;
    const repo = findRepo(body.repoName, context);
    checkRef(body.revisionName);
    const paths = await services.trees.files(repo, body.revisionName, gitSignal(context));
    accounts.auditLog.noteRepeated(actor, 'user.fetched_file_tree', {
      id: repo.name,
      type: 'repo',
    });
    return { status: 200, content: { json: await renderOnce(paths, context.clientKey) } };
  },
);
