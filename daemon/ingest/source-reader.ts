// Reads one file of a repo for people (API.md 11.0, 11.1): from git objects at any revision, or
// from disk where the docs of the repo are the files on disk. On disk only docs are given: what git
// ignores, `.git`, and what lies behind a symbolic link is not found. Whether the caller may see
// the repo is decided before.

import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { BlobReader } from '../repos/blob-reader.ts';
import {
  findObjects,
  listFolder,
  listTree,
  listWorktree,
  type ObjectInfo,
} from '../repos/objects.ts';
import { folderOf, type NamedPath } from '../repos/paths.ts';
import type { RepoRecord, RepoSource } from '../repos/records.ts';
import { attributePathsAbove, Attributes, type AttributeFile } from './attributes.ts';
import { diskPathOf, FolderGuard, isGone } from './disk.ts';
import { DiskReader } from './disk-reader.ts';
import { isIgnoredInFolder, walkFolder } from './folder-walk.ts';
import { detectLanguage, findHeaderFolders, type HeaderFolders } from './languages.ts';

export interface ReadSourceOptions {
  /** Inclusive size of the content. */
  readonly maxBytes: number;
  /** Of each git process. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface SourceContent {
  /** Content, or the target of a symbolic link; the caller owns it. */
  readonly bytes: Uint8Array;
  /** git blob id. */
  readonly blobSha: string;
  /** By `.gitattributes`, else detected, else "". */
  readonly language: string;
}

export type SourceErrorCode = 'INVALID_GIT_REF' | 'FILE_NOT_FOUND' | 'TOO_LARGE';

export class SourceError extends Error {
  override readonly name = 'SourceError';
  readonly code: SourceErrorCode;

  constructor(code: SourceErrorCode, message: string) {
    super(message);
    this.code = code;
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
 * Errors: SourceError; GitError; an error of the file system if a file is there but cannot be read.
 */
export async function readSource(
  repo: Pick<RepoRecord, 'source' | 'defaultRevision'>,
  path: string,
  ref: string | undefined,
  options: ReadSourceOptions,
): Promise<SourceContent> {
  if (!isPathWellFormed(path)) throw notFound(path);
  if (ref !== undefined && !isRefWellFormed(ref)) throw invalidRef(ref);
  const isOnDisk = repo.source.kind !== 'commits' && (ref ?? 'HEAD') === 'HEAD';
  if (isOnDisk) return readFromDisk(repo.source, path, options);
  if (repo.source.kind === 'folder') throw invalidRef(ref ?? '');
  return readFromGit(repo, path, ref, options);
}

function notFound(path: string): SourceError {
  return new SourceError('FILE_NOT_FOUND', `File "${path}" not found.`);
}

function invalidRef(ref: string): SourceError {
  return new SourceError('INVALID_GIT_REF', `Git ref "${ref}" is not valid.`);
}

function requireSize(path: string, size: number, maxBytes: number): void {
  if (size <= maxBytes) return;
  throw new SourceError(
    'TOO_LARGE',
    `File "${path}" is too large: ${size} bytes, limit ${maxBytes}.`,
  );
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

async function readFromGit(
  repo: Pick<RepoRecord, 'source' | 'defaultRevision'>,
  path: string,
  ref: string | undefined,
  options: ReadSourceOptions,
): Promise<SourceContent> {
  const repoPath = repo.source.path;
  const revision = ref ?? repo.defaultRevision;
  const attributePaths = attributePathsAbove(path);
  const names = [
    `${revision}^{commit}`,
    ...[path, ...attributePaths].map((name) => `${revision}:${name}`),
  ];
  const [commit, file, ...attributes] = await findObjects(repoPath, names, gitOptions(options));
  if (commit === undefined) throw ref === undefined ? notFound(path) : invalidRef(ref);
  const blob = file ?? (await findUnreadablePath(repoPath, commit.oid, path, options));
  if (blob?.type !== 'blob') throw notFound(path);
  requireSize(path, blob.size, options.maxBytes);

  const usable = attributes.flatMap((info, index) =>
    info?.type === 'blob' && info.size <= ATTRIBUTE_FILE_SIZE_MAX
      ? [{ oid: info.oid, folder: folderOf(attributePaths[index] ?? '') }]
      : [],
  );
  const [bytes, ...texts] = await readBlobCopies(
    repoPath,
    [blob.oid, ...usable.map(({ oid }) => oid)],
    options,
  );
  if (bytes === undefined) throw new Error(`object ${blob.oid} is missing`);
  const attributeFiles = usable.map(({ folder }, index) => ({
    folder,
    text: texts[index]?.toString('utf8') ?? '',
  }));
  const siblings = isHeader(path)
    ? await listFolder(repoPath, commit.oid, folderOf(path), gitOptions(options))
    : [];
  const language = languageOf(path, bytes, attributeFiles, findHeaderFolders(siblings));
  return { bytes, blobSha: blob.oid, language };
}

function gitOptions(options: ReadSourceOptions): { timeoutMs: number; signal?: AbortSignal } {
  const { timeoutMs, signal } = options;
  return signal === undefined ? { timeoutMs } : { timeoutMs, signal };
}

/** A path whose bytes are not UTF-8 can only be found by comparing what it looks like. */
async function findUnreadablePath(
  repoPath: string,
  commit: string,
  path: string,
  options: ReadSourceOptions,
): Promise<ObjectInfo | undefined> {
  if (!path.includes(REPLACEMENT)) return undefined;
  const { entries } = await listTree(repoPath, commit, gitOptions(options));
  const entry = entries.find((candidate) => candidate.path === path);
  return entry === undefined ? undefined : { oid: entry.oid, type: 'blob', size: entry.size };
}

async function readBlobCopies(
  repoPath: string,
  ids: readonly string[],
  options: ReadSourceOptions,
): Promise<(Buffer | undefined)[]> {
  const { timeoutMs, signal } = options;
  const limits = { idleTimeoutMs: timeoutMs, ...(signal === undefined ? {} : { signal }) };
  const reader = await BlobReader.open(repoPath, limits);
  try {
    const copies: (Buffer | undefined)[] = [];
    await reader.readBlobs(ids, (_, bytes) =>
      copies.push(bytes === undefined ? undefined : Buffer.from(bytes)),
    );
    return copies;
  } finally {
    await reader.close();
  }
}

async function readFromDisk(
  source: RepoSource,
  path: string,
  options: ReadSourceOptions,
): Promise<SourceContent> {
  const named = await findOnDisk(source, path, options);
  const stat = named === undefined ? undefined : statDoc(source.path, named);
  if (named === undefined || stat === undefined) throw notFound(path);
  requireSize(path, stat.size, options.maxBytes);

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
  const [bytes, ...texts] = copies;
  const failure = failures.find((candidate) => candidate.path === path);
  if (failure !== undefined && failure.reason !== 'vanished')
    throw new Error(`${path}: ${failure.reason}`);
  if (bytes === undefined) throw notFound(path);
  requireSize(path, bytes.length, options.maxBytes);
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
  options: ReadSourceOptions,
): Promise<NamedPath | undefined> {
  if (source.kind === 'worktree') {
    const within = path.includes(REPLACEMENT) ? {} : { within: path };
    const listed = await listWorktree(source.path, { ...gitOptions(options), ...within });
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
    return stat.isFile() || stat.isSymbolicLink() ? stat : undefined;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

function siblingsOnDisk(root: string, named: NamedPath): string[] {
  const folder = folderOf(named.path);
  const names = readdirSync(folder === '' ? root : diskPathOf(root, { path: folder }));
  return names.map((name) => (folder === '' ? name : `${folder}/${name}`));
}
