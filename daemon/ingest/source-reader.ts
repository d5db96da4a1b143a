// Reads one file of a repo for people (API.md 11.0, 11.1): from git objects at any revision, or
// from disk where the docs of the repo are the files on disk. On disk only docs are given: what git
// ignores, `.git`, and what lies behind a symbolic link is not found. Whether the caller may see
// the repo is decided before.

import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { withSlot } from '../repos/git-slots.ts';
import { LargeObjectError, readBlob, readTree, rootTreeOf } from '../repos/object-reader.ts';
import { listWorktree } from '../repos/objects.ts';
import { folderOf, type NamedPath } from '../repos/paths.ts';
import { isOwnFile } from '../repos/own-folder.ts';
import type { RepoSource } from '../repos/records.ts';
import { RefError, resolveRef, type ResolvableRepo } from '../repos/resolve.ts';
import { findItems } from '../repos/tree-paths.ts';
import { attributePathsAbove, Attributes, type AttributeFile } from './attributes.ts';
import { diskPathOf, FolderGuard, isNowhere } from './disk.ts';
import { DiskReader } from './disk-reader.ts';
import { isIgnoredInFolder, walkFolder } from './folder-walk.ts';
import { detectLanguage, findHeaderFolders, type HeaderFolders } from './languages.ts';
import { isOnDisk, withRepo } from './tree-reader.ts';
import { utf8Of } from './utf16.ts';
import { isListedInWorktree } from './worktree-listed.ts';

export interface ReadSourceOptions {
  /** Inclusive size of the content. */
  readonly sizeMax: number;
  /** Has the deadline too. */
  readonly signal: AbortSignal;
}

export interface SourceContent {
  /** Content, UTF-16 as UTF-8 (utf16.ts), or the target of a symbolic link; shared: nobody may change it. */
  readonly bytes: Uint8Array;
  /** git blob id. */
  readonly blobSha: string;
  /** By `.gitattributes`, else detected, else "". */
  readonly language: string;
}

/** A file cannot be given. The message is for the caller. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
  /** `UNEXPECTED_ERROR`: it is too large. */
  readonly errorCode: 'FILE_NOT_FOUND' | 'UNEXPECTED_ERROR';

  constructor(errorCode: 'FILE_NOT_FOUND' | 'UNEXPECTED_ERROR', message: string) {
    super(message);
    this.errorCode = errorCode;
  }
}

const REF_SIZE_MAX = 1024;
const ATTRIBUTE_FILE_SIZE_MAX = 1 << 20;
const REPLACEMENT = '\uFFFD';

/** Whether a ref has the form that API.md 11.0 asks for; that it names a commit is not checked. */
export function isRefWellFormed(ref: string): boolean {
  if (ref === '' || ref.startsWith('-') || /\p{Cc}/u.test(ref)) return false;
  return !ref.includes('..') && !ref.includes('@{') && Buffer.byteLength(ref) <= REF_SIZE_MAX;
}

/** Whether a path has the form of a path in a repo. */
export function isPathWellFormed(path: string): boolean {
  if (path.includes('\0')) return false;
  return path.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..');
}

/**
 * Reads one file.
 *
 * @param ref  revision as the user typed it; undefined: the default revision
 *
 * Errors: SourceError; as `resolveRef` and `readBlob`; an error of the file system if a file is there but cannot be
 * read.
 */
export async function readSource(
  repo: ResolvableRepo,
  path: string,
  ref: string | undefined,
  options: ReadSourceOptions,
): Promise<SourceContent> {
  if (!isPathWellFormed(path)) throw notFound(path);
  if (ref !== undefined && !isRefWellFormed(ref))
    throw new RefError(`Git ref "${ref}" is not valid.`);
  if (isOnDisk(repo, ref)) return withRepo(repo, () => readFromDisk(repo.source, path, options));
  const commit = await resolveRef(repo, ref, options.signal).catch((error: unknown) => {
    // An empty repository has no files, and nobody asked for a ref.
    throw ref === undefined && error instanceof RefError ? notFound(path) : error;
  });
  return withRepo(repo, () => readFromCommit(repo.source.path, commit, path, options));
}

function notFound(path: string): SourceError {
  return new SourceError('FILE_NOT_FOUND', `File "${path}" not found.`);
}

function tooLarge(path: string, size: number, sizeMax: number): SourceError {
  return new SourceError(
    'UNEXPECTED_ERROR',
    `File "${path}" is too large: ${size} bytes, limit ${sizeMax}.`,
  );
}

function requireSize(path: string, size: number, sizeMax: number): void {
  if (size > sizeMax) throw tooLarge(path, size, sizeMax);
}

function isHeader(path: string): boolean {
  return path.toLowerCase().endsWith('.h');
}

function languageOf(
  path: string,
  bytes: Uint8Array,
  attributeFiles: readonly AttributeFile[],
  headerFolders: HeaderFolders,
): string {
  const given = new Attributes(attributeFiles).of(path).language;
  return given ?? detectLanguage(path, bytes, headerFolders);
}

async function readFromCommit(
  repoPath: string,
  commit: string,
  path: string,
  { sizeMax, signal }: ReadSourceOptions,
): Promise<SourceContent> {
  const root = await rootTreeOf(repoPath, commit, signal);
  const items = await findItems(repoPath, root, path, signal);
  const blob = items.find(({ type }) => type === 'blob');
  if (blob === undefined) throw notFound(path);
  const stored = await readBlob(repoPath, blob.oid, sizeMax, signal).catch((error: unknown) => {
    throw error instanceof LargeObjectError ? tooLarge(path, error.size, sizeMax) : error;
  });
  const bytes = utf8Of(stored);
  const attributeFiles = await readAttributes(repoPath, root, path, signal);
  const siblings = isHeader(path) ? await siblingsInTree(repoPath, root, path, signal) : [];
  const language = languageOf(path, bytes, attributeFiles, findHeaderFolders(siblings));
  return { bytes, blobSha: blob.oid, language };
}

async function readAttributes(
  repoPath: string,
  root: string,
  path: string,
  signal: AbortSignal,
): Promise<AttributeFile[]> {
  const files: AttributeFile[] = [];
  for (const attributePath of attributePathsAbove(path)) {
    const [item] = await findItems(repoPath, root, attributePath, signal);
    if (item?.type !== 'blob') continue;
    try {
      const bytes = await readBlob(repoPath, item.oid, ATTRIBUTE_FILE_SIZE_MAX, signal);
      files.push({ folder: folderOf(attributePath), text: bytes.toString('utf8') });
    } catch (error) {
      if (!(error instanceof LargeObjectError)) throw error;
    }
  }
  return files;
}

/** Paths of what is in the folder of a path. */
async function siblingsInTree(
  repoPath: string,
  root: string,
  path: string,
  signal: AbortSignal,
): Promise<string[]> {
  const folder = folderOf(path);
  const folders = folder === '' ? [{ oid: root }] : await findItems(repoPath, root, folder, signal);
  const [first] = folders;
  if (first === undefined) return [];
  const { items } = await readTree(repoPath, first.oid, signal);
  return items.map(({ name }) => (folder === '' ? name : `${folder}/${name}`));
}

async function readFromDisk(
  source: RepoSource,
  path: string,
  options: ReadSourceOptions,
): Promise<SourceContent> {
  const named = await findOnDisk(source, path, options.signal);
  const stat = named === undefined ? undefined : statDoc(source.path, named);
  if (named === undefined || stat === undefined) throw notFound(path);
  requireSize(path, stat.size, options.sizeMax);

  const attributePaths = attributePathsAbove(path);
  const file = { ...named, size: stat.size, isSymlink: stat.isSymbolicLink() };
  const files = [
    file,
    ...attributePaths.map((name) => ({ path: name, size: 0, isSymlink: false })),
  ];
  const reader = new DiskReader(source.path);
  const copies: (Buffer | undefined)[] = [];
  let blobSha = '';
  const failures = await reader.read(files, (index, bytes, oid) => {
    if (index === 0) blobSha = oid;
    copies.push(bytes === undefined ? undefined : Buffer.from(bytes));
  });
  const [stored, ...texts] = copies;
  const failure = failures.find((candidate) => candidate.path === path);
  if (failure !== undefined && failure.reason !== 'vanished')
    throw new Error(`${path}: ${failure.reason}`);
  if (stored === undefined) throw notFound(path);
  requireSize(path, stored.length, options.sizeMax);
  const bytes = utf8Of(stored);
  const attributeFiles = attributePaths.map((name, index) => ({
    folder: folderOf(name),
    text: texts[index]?.toString('utf8') ?? '',
  }));
  const siblings = isHeader(path) ? siblingsOnDisk(source.path, named) : [];
  return {
    bytes,
    blobSha,
    language: languageOf(path, bytes, attributeFiles, findHeaderFolders(siblings)),
  };
}

/**
 * The path, with its bytes if they are not UTF-8, if it is one that the listing of the source
 * holds.
 */
async function findOnDisk(
  source: RepoSource,
  path: string,
  signal: AbortSignal,
): Promise<NamedPath | undefined> {
  if (source.kind === 'worktree') {
    if (!path.includes(REPLACEMENT))
      return (await isListedInWorktree(source.path, path, signal)) ? { path } : undefined;
    const listed = await withSlot(signal, () => listWorktree(source.path, { signal }));
    return listed.find((named) => named.path === path);
  }
  if (!path.includes(REPLACEMENT))
    return isIgnoredInFolder(source.path, { path }) ? undefined : { path };
  for await (const paths of walkFolder(source.path, () => false, [])) {
    const named = paths.find((candidate) => candidate.path === path);
    if (named !== undefined) return named;
  }
  return undefined;
}

/** Undefined: not there, not a file or link, or behind a symbolic link. */
function statDoc(root: string, named: NamedPath): Stats | undefined {
  if (!new FolderGuard(root).isInside(named)) return undefined;
  try {
    const stat = lstatSync(diskPathOf(root, named));
    return (stat.isFile() && !isOwnFile(stat)) || stat.isSymbolicLink() ? stat : undefined;
  } catch (error) {
    if (isNowhere(error)) return undefined;
    throw error;
  }
}

function siblingsOnDisk(root: string, named: NamedPath): string[] {
  const folder = folderOf(named.path);
  const names = readdirSync(folder === '' ? root : diskPathOf(root, { path: folder }));
  return names.map((name) => (folder === '' ? name : `${folder}/${name}`));
}
