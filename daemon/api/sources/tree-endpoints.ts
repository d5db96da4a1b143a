// POST /api/files and /api/tree, GET /api/folder_contents. Order of the checks: repo, path syntax, ref syntax, ref
// resolves.

import { z } from 'zod';
import { nextTimeSlice } from '../../base/next-time-slice.ts';
import { baseNameOf } from '../../base/paths.ts';
import { checkRef, folderPathOf } from '../../sources/git/names.ts';
import { type Folders, withFoldersAbove } from '../../sources/git/tree-paths.ts';
import { ApiError } from '../shapes/api-error.ts';
import { endpoint } from '../shapes/endpoint.ts';
import { requiredText } from '../shapes/input.ts';
import { folderJson, treeJson } from './folder-json.ts';
import {
  findRepo,
  folderItemFields,
  GIT_READ,
  gitSignal,
  readFolders,
  revisionFields,
} from './git-calls.ts';

const repositoryFile = z
  .object({
    ...folderItemFields,
    type: z.literal('blob').describe('A file or a symbolic link.'),
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
    .describe('Folders to open; empty or `/` for the root. Unknown ones are ignored.'),
});

const treeNode: z.ZodType = z
  .object({
    ...folderItemFields,
    children: z.lazy(() => z.array(treeNode)).describe('Empty unless the folder is open.'),
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

/** Requested folders that exist, and their parents. Errors: INVALID_REQUEST_BODY if they have too many entries. */
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

const folderQuery = z.object({
  ...revisionFields,
  path: requiredText().describe('Path of the folder; empty or `/` for the root.'),
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
