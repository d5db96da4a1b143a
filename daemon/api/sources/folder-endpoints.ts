// GET /api/folder_contents: the children of one folder at a revision. Order of the checks: repo, path syntax, ref
// syntax, ref resolves.

import { z } from 'zod';
import { folderPathOf } from '../../sources/git/names.ts';
import { endpoint } from '../shapes/endpoint.ts';
import { folderJson } from './folder-json.ts';
import { findRepo, folderItemFields, GIT_READ, readFolders, revisionFields } from './git-calls.ts';
import { requiredText } from '../shapes/input.ts';

const folderQuery = z.object({
  ...revisionFields,
  path: requiredText().meta({ description: 'Path of the folder; empty or `/` for the root.' }),
});

const folderItem = z
  .object(folderItemFields)
  .meta({ id: 'FolderItem', description: 'A child of a folder.' });

export const getFolderContents = endpoint(
  {
    ...GIT_READ,
    operationId: 'getFolderContents',
    method: 'GET',
    path: '/api/folder_contents',
    summary: 'Contents of a folder',
    input: { query: folderQuery },
    responses: {
      200: {
        description:
          'The children, folders first, then by name. None if there is no such folder at that revision.',
        body: z.array(folderItem),
      },
    },
  },
  async ({ query }, context) => {
    const repo = findRepo(query.repoName, context);
    const path = folderPathOf(query.path);
    const { folders } = await readFolders(repo, query.revisionName, [path], context);
    const json = await folderJson(path, folders.get(path) ?? [], context.clientKey);
    return { status: 200, content: { json: Buffer.from(json) } };
  },
);
