// Detects by file names what a path is: a bare repository, a work tree, or a plain folder. A partial bare repository,
// damaged or still being copied, is refused: as a folder its files would be searched, including the password that may be in
// its `config`.

import { constants } from 'node:fs';
import { access, readdir, readFile, readlink, stat } from 'node:fs/promises';
import path from 'node:path';
import { isShortage, systemCodeOf } from '../../base/caught.ts';
import { GIT_CONFIG } from '../../base/paths.ts';

export type SourceLayout = 'bare' | 'worktree' | 'folder';

type ProbeFailure =
  | 'not_found'
  | 'not_a_directory'
  | 'not_readable'
  | 'not_a_repository'
  | 'not_its_own'
  | 'mode_not_possible';

/** A path cannot be a source. The message names the path and the reason. */
export class ProbeError extends Error {
  override readonly name = 'ProbeError';
  readonly path: string;
  readonly failure: ProbeFailure;

  constructor(sourcePath: string, failure: ProbeFailure, reason: string) {
    super(`${sourcePath}: ${reason}`);
    this.path = sourcePath;
    this.failure = failure;
  }
}

/** Names that every bare repository has. */
const MARKS = ['HEAD', 'objects', 'refs'];

/**
 * `.git` makes a work tree, unless it leads to a bare repository; HEAD, objects and refs a bare repository. Errors:
 * ProbeError, also if only some of these exist.
 */
export async function layoutOf(absolute: string): Promise<SourceLayout> {
  return layoutOfNames(absolute, new Set(await readFolder(absolute)));
}

/** As `layoutOf`, for a folder with these names in it. */
export async function layoutOfNames(
  absolute: string,
  names: ReadonlySet<string>,
): Promise<SourceLayout> {
  if (names.has('.git')) return (await isBareByFile(absolute)) ? 'bare' : 'worktree';
  const missing = MARKS.filter((name) => !names.has(name));
  if (missing.length === 0) return 'bare';
  if (await isPartOfRepository(absolute, names, MARKS.length - missing.length))
    throw new ProbeError(
      absolute,
      'not_a_repository',
      `looks like a damaged or incomplete bare repository; missing: ${missing.join(', ')}`,
    );
  return 'folder';
}

/** Whether it has parts of a bare repository that no other folder would have. @param count  of the marks that exist */
async function isPartOfRepository(
  absolute: string,
  names: ReadonlySet<string>,
  count: number,
): Promise<boolean> {
  if (names.has('HEAD') && count > 1) return true;
  if (absolute.endsWith('.git') && (count > 0 || names.size === 0)) return true;
  if (!names.has('config')) return false;
  return GIT_CONFIG.test((await readSmall(path.join(absolute, 'config'))) ?? '');
}

/** Bytes of a file of a repository, such as its configuration. Bound: memory. */
export const CONFIG_SIZE_MAX = 1 << 20;

/** Undefined: not a file, too large, or unreadable. */
async function readSmall(file: string): Promise<string | undefined> {
  try {
    const status = await stat(file);
    if (!status.isFile() || status.size > CONFIG_SIZE_MAX) return undefined;
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isShortage(error)) throw error;
    return undefined;
  }
}

/**
 * Whether `.git` is a file that leads to a bare repository, `gitdir: ./.bare`, usually with its work trees beside it. The
 * folder is not a work tree, and its files include the whole repository.
 */
async function isBareByFile(absolute: string): Promise<boolean> {
  const text = /^gitdir: (.+)$/m.exec((await readSmall(path.join(absolute, '.git'))) ?? '')?.[1];
  if (text === undefined) return false;
  const gitDir = path.resolve(absolute, text);
  // Linked work trees have the configuration of their repository, which may be bare.
  if ((await readSmall(path.join(gitDir, 'commondir'))) !== undefined) return false;
  return /^\s*bare\s*=\s*true\s*$/im.test((await readSmall(path.join(gitDir, 'config'))) ?? '');
}

const A_FILE =
  'not a directory; give the folder or repository that holds it, and unpack an archive first';

async function readFolder(absolute: string): Promise<string[]> {
  try {
    const status = await stat(absolute);
    if (!status.isDirectory()) throw new ProbeError(absolute, 'not_a_directory', A_FILE);
    await access(absolute, constants.R_OK | constants.X_OK);
    return await readdir(absolute);
  } catch (error) {
    if (error instanceof ProbeError) throw error;
    const target = await readlink(absolute).catch(() => undefined);
    throw folderError(absolute, error, target === undefined ? '' : ` (a link to ${target})`);
  }
}

const FOLDER_ERRORS: Readonly<Record<string, readonly [failure: ProbeFailure, reason: string]>> = {
  ENOENT: ['not_found', 'does not exist'],
  ENOTDIR: ['not_a_directory', 'not a directory'],
};

/** @param location  target of a link */
function folderError(absolute: string, error: unknown, location: string): ProbeError {
  const code = systemCodeOf(error) ?? String(error);
  const [failure, reason] = FOLDER_ERRORS[code] ?? [
    'not_readable',
    `not readable by this user (${code})`,
  ];
  return new ProbeError(absolute, failure, `${reason}${location}`);
}
