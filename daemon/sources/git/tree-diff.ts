// Paths whose content or kind differs between the trees of two commits. One git process reads only the folders that differ.

import { isInnerPath, splitRecords, type TreePath } from '../../base/paths.ts';
import { LoopYielder } from '../../base/next-time-slice.ts';
import { FILES_SIZE_MAX, runGit } from './git.ts';
import type { ReadOptions } from './objects.ts';
import { MODE_SUBMODULE, MODE_SYMLINK } from './tree-object.ts';

/** What is at a path. */
export interface TreeItem {
  readonly oid: string;
  readonly kind: 'file' | 'symlink' | 'submodule';
}

export interface TreeChange extends TreePath {
  /** The path leaves the repository (`isInnerPath`): nothing at it is a doc. */
  readonly isOuter: boolean;
  /** Absent: nothing. */
  readonly before?: TreeItem;
  readonly after?: TreeItem;
}

/** Ids of the empty tree, by their length; git knows both in every repository. Source: `git hash-object -t tree` of nothing. */
export const EMPTY_TREES: Readonly<Record<number, string>> = {
  40: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  64: '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
};

const ARGS = [
  'diff-tree',
  '-r',
  '-z',
  '--raw',
  '--no-abbrev',
  '--no-renames',
  '--no-ext-diff',
  '--no-textconv',
  '--no-relative',
  '--ignore-submodules=none',
  '--end-of-options',
];

/** The changes from one commit, or from nothing, to another, by the bytes of their paths. Errors: GitError. */
export async function diffTrees(
  repoPath: string,
  from: string | undefined,
  to: string,
  options: ReadOptions = {},
): Promise<TreeChange[]> {
  const before = from ?? EMPTY_TREES[to.length]!;
  const limits = { timeoutMs: 0, outputSizeMax: FILES_SIZE_MAX };
  const output = await runGit([...ARGS, before, to], { ...limits, ...options, repoPath });
  const changes: TreeChange[] = [];
  const yielder = new LoopYielder();
  // Source: git-diff(1), "Raw output format": `:<mode> <mode> <oid> <oid> <status>` NUL path NUL.
  let head: string[] | undefined;
  for (const [text, bytes] of splitRecords(output)) {
    if (head === undefined) {
      head = text.slice(1).split(' ');
      continue;
    }
    await yielder.pause();
    changes.push({
      path: text,
      ...(bytes === undefined ? {} : { rawPath: Uint8Array.from(bytes) }),
      isOuter: !isInnerPath(text),
      ...itemAs('before', head[0], head[2]),
      ...itemAs('after', head[1], head[3]),
    });
    head = undefined;
  }
  return changes;
}

function itemAs(
  side: 'before' | 'after',
  modeText = '',
  oid = '',
): { before?: TreeItem; after?: TreeItem } {
  const mode = Number.parseInt(modeText, 8);
  if (mode === 0) return {};
  const kind = mode === MODE_SUBMODULE ? 'submodule' : mode === MODE_SYMLINK ? 'symlink' : 'file';
  return { [side]: { oid, kind } };
}
