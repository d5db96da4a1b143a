// The tool `list_tree`: folders and files below a folder, as an indented list.

import { z } from 'zod';
import { folderPathOf } from '../../../sources/git/names.ts';
import type { FolderChild, Folders } from '../../../sources/git/tree-paths.ts';
import { ApiError } from '../../api/shapes/api-error.ts';
import { jsonInteger } from '../../api/shapes/input.ts';
import { findRepo, readFolders } from '../../api/sources/git-calls.ts';
import { shownName } from './shown-name.ts';
import { tool, type ToolContext } from './tool.ts';

const DEPTH_MAX = 10;
const ENTRIES = 1000;
const ENTRIES_MAX = 10_000;

const input = z.strictObject({
  repo: z.string().meta({ description: 'Name of the repository.' }),
  path: z.string().default('').meta({ description: 'Folder; "" is the root.' }),
  ref: z.string().default('HEAD').meta({ description: 'Branch, tag or commit.' }),
  depth: jsonInteger(1).default(1).meta({ description: 'Levels, at most 10.' }),
  includeFiles: z.boolean().default(true),
  includeDirectories: z.boolean().default(true),
  maxEntries: jsonInteger(1)
    .default(ENTRIES)
    .meta({ description: `Entries at most, up to ${ENTRIES_MAX}.` }),
});

type TreeArguments = z.output<typeof input>;

export const listTree = tool(
  {
    name: 'list_tree',
    description: 'List folders and files of a repository below a folder.',
    input,
  },
  async (args, context) => {
    const repo = findRepo(args.repo, context);
    const root = folderPathOf(args.path).replace(/^\.$/, '');
    const most = Math.min(args.maxEntries, ENTRIES_MAX);
    const { folders, isCut } = await openLevels(args, root, most, context);
    if (!folders.has(root)) throw new ApiError('FILE_NOT_FOUND', `Folder "${root}" not found.`);
    const lines = linesBelow(root, folders, args);
    const shown = lines.slice(0, most);
    const end =
      isCut || lines.length > most
        ? [`(cut at ${shown.length} entries; list a folder below, or set maxEntries up to 10000)`]
        : [];
    const empty = lines.length === 0 ? ['(empty)'] : [];
    return [`[${repo.name}] ${shownName(root)}/`, ...shown, ...empty, ...end].join('\n');
  },
);

/** The folders that are to be shown open, level by level, until they hold enough. */
async function openLevels(
  { repo: name, ref, depth, includeDirectories }: TreeArguments,
  root: string,
  most: number,
  context: ToolContext,
): Promise<{ readonly folders: Folders; readonly isCut: boolean }> {
  const repo = findRepo(name, context);
  const open = [root];
  let folders: Folders = new Map();
  let level = [root];
  for (let left = Math.min(depth, DEPTH_MAX); left > 0 && level.length > 0; left--) {
    ({ folders } = await readFolders(repo, ref, open, context));
    const found = folders;
    level = level.flatMap((folder) => foldersIn(folder, found.get(folder) ?? []));
    if (left > 1 && countBelow(open, folders, includeDirectories) > most)
      return { folders: pick(folders, open), isCut: level.length > 0 };
    if (left > 1) open.push(...level);
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

/** Those alone that are to be open: the reader gives the ones above them, too. */
function pick(folders: Folders, open: readonly string[]): Folders {
  return new Map(
    open.flatMap((folder) => {
      const children = folders.get(folder);
      return children === undefined ? [] : [[folder, children] as const];
    }),
  );
}

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
          `${indent}${shownName(includeDirectories ? name : below(folder, name))}${isFolder ? '/' : ''}`,
        );
      if (type === 'tree') walk(below(folder, name), includeDirectories ? `${indent}  ` : indent);
    }
  };
  walk(root, '  ');
  return lines;
}
