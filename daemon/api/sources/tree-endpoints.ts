// POST /api/tree: the root of a repository at a revision, and the children of some folders. Order of the checks: repo,
// path syntax, ref syntax, ref resolves.

import { z } from 'zod';
import { folderPathOf } from '../../sources/git/names.ts';
import { type Folders, withFoldersAbove } from '../../sources/git/tree-paths.ts';
import { endpoint } from '../shapes/endpoint.ts';
import { ApiError } from '../shapes/api-error.ts';
import { treeJson } from './folder-json.ts';
import { findRepo, folderItemFields, GIT_READ, readFolders, revisionFields } from './git-calls.ts';

const PATHS_MAX = 1000;
/** Bound: a thousand paths of 20 folders; each folder is checked and its path kept. */
const FOLDERS_MAX = 20_000;
/** Bound: an answer of about 20 MB. */
const NODES_MAX = 200_000;

const treeBody = z.object({
  ...revisionFields,
  paths: z
    .array(z.string(), { error: 'expected an array of strings' })
    .max(PATHS_MAX, { error: `expected at most ${PATHS_MAX} paths` })
    .meta({ description: 'Folders to open; empty or `/` for the root. Unknown ones are ignored.' }),
});

const treeNode: z.ZodType = z
  .object({
    ...folderItemFields,
    children: z
      .lazy(() => z.array(treeNode))
      .meta({ description: 'Empty unless the folder is open.' }),
  })
  .meta({ id: 'TreeNode', description: 'A folder, file or submodule in a tree.' });

/** Errors: INVALID_REQUEST_BODY if the paths contain too many folders. Cost: counts without splitting. */
function checkFolderCount(folderPaths: readonly string[]): void {
  let count = 0;
  for (const path of folderPaths)
    for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) count++;
  if (count <= FOLDERS_MAX) return;
  throw new ApiError(
    'INVALID_REQUEST_BODY',
    `paths: they contain ${count} folders, limit ${FOLDERS_MAX}`,
  );
}

/**
 * The folders to show: requested ones that exist, and their parents.
 * Errors: INVALID_REQUEST_BODY if they have too many entries.
 */
function openFolders(folders: Folders, folderPaths: readonly string[]): ReadonlySet<string> {
  const open = withFoldersAbove(folderPaths.filter((path) => folders.has(path)));
  let nodeCount = 0;
  for (const path of open) nodeCount += folders.get(path)?.length ?? 0;
  if (nodeCount <= NODES_MAX) return open;
  throw new ApiError(
    'INVALID_REQUEST_BODY',
    `paths: these folders have ${nodeCount} entries, limit ${NODES_MAX}`,
  );
}

export const getTree = endpoint(
  {
    ...GIT_READ,
    operationId: 'getFileTree',
    method: 'POST',
    path: '/api/tree',
    summary: 'Files and folders of a repository',
    input: { body: treeBody },
    responses: {
      200: {
        description:
          'The root with its children, and those of the requested folders and all their parents. Children: folders first, then by name.',
        body: z.object({ tree: treeNode }),
      },
    },
  },
  async ({ body }, context) => {
    const repo = findRepo(body.repoName, context);
    const folderPaths = body.paths.map(folderPathOf);
    checkFolderCount(folderPaths);
    const { folders, signal } = await readFolders(repo, body.revisionName, folderPaths, context);
    const { clientKey } = context;
    const tree = await treeJson(folders, openFolders(folders, folderPaths), { signal, clientKey });
    return { status: 200, content: { json: Buffer.from(`{"tree":${tree}}`) } };
  },
);
