// Checks where git goes from a source: its git directory, the common one of linked work trees, alternates, symbolic links.
// An unpacked archive can point each to somebody else's repository. Locations outside the source are refused, unless the
// operator allows the path, or the repository there names the source as its work tree; so are pipes, which block git forever.

import { isUtf8 } from 'node:buffer';
import { type Dirent, existsSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { systemCodeOf } from '../../base/caught.ts';
import { REPLACEMENT } from '../../base/paths.ts';

/** A repository leads out of its source. The message is for the operator: it names paths. */
export class GitPathError extends Error {
  override readonly name = 'GitPathError';

  /** @param location  absent: git may read another one than we do */
  constructor(what: string, location = REPLACEMENT) {
    super(
      location.includes(REPLACEMENT)
        ? `${what} a path that is not text in UTF-8, which no setting allows; rename it`
        : `${what} ${location}, outside of the source; TRAWL_GIT_PATHS=${location} allows that`,
    );
  }
}

/** A path that git reads as a file is not a file. The message is for the operator: it names paths. */
export class GitFileError extends Error {
  override readonly name = 'GitFileError';

  constructor(location: string, what = 'is neither a file nor a folder') {
    super(`${location} ${what}`);
  }
}

/** Whether the error is one of this file: git would leave the source, or block forever. */
export function isMisled(error: unknown): boolean {
  return error instanceof GitPathError || error instanceof GitFileError;
}

/** Real paths. Why not an argument: each git process of the daemon is checked, wherever it is started. */
let allowedPaths: readonly string[] = [];

/** Allows these folders and all below them to be read for any source. Absolute paths. */
export function allowGitPaths(locations: readonly string[]): void {
  allowedPaths = locations.map((location) => realPathOf(location) ?? location);
}

/** Names in each git directory that git opens first; links in their place are followed. */
const KEY_NAMES = ['HEAD', 'objects', 'objects/info', 'objects/pack', 'packed-refs', 'refs'];
/** Further files of a git directory that git opens by name. */
const FILE_NAMES = [
  '.gitattributes',
  '.mailmap',
  'commondir',
  'config',
  'config.worktree',
  'gitdir',
  'index',
  'info/attributes',
  'info/exclude',
  'info/grafts',
  'info/sparse-checkout',
  'objects/info/alternates',
  'objects/info/commit-graph',
  'objects/info/commit-graphs/commit-graph-chain',
  'objects/pack/multi-pack-index',
  'shallow',
];
/** The folders of a git directory with objects and refs. */
const READ_FOLDERS = ['objects', 'refs', 'reftable'];
/** Source: git's limit for nested includes of configuration files. */
const INCLUDE_DEPTH_MAX = 10;
/** Source: git's limit for alternates of alternates. */
const ALTERNATE_DEPTH_MAX = 5;
/** Unit: bytes of a file that contains a path, such as `commondir`. */
const NAMING_SIZE_MAX = 1 << 20;

/** What git reads for a source, and allowed targets of its links. Real paths. */
interface GitPaths {
  readonly gitDirs: readonly string[];
  readonly folders: readonly string[];
  readonly roots: readonly string[];
}

/**
 * Checks the git directory, its alternates and what git follows at once from there. A folder without git passes. Errors:
 * GitPathError; GitFileError; errors of the file system for unreadable paths. Cost: some 40 system calls.
 */
export function checkGitPaths(repoPath: string): void {
  findGitPaths(repoPath);
}

/**
 * The git directory of a source and the common one, unchecked: check them before reading more than file times. Errors:
 * GitPathError for names that git could read differently.
 */
export function gitDirsOf(repoPath: string): readonly string[] {
  const gitDir = gitDirOfSource(realPathOf(repoPath) ?? repoPath);
  const commonDir = commonDirOf(gitDir);
  return gitDir === commonDir ? [gitDir] : [gitDir, commonDir];
}

/** As `checkGitPaths`, and also checks all objects, refs and included configuration. Cost: reads all those folders. */
export async function checkAllGitPaths(repoPath: string): Promise<void> {
  const { gitDirs, folders, roots } = findGitPaths(repoPath);
  for (const gitDir of gitDirs) checkIncluded(path.join(gitDir, 'config'), INCLUDE_DEPTH_MAX);
  for (const folder of folders) await checkEntriesBelow(folder, roots);
}

function findGitPaths(repoPath: string): GitPaths {
  const root = realPathOf(repoPath);
  if (root === undefined) return { gitDirs: [], folders: [], roots: [] };
  const gitDir = gitDirOfSource(root);
  const commonDir = commonDirOf(gitDir);
  const isRegistered = !isInside(gitDir, [root]) && knowsWorkTree(gitDir, commonDir, root);
  const roots = isRegistered ? [root, gitDir, commonDir] : [root];
  if (!isInside(gitDir, roots)) throw new GitPathError('.git leads to', gitDir);
  if (!isInside(commonDir, roots)) throw new GitPathError('commondir leads to', commonDir);
  const gitDirs = gitDir === commonDir ? [gitDir] : [gitDir, commonDir];
  for (const location of gitDirs)
    for (const name of [...KEY_NAMES, ...FILE_NAMES]) checkKind(path.join(location, name));
  const keyPaths = gitDirs.flatMap((location) =>
    KEY_NAMES.map((name) => path.join(location, name)),
  );
  for (const location of keyPaths) {
    if (lstatSync(location, { throwIfNoEntry: false })?.isSymbolicLink() === true)
      checkLink(location, roots);
  }
  const folders = gitDirs.flatMap((location) =>
    READ_FOLDERS.map((name) => path.join(location, name)),
  );
  const objects = path.join(commonDir, 'objects');
  const alternates = alternatesOf(objects, roots, ALTERNATE_DEPTH_MAX);
  return { gitDirs, folders: [...folders, ...alternates], roots };
}

/** Source: gitrepository-layout(5), `.git` as a file; read_gitfile of git. */
function gitDirOfSource(root: string): string {
  const inner = path.join(root, '.git');
  const status = statSync(inner, { throwIfNoEntry: false });
  if (status === undefined) return root;
  if (status.isDirectory()) return realPathOf(inner) ?? inner;
  checkKind(inner);
  const text = readName(inner) ?? '';
  // Git accepts only this form.
  return text.startsWith(GIT_FILE) ? resolveReal(root, text.slice(GIT_FILE.length)) : inner;
}

const GIT_FILE = 'gitdir: ';

function commonDirOf(gitDir: string): string {
  const target = readName(path.join(gitDir, 'commondir'));
  return target === undefined ? gitDir : resolveReal(gitDir, target);
}

/**
 * Whether a git directory elsewhere names this folder as its work tree: through `git worktree add`, or through its setting,
 * as submodules do. Only the owner of that repository can write this.
 */
function knowsWorkTree(gitDir: string, commonDir: string, root: string): boolean {
  if (gitDir === commonDir) {
    const workTree = workTreeSetting(path.join(gitDir, 'config'));
    return workTree !== undefined && resolveReal(gitDir, workTree) === root;
  }
  if (path.dirname(gitDir) !== path.join(commonDir, 'worktrees')) return false;
  const back = readName(path.join(gitDir, 'gitdir')) ?? '';
  return path.basename(back) === '.git' && resolveReal(gitDir, path.dirname(back)) === root;
}

/** `core.worktree` as git writes it; undefined also if written in an unusual way. */
function workTreeSetting(file: string): string | undefined {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? Infinity;
  if (size > NAMING_SIZE_MAX) return undefined;
  const sections = readFileSync(file, 'utf8').split(/^(?=\[)/m);
  const core = sections.filter((section) => section.startsWith('[core]\n')).join('');
  const [, value] = /^\s*worktree = ([^"\\;#\n]+)$/m.exec(core) ?? [];
  return value;
}

function checkLink(link: string, roots: readonly string[]): void {
  const target = realPathOf(link);
  // A dangling link gives git nothing.
  if (target !== undefined && !isInside(target, roots))
    throw new GitPathError(`${link} leads to`, target);
}

/** Errors: GitFileError. */
function checkKind(location: string): void {
  const status = statSync(location, { throwIfNoEntry: false });
  if (status !== undefined && !status.isFile() && !status.isDirectory())
    throw new GitFileError(location);
}

/**
 * Checks the files that a configuration file includes, recursively; accepts more forms of an include than git, which is
 * harmless. Errors: GitFileError.
 */
function checkIncluded(file: string, depth: number): void {
  const status = statSync(file, { throwIfNoEntry: false });
  if (depth === 0 || status?.isFile() !== true || status.size > NAMING_SIZE_MAX) return;
  const text = readFileSync(file, 'utf8');
  if (!/\[\s*include/i.test(text)) return;
  for (const [, name = ''] of text.matchAll(/\bpath\s*=\s*"?([^"\n]+?)"?\s*$/gim)) {
    const location = path.resolve(path.dirname(file), name.replace(/^~\//, `${homedir()}/`));
    checkKind(location);
    checkIncluded(location, depth - 1);
  }
}

/** Whether git may read settings of the source from more files than `config`, or its `config` is unreadable. */
export function hasMoreSettings(repoPath: string): boolean {
  try {
    return gitDirsOf(repoPath).some((gitDir) =>
      /\[\s*include|worktreeconfig/i.test(readText(path.join(gitDir, 'config')) ?? ''),
    );
  } catch {
    return true;
  }
}

async function checkEntriesBelow(top: string, roots: readonly string[]): Promise<void> {
  const waiting = existsSync(top) ? [top] : [];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of await entriesOf(folder)) {
      const location = path.join(folder, entry.name);
      if (entry.isSymbolicLink()) checkLink(location, roots);
      if (entry.isDirectory()) waiting.push(location);
      else if (!entry.isFile()) checkKind(location);
    }
  }
}

/** Entries of a folder; none if it is gone: git removes object folders when it packs. */
export async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** The object folders that this one borrows from. Errors: GitPathError. */
function alternatesOf(objects: string, roots: readonly string[], depth: number): string[] {
  const text = depth === 0 ? undefined : readText(path.join(objects, 'info/alternates'));
  const lines = text?.split('\n').filter((line) => line !== '' && !line.startsWith('#')) ?? [];
  return lines.flatMap((line) => {
    const location = resolveReal(objects, line.startsWith('"') ? unquoted(line) : line);
    if (!isInside(location, roots))
      throw new GitPathError('objects/info/alternates leads to', location);
    return [location, ...alternatesOf(location, roots, depth - 1)];
  });
}

/** Source: quote_c_style of git. Errors: GitPathError for the escapes of control characters and bytes. */
function unquoted(line: string): string {
  if (!/^"(?:[^"\\]|\\["\\])*"$/.test(line))
    throw new GitPathError('objects/info/alternates leads to', line);
  return line.slice(1, -1).replaceAll(/\\(["\\])/g, '$1');
}

function isInside(location: string, roots: readonly string[]): boolean {
  return [...roots, ...allowedPaths].some(
    (root) =>
      location === root || location.startsWith(root.endsWith(path.sep) ? root : root + path.sep),
  );
}

function realPathOf(location: string): string | undefined {
  try {
    return realpathSync.native(location);
  } catch {
    return undefined;
  }
}

/**
 * The real path; for a missing path its name. Errors: GitPathError if git and we could resolve a `..` after a link
 * differently.
 */
function resolveReal(folder: string, name: string): string {
  const location = path.resolve(folder, name);
  const real = realPathOf(location);
  if (realPathOf(path.isAbsolute(name) ? name : `${folder}/${name}`) !== real)
    throw new GitPathError(`${folder} leads to`, name);
  return real ?? location;
}

/** The path that a file contains. Errors: as `readText`. */
export function readName(file: string): string | undefined {
  return readText(file)?.replace(/[\r\n]+$/, '');
}

/**
 * The text of a file that contains paths; undefined: no file. Errors: GitPathError if git could read another path than we
 * do: NUL ends its texts, and its bytes are not always UTF-8. GitFileError: it is too large.
 */
function readText(file: string): string | undefined {
  const status = statSync(file, { throwIfNoEntry: false });
  if (status?.isFile() !== true) return undefined;
  if (status.size > NAMING_SIZE_MAX)
    throw new GitFileError(file, `has more than ${NAMING_SIZE_MAX} bytes, so it names no folder`);
  const bytes = readFileSync(file);
  if (bytes.includes(0) || !isUtf8(bytes)) throw new GitPathError(`${file} leads to`);
  return bytes.toString('utf8');
}
