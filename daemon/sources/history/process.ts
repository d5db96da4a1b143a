// Runs one git process for a history request. Its folder and its mailmap follow only from the commits, so that equal
// requests have equal answers.

import { statSync } from 'node:fs';
import path from 'node:path';
import { gitDirOf, type GitOptions, runGit } from '../git/git.ts';
import type { TreePath } from '../../base/paths.ts';

/** Where, and for how long, the processes of a request run. */
export interface HistoryContext {
  readonly repoPath: string;
  /** Variables with which git finds our commit graph. */
  readonly env: Readonly<Record<string, string>>;
  /** Object id of the mailmap's blob; undefined: there is none. */
  readonly mailmap: string | undefined;
  /** Of each process. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** A page of a list. */
export interface ListWindow {
  readonly offset: number;
  readonly limit: number;
}

export interface HistoryRunOptions {
  /** Last argument, after `--`. */
  readonly path?: TreePath | undefined;
  /** Further paths, as text. */
  readonly paths?: readonly string[] | undefined;
  readonly input?: string;
  /** Inclusive. */
  readonly outputSizeMax: number;
}

/** Larger blobs count as binary, so no diff of them is made. */
const TEXT_SIZE_MAX = 64 << 20;

/** Runs git to its end and returns its output. Errors: GitError. */
export function runHistory(
  args: readonly string[],
  context: HistoryContext,
  { path: tail, paths = [], input = '', outputSizeMax }: HistoryRunOptions,
): Promise<Buffer> {
  const options = { ...gitOptions(context, tail), input, outputSizeMax };
  const isText = tail !== undefined && tail.rawPath === undefined;
  return runGit([...args, '--', ...paths, ...(isText ? [tail.path] : [])], options);
}

/**
 * A folder without files of a work tree. Why: `.mailmap` and `.gitattributes` on disk must not matter, and git reads them
 * in the current folder unless the repository is bare.
 */
function quietFolder(repoPath: string): string {
  const gitDir = gitDirOf(repoPath);
  // A linked work tree has a file there.
  const isFolder = statSync(gitDir, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return isFolder ? gitDir : path.parse(gitDir).root;
}

function gitOptions(context: HistoryContext, tail: TreePath | undefined): GitOptions {
  const { repoPath, env, mailmap, timeoutMs, signal } = context;
  const rawTail = tail?.rawPath;
  const cwd = quietFolder(repoPath);
  return {
    repoPath,
    cwd,
    settings: [`core.bigFileThreshold=${TEXT_SIZE_MAX}`, `mailmap.blob=${mailmap ?? ''}`],
    env: {
      // Why: patterns match letters, not bytes. With a name in other bytes the shell must see bytes.
      LC_ALL: rawTail === undefined ? 'C.UTF-8' : 'C',
      GIT_IMPLICIT_WORK_TREE: '0',
      // Why: diff-tree reads `.gitattributes` there too. No such file exists.
      GIT_INDEX_FILE: path.join(cwd, 'no-index'),
      ...env,
    },
    timeoutMs,
    signal,
    rawTail,
  };
}
