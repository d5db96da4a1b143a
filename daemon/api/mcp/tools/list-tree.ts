// The tool `list_tree`: folders and files below a folder, as an indented list.

import { z } from 'zod';
import type { RepoRecord } from '../../../repos/records.ts';
import { folderOf } from '../../../base/paths.ts';
import { folderPathOf } from '../../../sources/git/names.ts';
import type { FolderChild, Folders } from '../../../sources/git/tree-paths.ts';
import { ApiError } from '../../shapes/api-error.ts';
import { jsonInteger } from '../../shapes/input.ts';
import { readFolders } from '../../sources/git-calls.ts';
import { BoundedText, displayName } from './bounded-text.ts';
import { aboveMost, requestedRepo, pathField, repoField } from './tool-arguments.ts';
import { tool, type ToolContext } from './tool.ts';

const DEPTH_MAX = 10;
const ENTRIES_MAX = 10_000;

const input = z.strictObject({
  repo: repoField,
  path: pathField('Folder; "" is the root.').default(''),
  ref: z.string().default('HEAD').describe('Branch, tag or commit.'),
  depth: jsonInteger(1).default(1).describe(`Levels, at most ${DEPTH_MAX}.`),
  includeFiles: z.boolean().default(true),
  includeDirectories: z.boolean().default(true),
  maxEntries: jsonInteger(1)
    .default(1000)
    .describe(`Maximum number of entries, up to ${ENTRIES_MAX}.`),
});

type TreeArguments = z.output<typeof input>;

export const listTree = tool(
  {
    name: 'list_tree',
    description: 'List folders and files of a repository below a folder.',
    input,
  },
  async (args, context) => {
    const repo = requestedRepo(args.repo, context);
    const root = folderPathOf(args.path);
    const most = Math.min(args.maxEntries, ENTRIES_MAX);
    const { folders, isCut } = await openLevels(repo, args, root, most, context);
    if (!folders.has(root)) throw await noFolder(repo, args.ref, root, context);
    const lines = linesBelow(root, folders, args);
    const text = new BoundedText();
    text.add(`[${repo.name}] ${displayName(root)}/`, ...(lines.length === 0 ? ['(empty)'] : []));
    const visible = lines.slice(0, most);
    const unfit = visible.findIndex((line) => !text.add(line));
    const notes = aboveMost({
      depth: [args.depth, DEPTH_MAX],
      maxEntries: [args.maxEntries, ENTRIES_MAX],
    });
    for (const note of notes) text.end(note);
    const larger = most < ENTRIES_MAX ? `, or set maxEntries up to ${ENTRIES_MAX}` : '';
    if (unfit !== -1)
      text.end(`(cut: the text is full after ${unfit} entries; list a folder below)`);
    else if (isCut || lines.length > most)
      text.end(`(cut at ${visible.length} entries; list a folder below${larger})`);
    return text.toString();
  },
);

/** Why a folder was not found. An indexed submodule is a repository named after the outer one and its path. */
async function noFolder(
  repo: RepoRecord,
  ref: string,
  path: string,
  context: ToolContext,
): Promise<ApiError> {
  const above = folderOf(path);
  const { folders } = await readFolders(repo, ref, [above], context);
  const item = folders.get(above)?.find(({ name }) => below(above, name) === path);
  if (item?.type !== 'commit') return new ApiError('FILE_NOT_FOUND', `Folder "${path}" not found.`);
  const inner = context.services.repos.byName(`${repo.name}/${path}`, context.repoAccess);
  const where =
    inner === undefined
      ? 'which is not indexed as a part of this repository'
      : `call again with repo ${inner.name}`;
  return new ApiError('FILE_NOT_FOUND', `"${path}" is a submodule, ${where}.`);
}

/** Folders to expand, level by level, until there are enough entries. */
async function openLevels(
  repo: RepoRecord,
  { ref, depth, includeDirectories }: TreeArguments,
  root: string,
  most: number,
  context: ToolContext,
): Promise<{ readonly folders: Folders; readonly isCut: boolean }> {
  const open = [root];
  let folders: Folders = new Map();
  let level = [root];
  for (let remaining = Math.min(depth, DEPTH_MAX); remaining > 0 && level.length > 0; remaining--) {
    ({ folders } = await readFolders(repo, ref, open, context));
    const found = folders;
    level = level.flatMap((folder) => foldersIn(folder, found.get(folder) ?? []));
    if (remaining > 1 && countBelow(open, folders, includeDirectories) > most)
      return { folders: pick(folders, open), isCut: level.length > 0 };
    if (remaining > 1) open.push(...level);
  }
  return { folders: pick(folders, open), isCut: false };
}

function foldersIn(folder: string, children: readonly FolderChild[]): string[] {
  return children.filter(({ type }) => type === 'tree').map(({ name }) => below(folder, name));
}

function below(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

function countBelow(open: readonly string[], folders: Folders, withFolders: boolean): number {
  const children = open.flatMap((folder) => folders.get(folder) ?? []);
  return withFolders ? children.length : children.filter(({ type }) => type !== 'tree').length;
}

/** Only the deepest folders: the reader adds their parents. */
function pick(folders: Folders, open: readonly string[]): Folders {
  return new Map(
    open.flatMap((folder) => {
      const children = folders.get(folder);
      return children === undefined ? [] : [[folder, children] as const];
    }),
  );
}

const ENDINGS = { blob: '', tree: '/', commit: '/ (submodule)' } as const;

function linesBelow(
  root: string,
  folders: Folders,
  { includeFiles, includeDirectories }: TreeArguments,
): string[] {
  const lines: string[] = [];
  const walk = (folder: string, indent: string): void => {
    for (const { name, type } of folders.get(folder) ?? []) {
      const isFolder = type !== 'blob';
      if (isFolder ? includeDirectories : includeFiles)
        lines.push(
          `${indent}${displayName(includeDirectories ? name : below(folder, name))}${ENDINGS[type]}`,
        );
      if (type === 'tree') walk(below(folder, name), includeDirectories ? `${indent}  ` : indent);
    }
  };
  walk(root, '  ');
  return lines;
}
