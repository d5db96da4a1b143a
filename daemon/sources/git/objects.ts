// Lists the content of a repository: the tree of a commit, the files of a work tree, and the objects of single names, a git
// process each. blob-reader.ts reads blobs in bulk, object-reader.ts single objects for requests.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { knownReposBelow } from '../disk/known-repos.ts';
import { type ObjectInfo, parseObjectLine } from './cat-file-parser.ts';
import { FILES_SIZE_MAX, GitError, LostObjectError, runGit, streamGit, tryGit } from './git.ts';
import { isObjectId } from './names.ts';
import { MODE_SYMLINK } from './tree-object.ts';
import { isInnerPath, RecordSplitter, splitRecords, type TreePath } from '../../base/paths.ts';

export interface TreeEntry extends TreePath {
  /** The blob is the target of a symbolic link. */
  readonly isSymlink: boolean;
  readonly oid: string;
  /** Bytes of the blob. */
  readonly size: number;
}

/** Offset of the type in a record of a tree's listing. */
const TYPE_OFFSET = '100644 '.length;

/** Content of a tree besides blobs. */
export interface TreeRest {
  readonly submodulePaths: string[];
  /** Paths that leave the repository (`isInnerPath`). */
  readonly outerPaths: string[];
}

export interface ReadOptions {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** Bytes of a list of files; default `FILES_SIZE_MAX`. */
  readonly outputSizeMax?: number;
}

/**
 * Calls back for each blob of the tree of a commit, in git order: by the bytes of the path. Yields to other work.
 * Errors: GitError; what `onEntry` throws.
 */
export async function listTree(
  repoPath: string,
  commit: string,
  options: ReadOptions,
  onEntry: (entry: TreeEntry) => void,
): Promise<TreeRest> {
  const rest: TreeRest = { submodulePaths: [], outerPaths: [] };
  await readTreeRecords(repoPath, commit, ['-l'], options, (head, treePath) => {
    const [mode = '', type, oid = '', size] = head.split(/ +/);
    if (!isInnerPath(treePath.path)) rest.outerPaths.push(treePath.path);
    else if (type !== 'blob') rest.submodulePaths.push(treePath.path);
    else {
      const isSymlink = Number.parseInt(mode, 8) === MODE_SYMLINK;
      onEntry({ ...treePath, isSymlink, oid, size: Number(size) || 0 });
    }
  });
  return rest;
}

/** Bound: the command line; 500 paths of 1 KB are a quarter of what Linux allows. */
const PATHS_AT_ONCE = 500;

/** The paths that are symbolic links in a commit. Errors: GitError. Cost: a process for 500 of them. */
export async function findLinks(
  repoPath: string,
  commit: string,
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  const links = new Set<string>();
  for (let start = 0; start < paths.length; start += PATHS_AT_ONCE) {
    const some = paths.slice(start, start + PATHS_AT_ONCE);
    await readTreeRecords(repoPath, commit, [], { paths: some }, (head, { path }) => {
      if (Number.parseInt(head, 8) === MODE_SYMLINK) links.add(path);
    });
  }
  return links;
}

/**
 * Paths of all blobs of a tree, in git order, without those that leave the repository. Yields to other work. Errors:
 * GitError.
 */
export async function listTreePaths(
  repoPath: string,
  tree: string,
  options: ReadOptions,
): Promise<string[]> {
  const paths: string[] = [];
  await readTreeRecords(repoPath, tree, [], options, (head, { path }) => {
    if (head.startsWith('blob', TYPE_OFFSET) && isInnerPath(path)) paths.push(path);
  });
  return paths;
}

/** Calls back for each record of a listing, `<mode> <type> <oid>\t<path>`, with the part before the path. */
async function readTreeRecords(
  repoPath: string,
  tree: string,
  more: readonly string[],
  { paths = [], ...options }: ReadOptions & { readonly paths?: readonly string[] },
  onRecord: (head: string, treePath: TreePath) => void,
): Promise<void> {
  const args = ['ls-tree', '-r', ...more, '-z', '--full-tree', '--end-of-options', tree, ...paths];
  const limits = { timeoutMs: 0, outputSizeMax: FILES_SIZE_MAX };
  const splitter = new RecordSplitter();
  await streamGit(args, { ...limits, ...options, repoPath }, (chunk) => {
    for (const [text, bytes] of splitter.push(chunk)) {
      const tab = text.indexOf('\t');
      const path = text.slice(tab + 1);
      const rawPath = bytes && Uint8Array.from(bytes.subarray(tab + 1));
      onRecord(text.slice(0, tab), rawPath === undefined ? { path } : { path, rawPath });
    }
  });
}

interface WorktreeOptions {
  /** Only these paths, and everything below them; none: all. */
  readonly within?: readonly string[] | undefined;
  /** Includes files that git ignores. */
  readonly noIgnore?: boolean | undefined;
}

/**
 * Paths that git lists for a work tree: tracked, or untracked and not ignored. They include tracked files deleted on disk,
 * submodules, and nested repositories (with a trailing `/`). Errors: GitError.
 */
export async function listWorktree(
  repoPath: string,
  options: ReadOptions & WorktreeOptions = {},
): Promise<TreePath[]> {
  return pathsListed(await readWorktreeList(repoPath, options));
}

/** What git writes for `listWorktree`; `pathsListed` reads it, in any thread. */
export function readWorktreeList(
  repoPath: string,
  { within = [], noIgnore = false, ...options }: ReadOptions & WorktreeOptions = {},
): Promise<Buffer> {
  const kinds = [
    '--cached',
    '--others',
    '--full-name',
    ...(noIgnore ? [] : ['--exclude-standard']),
    ...lostRepos(repoPath).map((one) => `--exclude=/${asPattern(one)}/`),
  ];
  const args = ['ls-files', '-z', ...kinds, '--', ...within];
  const limits = { timeoutMs: 0, outputSizeMax: FILES_SIZE_MAX };
  return runGit(args, { ...limits, ...options, repoPath, usesWorkTree: true });
}

/** Known repositories in a work tree that have no `.git`, now or at all: git takes their files for its own. */
function lostRepos(repoPath: string): string[] {
  const known = [...knownReposBelow(repoPath)];
  return known.filter((one) => !existsSync(path.join(repoPath, one, '.git')));
}

/** Source: gitignore(5). */
function asPattern(text: string): string {
  return text.replace(/[\\*?[ ]/g, String.raw`\$&`);
}

export function pathsListed(output: Buffer): TreePath[] {
  const paths = new Map<string, TreePath>();
  for (const [path, bytes] of splitRecords(output)) {
    if (bytes === undefined) paths.set(path, { path });
    else paths.set(`\0${bytes.toString('latin1')}`, { path, rawPath: Uint8Array.from(bytes) });
  }
  return [...paths.values()];
}

const LIST_IGNORED = [
  'ls-files',
  '-z',
  '--others',
  '--ignored',
  '--exclude-standard',
  '--directory',
];

/**
 * What git writes of the folders of a work tree that it ignores as a whole, outermost only; of these paths only, if there are
 * any. `ignoredFolders` reads it, in any thread. Errors: GitError. Cost: a process that reads all folders that are not
 * ignored.
 */
export function readIgnoredList(
  repoPath: string,
  within: readonly string[],
  signal?: AbortSignal,
): Promise<Buffer> {
  const limits = { timeoutMs: 0, outputSizeMax: FILES_SIZE_MAX, signal };
  const args = [...LIST_IGNORED, '--', ...within];
  return runGit(args, { ...limits, repoPath, usesWorkTree: true });
}

export function ignoredFolders(output: Buffer): ReadonlySet<string> {
  const paths = [...splitRecords(output)].map(([text]) => text);
  return new Set(paths.filter((one) => one.endsWith('/')).map((one) => one.slice(0, -1)));
}

/**
 * Reports each path of a work tree that git ignores with the rule that ignores it, `sub/.gitignore: *.o`. A folder ignored
 * as a whole is reported as one path with a trailing slash. Errors: GitError. Cost: two processes, one of which reads all
 * folders that are not ignored.
 */
export async function countIgnored(
  repoPath: string,
  onIgnored: (rule: string, path: string) => void,
): Promise<void> {
  const options = { repoPath, usesWorkTree: true, timeoutMs: 0, outputSizeMax: FILES_SIZE_MAX };
  const paths = await runGit(LIST_IGNORED, options);
  if (paths.length === 0) return;
  // Why: this command has no literal paths; one that begins with `./` is literal in any case.
  const input = Buffer.from(
    `./${paths.toString('latin1').slice(0, -1).replaceAll('\0', '\0./')}\0`,
    'latin1',
  );
  const args = ['--no-literal-pathspecs', 'check-ignore', '-z', '--stdin', '--verbose'];
  const output = await runGit(args, { ...options, input }).catch(ignoreNone);
  // Source: git-check-ignore(1): `<source> NUL <line> NUL <pattern> NUL <path> NUL`.
  const fields = [...splitRecords(output)].map(([text]) => text);
  for (let field = 0; field + 3 < fields.length; field += 4)
    onIgnored(`${fields[field]}: ${fields[field + 2]}`, fields[field + 3]!.slice('./'.length));
}

/** Exit code 1: no path is ignored, which is possible only if the disk has changed since. */
function ignoreNone(error: unknown): Buffer {
  if (error instanceof GitError && error.exitCode === 1) return Buffer.alloc(0);
  throw error;
}

/** Bytes that git writes per name, besides the name of a missing object. */
const OBJECT_LINE_SIZE_MAX = 128;

/**
 * Full id of the object that a revision names; undefined if it names none. The revision may come from a user. Errors:
 * GitError if git is missing or exceeds its time limit.
 */
export function resolveObject(
  repoPath: string,
  revision: string,
  options: ReadOptions = {},
): Promise<string | undefined> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', revision];
  return tryGit(args, { ...options, repoPath });
}

/** As `resolveObject`, the commit. */
export function resolveCommit(
  repoPath: string,
  revision: string,
  options: ReadOptions = {},
): Promise<string | undefined> {
  return resolveObject(repoPath, `${revision}^{commit}`, options);
}

/**
 * The object of each name, `main^{commit}`, `v1.0:src/a.c`; undefined if the repository has none. One process for all (8
 * ms), and one more for each name with a line break. In a partial clone two more if ids are missing, and one for each other
 * name that needs a missing object. Errors: GitError.
 */
export async function findObjects(
  repoPath: string,
  names: readonly string[],
  options: ReadOptions = {},
): Promise<(ObjectInfo | undefined)[]> {
  if (names.length === 0) return [];
  const lines = [...names];
  for (const [index, name] of names.entries())
    if (name.includes('\n'))
      lines[index] = (await resolveObject(repoPath, name, options)) ?? '0'.repeat(40);
  const found = await queryObjects(repoPath, lines, options);
  return found.concat(found.length === lines.length ? [] : await behindLost());

  /** Git exits at an object that a partial clone lacks: the names after it are asked again. */
  async function behindLost(): Promise<(ObjectInfo | undefined)[]> {
    const rest = lines.slice(found.length + 1);
    const present = rest.every(isObjectId)
      ? await presentObjects(repoPath, rest, options)
      : new Set(rest);
    const presentLines = rest.filter((line) => present.has(line));
    const infos = await findObjects(repoPath, presentLines, options);
    let next = 0;
    return [undefined, ...rest.map((line) => (present.has(line) ? infos[next++] : undefined))];
  }
}

/** The object of each line, up to the first one at which git exits because an object is missing. */
async function queryObjects(
  repoPath: string,
  lines: readonly string[],
  options: ReadOptions,
): Promise<(ObjectInfo | undefined)[]> {
  const input = Buffer.from(`${lines.join('\n')}\n`);
  const outputSizeMax = input.length + OBJECT_LINE_SIZE_MAX * lines.length;
  const chunks: Buffer[] = [];
  let isCut = false;
  try {
    await streamGit(
      ['cat-file', '--batch-check', '--buffer'],
      { ...options, repoPath, input, outputSizeMax },
      (chunk) => chunks.push(chunk),
    );
  } catch (error) {
    if (!(error instanceof LostObjectError)) throw error;
    isCut = true;
  }
  const answers = Buffer.concat(chunks).toString('latin1').split('\n');
  const count = isCut ? Math.min(answers.length - 1, lines.length - 1) : lines.length;
  return lines.slice(0, count).map((_, index) => parseObjectLine(answers[index] ?? ''));
}

/** Prints the ids of present objects, without visiting what they refer to, and skips missing ones. */
const PRESENT_ARGS = [
  'rev-list',
  '--objects',
  '--no-object-names',
  '--no-walk',
  '--filter=tree:0',
  '--ignore-missing',
  '--missing=allow-any',
  '--stdin',
];

/**
 * The ids whose objects the repository has. For partial clones, in which `cat-file` exits at missing objects. Errors:
 * GitError. Cost: a process that looks each of them up.
 */
export async function presentObjects(
  repoPath: string,
  ids: readonly string[],
  options: ReadOptions = {},
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const input = `${ids.join('\n')}\n`;
  const outputSizeMax = input.length;
  const output = await runGit(PRESENT_ARGS, { ...options, repoPath, input, outputSizeMax });
  return new Set(output.toString('latin1').split('\n'));
}
