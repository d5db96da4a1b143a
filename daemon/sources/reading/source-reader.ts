// Reads one file of a repo for a request (API.md 11.0, 11.1): from git objects at any revision, or from disk if the repo's
// docs are files on disk. On disk only docs are served: ignored files, `.git`, and files behind a symbolic link are not
// found. Callers check access and the form of the ref.

import { readdir } from 'node:fs/promises';
import { withSlot } from '../git/git-slots.ts';
import { LostObjectError } from '../git/git.ts';
import { blobSizeOf, LargeObjectError, readBlob, rootTreeOf } from '../git/object-reader.ts';
import { listWorktree } from '../git/objects.ts';
import { CodedError } from '../../base/caught.ts';
import { folderOf, type TreePath, REPLACEMENT } from '../../base/paths.ts';
import type { RepoSource } from '../../repos/records.ts';
import { isFilePath } from '../git/names.ts';
import { resolveRef, type ResolvableRepo, withRepo } from '../git/resolve.ts';
import { findItems } from '../git/tree-paths.ts';
import type { Tree, TreeItemType } from '../git/tree-object.ts';
import {
  ATTRIBUTE_FILE_SIZE_MAX,
  ATTRIBUTE_FILE_NAME,
  attributePathsAbove,
  Attributes,
  type AttributeFile,
} from '../languages/attributes.ts';
import { diskPathOf, FolderGuard } from '../disk/disk.ts';
import { type DiskFile, readDiskFile, statDiskFile, versionOf } from './disk-file.ts';
import { isIgnoredInFolder, walkFolders } from '../disk/folder-walk.ts';
import { compileIgnoreGlobs } from '../disk/globs.ts';
import {
  detectLanguage,
  findHeaderFolders,
  type HeaderFolders,
  isHeader,
} from '../languages/languages.ts';
import { type ReaderMemory, SharedContents } from './shared-contents.ts';
import { isOnDisk } from './tree-reader.ts';
import { utf8Of } from '../../base/utf16.ts';

export interface ReadSourceOptions {
  /** Inclusive size of the content. */
  readonly sizeMax: number;
  /** Returns the stored bytes; default: text in UTF-16 is converted to UTF-8. */
  readonly isStored?: boolean;
  /** Includes the deadline. */
  readonly signal: AbortSignal;
  /** Whom it is for. */
  readonly clientKey?: string;
  /** Counts the bytes of large contents until the reader is over; absent: not counted. */
  readonly memory?: ReaderMemory;
}

export interface SourceContent {
  /**
   * Content, UTF-16 as UTF-8 (base/utf16.ts) unless requested as stored, or the target of a symbolic link; shared: do not
   * change it.
   */
  readonly bytes: Uint8Array;
  /** git blob id. */
  readonly blobSha: string;
  /** From `.gitattributes`, else detected, else "". */
  readonly language: string;
}

/** The file cannot be served; `UNEXPECTED_ERROR`: it is too large. */
export class SourceError extends CodedError<'FILE_NOT_FOUND' | 'UNEXPECTED_ERROR'> {
  override readonly name = 'SourceError';
}

/**
 * Reads one file at a revision as the user typed it, or at the default one. Errors: SourceError; as `resolveRef` and
 * `readBlob`; an error of the file system if a file exists but cannot be read.
 */
export async function readSource(
  repo: ResolvableRepo,
  path: string,
  ref: string | undefined,
  options: ReadSourceOptions,
): Promise<SourceContent> {
  if (!isFilePath(path)) throw notFound(path);
  if (isOnDisk(repo, ref)) return withRepo(repo, () => readFromDisk(repo.source, path, options));
  const commit = await resolveRef(repo, ref, options.signal);
  return withRepo(repo, () => readFromCommit(repo.source.path, commit, path, options));
}

const OTHER_THINGS: Readonly<Partial<Record<TreeItemType, string>>> = {
  tree: ': it is a folder',
  commit: ': it is a submodule',
};

/** @param type  of what exists there instead */
function notFound(path: string, type?: TreeItemType): SourceError {
  const other = (type && OTHER_THINGS[type]) ?? '';
  return new SourceError('FILE_NOT_FOUND', `File "${path}" not found${other}.`);
}

function tooLarge(path: string, size: number, sizeMax: number): SourceError {
  return new SourceError(
    'UNEXPECTED_ERROR',
    `File "${path}" is too large: ${size} bytes, limit ${sizeMax}.`,
  );
}

/** Errors: SourceError. */
export function requireSize(path: string, size: number, sizeMax: number): void {
  if (size > sizeMax) throw tooLarge(path, size, sizeMax);
}

function languageOf(
  path: string,
  bytes: Uint8Array,
  attributeFiles: readonly AttributeFile[],
  headerFolders: HeaderFolders,
): string {
  const attribute = new Attributes(attributeFiles).of(path).language;
  return attribute ?? detectLanguage(path, bytes, headerFolders);
}

/** Smaller contents are not worth sharing or counting: the answer is counted. */
const COUNTED_SIZE_MIN = 65_536;

const blobsBeingRead = new SharedContents<{ readonly bytes: Uint8Array }>();
const filesBeingRead = new SharedContents<DiskFile>();

async function readFromCommit(
  repoPath: string,
  commit: string,
  path: string,
  options: ReadSourceOptions,
): Promise<SourceContent> {
  const { sizeMax, signal, clientKey } = options;
  const root = await rootTreeOf(repoPath, commit, signal);
  const passed: (readonly Tree[])[] = [];
  const items = await findItems(
    repoPath,
    root,
    path,
    signal,
    (_, trees) => passed.push(trees),
    clientKey,
  );
  const blob = items.find(({ type }) => type === 'blob');
  if (blob === undefined) throw notFound(path, items[0]?.type);
  const bytes = await readCountedBlob(repoPath, blob.oid, options).catch((error: unknown) => {
    throw error instanceof LargeObjectError ? tooLarge(path, error.size, sizeMax) : error;
  });
  const attributeFiles = await readAttributes(repoPath, path, passed, signal);
  const siblings = isHeader(path) ? siblingsIn(path, passed) : [];
  const language = languageOf(path, bytes, attributeFiles, findHeaderFolders(siblings));
  return { bytes, blobSha: blob.oid, language };
}

async function readCountedBlob(
  repoPath: string,
  oid: string,
  { sizeMax, signal, memory, isStored = false }: ReadSourceOptions,
): Promise<Uint8Array> {
  const read = async (end: AbortSignal) =>
    readableBytes(await readBlob(repoPath, oid, sizeMax, end), isStored);
  if (memory === undefined) return read(signal);
  const size = await blobSizeOf(repoPath, oid, sizeMax, signal);
  if (size < COUNTED_SIZE_MIN) return read(signal);
  const load = async (end: AbortSignal) => ({ bytes: await read(end) });
  const key = `${repoPath}\0${oid}\0${isStored}`;
  return (await blobsBeingRead.open(key, size, memory, signal, load)).bytes;
}

/** The attribute files in the folders on the way to a path. */
async function readAttributes(
  repoPath: string,
  path: string,
  passed: readonly (readonly Tree[])[],
  signal: AbortSignal,
): Promise<AttributeFile[]> {
  const files: AttributeFile[] = [];
  let end = 0;
  for (const [tree] of passed) {
    const folder = path.slice(0, Math.max(0, end - 1));
    end = path.indexOf('/', end) + 1;
    const [item] = tree?.entriesNamed(ATTRIBUTE_FILE_NAME) ?? [];
    if (tree === undefined || item?.type !== 'blob') continue;
    try {
      const bytes = await readBlob(repoPath, tree.oidOf(item), ATTRIBUTE_FILE_SIZE_MAX, signal);
      files.push({ folder, text: bytes.toString('utf8') });
    } catch (error) {
      if (!(error instanceof LargeObjectError || error instanceof LostObjectError)) throw error;
    }
  }
  return files;
}

/** Paths in the same folder as a path. */
function siblingsIn(path: string, passed: readonly (readonly Tree[])[]): string[] {
  const folder = folderOf(path);
  const items = passed.at(-1)?.[0]?.items ?? [];
  return items.map(({ name }) => (folder === '' ? name : `${folder}/${name}`));
}

async function readFromDisk(
  source: RepoSource,
  path: string,
  options: ReadSourceOptions,
): Promise<SourceContent> {
  const { sizeMax, signal } = options;
  const treePath = await findOnDisk(source, path, signal);
  const file = treePath && (await readCountedFile(source.path, treePath, options));
  if (treePath === undefined || file === undefined) throw notFound(path);
  requireSize(path, file.bytes.length, sizeMax);
  const attributeFiles = await attributeFilesOnDisk(source.path, path, signal);
  const siblings = isHeader(path) ? await siblingsOnDisk(source.path, treePath) : [];
  const headerFolders = findHeaderFolders(siblings);
  return { ...file, language: languageOf(path, file.bytes, attributeFiles, headerFolders) };
}

/** Undefined: no such file. Errors: SourceError if it is too large; MemoryBusyError. */
async function readCountedFile(
  root: string,
  treePath: TreePath,
  { sizeMax, signal, memory, clientKey, isStored = false }: ReadSourceOptions,
): Promise<DiskFile | undefined> {
  const stat = await statDiskFile(root, treePath);
  if (stat === undefined) return undefined;
  const size = Number(stat.size);
  requireSize(treePath.path, size, sizeMax);
  const read = async (end: AbortSignal): Promise<DiskFile | undefined> => {
    const file = await readDiskFile(root, treePath, stat, sizeMax, end, clientKey);
    return file && { ...file, bytes: readableBytes(file.bytes, isStored) };
  };
  if (memory === undefined || size < COUNTED_SIZE_MIN) return read(signal);
  const version = versionOf(stat) ?? `${++unsettledCount}`;
  const load = async (end: AbortSignal): Promise<DiskFile> => {
    const file = await read(end);
    if (file === undefined) throw notFound(treePath.path);
    return file;
  };
  const key = `${root}\0${treePath.path}\0${version}\0${isStored}`;
  return await filesBeingRead.open(key, size, memory, signal, load);
}

let unsettledCount = 0;

function readableBytes(bytes: Uint8Array, isStored: boolean): Uint8Array {
  return isStored ? bytes : utf8Of(bytes);
}

/** The attribute files that apply to a path, the root's first. */
async function attributeFilesOnDisk(
  root: string,
  path: string,
  signal: AbortSignal,
): Promise<AttributeFile[]> {
  const files: AttributeFile[] = [];
  const guard = new FolderGuard(root);
  for (const attributePath of attributePathsAbove(path)) {
    const treePath = { path: attributePath };
    const stat = await statDiskFile(root, treePath, guard);
    if (stat?.isFile() !== true || stat.size > ATTRIBUTE_FILE_SIZE_MAX) continue;
    const file = await readDiskFile(root, treePath, stat, ATTRIBUTE_FILE_SIZE_MAX, signal);
    if (file === undefined) continue;
    const text = Buffer.from(file.bytes).toString('utf8');
    files.push({ folder: folderOf(attributePath), text });
  }
  return files;
}

/** The path, with its bytes if they are not UTF-8, if the listing of the source contains it. */
async function findOnDisk(
  source: RepoSource,
  path: string,
  signal: AbortSignal,
): Promise<TreePath | undefined> {
  if (compileIgnoreGlobs(source.ignore)(path)) return undefined;
  if (source.kind === 'worktree') {
    const within = path.includes(REPLACEMENT) ? undefined : [path];
    const options = { signal, within, noIgnore: source.noIgnore };
    const listed = await withSlot(source.path, signal, () => listWorktree(source.path, options));
    return listed.find((treePath) => treePath.path === path);
  }
  if (!path.includes(REPLACEMENT))
    return isIgnoredInFolder(source.path, { path }, source) ? undefined : { path };
  for await (const { files } of walkFolders(source.path, { rules: source })) {
    const treePath = files.find((candidate) => candidate.path === path);
    if (treePath !== undefined) return treePath;
  }
  return undefined;
}

async function siblingsOnDisk(root: string, treePath: TreePath): Promise<string[]> {
  const folder = folderOf(treePath.path);
  const names = await readdir(folder === '' ? root : diskPathOf(root, { path: folder }));
  return names.map((name) => (folder === '' ? name : `${folder}/${name}`));
}
