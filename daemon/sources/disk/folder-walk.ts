// Walks a plain folder and applies `.trawlignore` and `.ignore` files, and `.gitignore` files inside git repositories
// (API.md 19.4), including one that contains the folder. Skips folders of version control and never follows a symbolic
// link. Yields only paths; callers stat them.

import {
  closeSync,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  type Dirent,
  type Stats,
} from 'node:fs';
import path from 'node:path';
import { knownReposBelow } from './known-repos.ts';
import { isInOwnFolder, isOwnFolder } from './own-folder.ts';
import {
  baseNameOf,
  decodePath,
  GIT_CONFIG,
  joinPath,
  type TreePath,
  REPLACEMENT,
} from '../../base/paths.ts';
import { LoopYielder } from '../../base/next-time-slice.ts';
import { diskPathOf, errorCodeOf, isGone, READ_FLAGS } from './disk.ts';
import { IgnoreRules, RULE_FILES, RULES_SIZE_MAX, type RuleFile } from './ignore-rules.ts';
import type { ExcludedPath } from './excluded-path.ts';
import type { SourceRules } from '../../repos/records.ts';
import { compileIgnoreGlobs } from './globs.ts';

interface Folder {
  readonly treePath: TreePath;
  readonly rules: IgnoreRules;
}

interface Child {
  readonly treePath: TreePath;
  readonly isFolder: boolean;
  /** A file or a symbolic link: not a folder, a pipe or a device. */
  readonly isDoc: boolean;
}

/** Contents of one folder that are not ignored. */
export interface WalkedFolder {
  /** "" for the root. */
  readonly path: string;
  readonly files: readonly TreePath[];
  /** The files and symbolic links among `files`. */
  readonly docs: readonly TreePath[];
  readonly folders: readonly TreePath[];
}

export interface WalkOptions {
  /** Receives unreadable folders. */
  readonly excluded?: ExcludedPath[];
  /** Folders to enter; default: all. */
  readonly isEntered?: (path: string) => boolean;
  /** Called for each ignored path with the rule that ignores it. */
  readonly onIgnored?: (rule: string) => void;
  readonly rules?: SourceRules;
}

/** Folders of version control: `.svn` has each file a second time. */
export const CONTROL_FOLDERS: ReadonlySet<string> = new Set(['.git', '.hg', '.jj', '.svn']);

/** Name of the source's globs among the rules. */
export const GLOBS_RULE = 'setting: ignore';

/** Yields folder by folder what is not ignored. Errors: an error of the file system if the root cannot be read. */
export async function* walkFolders(
  root: string,
  {
    excluded = [],
    isEntered = () => true,
    onIgnored = () => {},
    rules: own = {},
  }: WalkOptions = {},
): AsyncGenerator<WalkedFolder> {
  if (isInOwnFolder(root)) return;
  const yielder = new LoopYielder();
  const isExcluded = compileIgnoreGlobs(own.ignore);
  const isPassedOver = passingOver(root, own);
  const pending: Folder[] = [{ treePath: { path: '' }, rules: firstRules(root, own) }];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const children = readChildren(root, folder.treePath, excluded);
    const rules = rulesInside(root, folder, children, excluded);
    const files: TreePath[] = [];
    const docs: TreePath[] = [];
    const folders: TreePath[] = [];
    for (const { treePath, isFolder, isDoc } of children) {
      await yielder.pause();
      const rule = isExcluded(treePath.path)
        ? GLOBS_RULE
        : rules.ruleFor(isFolder ? `${treePath.path}/` : treePath.path);
      if (rule !== undefined) {
        if (!isFolder || !isOwn(root, treePath)) onIgnored(rule);
        continue;
      }
      if (isFolder && (isOwn(root, treePath) || isPassedOver(treePath))) continue;
      (isFolder ? folders : files).push(treePath);
      if (isDoc) docs.push(treePath);
    }
    for (const treePath of folders) if (isEntered(treePath.path)) pending.push({ treePath, rules });
    yield { path: folder.treePath.path, files, docs, folders };
  }
}

function firstRules(root: string, { noIgnore }: SourceRules): IgnoreRules {
  return noIgnore === true ? IgnoreRules.never() : rulesAbove(root);
}

function isControl(folder: TreePath): boolean {
  return CONTROL_FOLDERS.has(baseNameOf(folder.path));
}

/** Tests whether a folder is skipped whatever the rules say. */
function passingOver(root: string, { reposApart }: SourceRules): (folder: TreePath) => boolean {
  if (reposApart !== true) return isControl;
  const known = knownReposBelow(root);
  return (folder) => isControl(folder) || known.has(folder.path) || isApart(root, folder);
}

/** Whether a folder is a repository that is its own source, or part of one: its configuration may contain passwords. */
function isApart(root: string, folder: TreePath): boolean {
  const locationOf = (name: string): string | Buffer =>
    diskPathOf(root, joinPath(folder, { path: name }));
  if (existsSync(locationOf('.git'))) return true;
  const count = ['HEAD', 'objects', 'refs'].filter((name) => existsSync(locationOf(name))).length;
  if (count > 1 || (count === 1 && folder.path.endsWith('.git'))) return true;
  return existsSync(locationOf('config')) && isGitConfig(locationOf('config'));
}

/** An unreadable file counts as one. */
function isGitConfig(location: string | Buffer): boolean {
  try {
    return lstatSync(location).isFile() && GIT_CONFIG.test(readRules(location));
  } catch (error) {
    return !isGone(error);
  }
}

function isOwn(root: string, folder: TreePath): boolean {
  let stat: Stats;
  try {
    stat = lstatSync(diskPathOf(root, folder));
  } catch {
    // Its content cannot be listed then.
    return false;
  }
  return isOwnFolder(stat);
}

function readChildren(root: string, folder: TreePath, excluded: ExcludedPath[]): Child[] {
  const location = folder.path === '' ? root : diskPathOf(root, folder);
  try {
    if (folder.rawPath === undefined) {
      const entries = readdirSync(location, { withFileTypes: true });
      if (!entries.some((entry) => entry.name.includes(REPLACEMENT)))
        return entries.flatMap((entry) => childOf(folder, { path: entry.name }, entry));
    }
    const entries = readdirSync(location, { withFileTypes: true, encoding: 'buffer' });
    return entries.flatMap((entry) => childOf(folder, decodePath(Buffer.from(entry.name)), entry));
  } catch (error) {
    if (folder.path === '') throw error;
    if (!isGone(error))
      excluded.push({ path: folder.path, reason: `unreadable: ${errorCodeOf(error)}` });
    return [];
  }
}

function childOf(
  folder: TreePath,
  name: TreePath,
  entry: Pick<Dirent, 'isDirectory' | 'isFile' | 'isSymbolicLink'>,
): Child[] {
  if (name.path === '.git') return [];
  const isDoc = entry.isFile() || entry.isSymbolicLink();
  return [{ treePath: joinPath(folder, name), isFolder: entry.isDirectory(), isDoc }];
}

/** The rules of the git repository that contains the root, if any; none if they ignore the root itself. */
function rulesAbove(root: string): IgnoreRules {
  const above: string[] = [];
  for (let folder = path.dirname(root); !above.includes(folder); folder = path.dirname(folder)) {
    above.unshift(folder);
    if (!existsSync(`${folder}/.git`)) continue;
    const location = `${path.relative(folder, root)}/`;
    const none = IgnoreRules.none();
    const withAll = (rules: IgnoreRules): IgnoreRules =>
      above.reduce(
        (all, one) => withFile(all, '.gitignore', path.relative(folder, one), `${one}/.gitignore`),
        rules,
      );
    // A root that was requested is read even if it is ignored.
    const isIgnored = withAll(none.inRepository()).ruleForAny(location) !== undefined;
    return isIgnored ? none.inRepository(location) : withAll(none.inRepository(location));
  }
  return IgnoreRules.none();
}

/** Rules for the folder's content: inherited ones, and those of its own files. */
function rulesInside(
  root: string,
  { treePath, rules }: Folder,
  children: readonly Child[],
  excluded: ExcludedPath[],
): IgnoreRules {
  const isRepository = existsSync(diskPathOf(root, joinPath(treePath, { path: '.git' })));
  let found = isRepository ? rules.inRepository() : rules;
  for (const file of found.files) {
    const filePath = joinPath(treePath, { path: file });
    if (!children.some((child) => !child.isFolder && child.treePath.path === filePath.path))
      continue;
    const folder = found.folderOf(file, treePath.path);
    found = withFile(found, file, folder, diskPathOf(root, filePath), (reason) =>
      excluded.push({ path: filePath.path, reason }),
    );
  }
  return found;
}

/** The rules with those of a file, if readable. */
function withFile(
  rules: IgnoreRules,
  file: RuleFile,
  folder: string,
  location: string | Buffer,
  onFailure: (reason: `unreadable: ${string}`) => void = () => {},
): IgnoreRules {
  try {
    return rules.with(file, folder, readRules(location));
  } catch (error) {
    // Source: gitignore(5): git does not follow a symbolic link here.
    if (errorCodeOf(error) !== 'ELOOP' && !isGone(error))
      onFailure(`unreadable: ${errorCodeOf(error)}`);
    return rules;
  }
}

function readRules(location: string | Buffer): string {
  const fd = openSync(location, READ_FLAGS);
  try {
    if (fstatSync(fd).size > RULES_SIZE_MAX) throw new Error(`larger than ${RULES_SIZE_MAX} bytes`);
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

/** The rules of the `.trawlignore` at a repository's root; none if it is unreadable or disabled. */
export function rulesAtRoot(root: string, { noIgnore }: SourceRules): IgnoreRules {
  if (noIgnore === true) return IgnoreRules.never();
  return withFile(IgnoreRules.none(), '.trawlignore', '', `${root}/.trawlignore`);
}

/**
 * Whether `walkFolders` would skip this path because of rules, a repository or version control. Cost: reads only the ignore
 * files of the folders above.
 */
export function isIgnoredInFolder(root: string, file: TreePath, own: SourceRules = {}): boolean {
  let rules = firstRules(root, own);
  const isPassedOver = passingOver(root, own);
  const segments = file.path.split('/');
  if (segments.includes('.git') || compileIgnoreGlobs(own.ignore)(file.path)) return true;
  for (let depth = 0; depth < segments.length; depth++) {
    const folder = segments.slice(0, depth).join('/');
    const treePath = { path: folder };
    if (folder !== '' && isPassedOver(treePath)) return true;
    const files = RULE_FILES.map((name) => joinPath(treePath, { path: name }));
    const children = files.map((one) => ({ treePath: one, isFolder: false, isDoc: true }));
    rules = rulesInside(root, { treePath, rules }, children, []);
    const path = segments.slice(0, depth + 1).join('/');
    if (rules.ruleFor(depth + 1 < segments.length ? `${path}/` : path) !== undefined) return true;
  }
  return false;
}
