// Walks a plain folder, respecting `.gitignore` files, never entering `.git` or following a
// symbolic link. Gives paths only; what is at a path is the caller's to find out.

import {
  closeSync,
  constants,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  type Dirent,
} from 'node:fs';
import { isInOwnFolder, isOwnFolder } from '../repos/own-folder.ts';
import { decodePath, type NamedPath } from '../repos/paths.ts';
import { Breather } from './breather.ts';
import { diskPathOf, errorCodeOf, isGone } from './disk.ts';
import { IgnoreRules } from './ignore-rules.ts';
import type { LeftOut } from './source.ts';

const REPLACEMENT = '\uFFFD';

interface Folder {
  readonly named: NamedPath;
  readonly rules: IgnoreRules;
}

interface Child {
  readonly named: NamedPath;
  readonly isFolder: boolean;
  /** A file or a symbolic link: not a folder, a pipe or a device. */
  readonly isDoc: boolean;
}

/** What is in one folder and not ignored. */
export interface WalkedFolder {
  /** "" for the root. */
  readonly path: string;
  readonly files: readonly NamedPath[];
  /** Those among `files` that are files or symbolic links. */
  readonly docs: readonly NamedPath[];
  readonly folders: readonly NamedPath[];
}

/**
 * The paths in a folder and below that are no folders and not ignored, a folder's at a time.
 *
 * @param isIgnored  paths to leave out besides those that `.gitignore` files name
 * @param leftOut    gets the folders that cannot be read
 *
 * Errors: an error of the file system if the root cannot be read.
 */
export async function* walkFolder(
  root: string,
  isIgnored: (path: string) => boolean,
  leftOut: LeftOut[],
): AsyncGenerator<readonly NamedPath[]> {
  for await (const { files } of walkFolders(root, isIgnored, leftOut)) yield files;
}

/**
 * As `walkFolder`, folders too.
 *
 * @param isEntered  folders to look into; default: all
 */
export async function* walkFolders(
  root: string,
  isIgnored: (path: string) => boolean,
  leftOut: LeftOut[],
  isEntered: (path: string) => boolean = () => true,
): AsyncGenerator<WalkedFolder> {
  if (isInOwnFolder(root)) return;
  const breather = new Breather();
  const pending: Folder[] = [{ named: { path: '' }, rules: IgnoreRules.none() }];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const children = readChildren(root, folder.named, leftOut);
    const rules = rulesInside(root, folder, children, leftOut);
    const files: NamedPath[] = [];
    const docs: NamedPath[] = [];
    const folders: NamedPath[] = [];
    for (const { named, isFolder, isDoc } of children) {
      await breather.pause();
      if (isIgnored(named.path) || rules.isIgnored(isFolder ? `${named.path}/` : named.path))
        continue;
      if (isFolder && isOwn(root, named)) continue;
      (isFolder ? folders : files).push(named);
      if (isDoc) docs.push(named);
    }
    for (const named of folders) if (isEntered(named.path)) pending.push({ named, rules });
    yield { path: folder.named.path, files, docs, folders };
  }
}

/** Whether a folder is the data directory. */
function isOwn(root: string, folder: NamedPath): boolean {
  try {
    return isOwnFolder(lstatSync(diskPathOf(root, folder)));
  } catch {
    // What is in it cannot be listed then.
    return false;
  }
}

function readChildren(root: string, folder: NamedPath, leftOut: LeftOut[]): Child[] {
  const place = folder.path === '' ? root : diskPathOf(root, folder);
  try {
    if (folder.rawPath === undefined) {
      const entries = readdirSync(place, { withFileTypes: true });
      if (!entries.some((entry) => entry.name.includes(REPLACEMENT)))
        return entries.flatMap((entry) => childOf(folder, { path: entry.name }, entry));
    }
    const entries = readdirSync(place, { withFileTypes: true, encoding: 'buffer' });
    return entries.flatMap((entry) => childOf(folder, decodePath(Buffer.from(entry.name)), entry));
  } catch (error) {
    if (folder.path === '') throw error;
    if (!isGone(error))
      leftOut.push({ path: folder.path, reason: `unreadable: ${errorCodeOf(error)}` });
    return [];
  }
}

function childOf(
  folder: NamedPath,
  name: NamedPath,
  entry: Pick<Dirent, 'isDirectory' | 'isFile' | 'isSymbolicLink'>,
): Child[] {
  if (name.path === '.git') return [];
  const isDoc = entry.isFile() || entry.isSymbolicLink();
  return [{ named: joinPath(folder, name), isFolder: entry.isDirectory(), isDoc }];
}

function joinPath(folder: NamedPath, name: NamedPath): NamedPath {
  if (folder.path === '') return name;
  const path = `${folder.path}/${name.path}`;
  if (folder.rawPath === undefined && name.rawPath === undefined) return { path };
  const parts = [
    folder.rawPath ?? Buffer.from(folder.path),
    Buffer.from('/'),
    name.rawPath ?? Buffer.from(name.path),
  ];
  return { path, rawPath: Uint8Array.from(Buffer.concat(parts)) };
}

/** Rules for what is in the folder: those from above, and those of its own `.gitignore`. */
function rulesInside(
  root: string,
  folder: Folder,
  children: readonly Child[],
  leftOut: LeftOut[],
): IgnoreRules {
  const prefix = folder.named.path === '' ? '' : `${folder.named.path}/`;
  const own = children.find(
    ({ named, isFolder }) => !isFolder && named.path === `${prefix}.gitignore`,
  );
  if (own === undefined) return folder.rules;
  try {
    return folder.rules.with(folder.named.path, readRules(diskPathOf(root, own.named)));
  } catch (error) {
    // Source: gitignore(5): git does not follow a symbolic link here.
    if (errorCodeOf(error) !== 'ELOOP' && !isGone(error))
      leftOut.push({ path: own.named.path, reason: `unreadable: ${errorCodeOf(error)}` });
    return folder.rules;
  }
}

function readRules(place: string | Buffer): string {
  const fd = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

/**
 * Whether `walkFolder` would pass over this path because of a `.gitignore` file or `.git`.
 *
 * Cost: reads the `.gitignore` files of the folders above, nothing else.
 */
export function isIgnoredInFolder(root: string, file: NamedPath): boolean {
  let rules = IgnoreRules.none();
  const segments = file.path.split('/');
  if (segments.includes('.git')) return true;
  for (let depth = 0; depth < segments.length; depth++) {
    const folder = segments.slice(0, depth).join('/');
    rules = rulesOf(root, folder, rules);
    const path = segments.slice(0, depth + 1).join('/');
    if (rules.isIgnored(depth + 1 < segments.length ? `${path}/` : path)) return true;
  }
  return false;
}

function rulesOf(root: string, folder: string, rules: IgnoreRules): IgnoreRules {
  const path = folder === '' ? '.gitignore' : `${folder}/.gitignore`;
  const child = { named: { path }, isFolder: false, isDoc: true };
  return rulesInside(root, { named: { path: folder }, rules }, [child], []);
}
