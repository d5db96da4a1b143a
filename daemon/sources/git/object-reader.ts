// Reads single objects for requests: object ids of names, trees, blobs. Uses the pool of git processes and caches small
// immutable objects. If a process does not find an object, or dies over it, a new process is asked once, which sees the
// current packs, alternates and shallow ends.

import { LRUCache } from 'lru-cache';
import { entryBound } from '../../base/entry-bound.ts';
import type { ObjectInfo } from './cat-file-parser.ts';
import { GitError, LostObjectError } from './git.ts';
import { withSlot } from './git-slots.ts';

import { objectPool } from './object-pool.ts';
import { ObjectProcess } from './object-process.ts';
import { Tree } from './tree-object.ts';

/** An object is larger than allowed. */
export class LargeObjectError extends Error {
  override readonly name = 'LargeObjectError';
  /** Bytes. */
  readonly size: number;

  constructor(size: number, sizeMax: number) {
    super(`object too large: ${size} bytes, limit ${sizeMax}`);
    this.size = size;
  }
}

/** Bound: a folder of a million files. */
const TREE_SIZE_MAX = 64 << 20;

const KEPT_BLOB_SIZE_MAX = 256 << 10;
/** Bytes of an entry besides its content. Measured: 2026-11-28: 164 for key and entry; the rest is its object. */
const KEPT_OVERHEAD = 300;

// Why the repository's path is in each key: write access to one repository must not give read access to objects of another.
const keptTrees = new LRUCache<string, Tree>({
  maxSize: 64 << 20,
  maxEntrySize: 16 << 20,
  sizeCalculation: (tree) => tree.memorySize + KEPT_OVERHEAD,
});
const keptBlobs = new LRUCache<string, Buffer>({
  maxSize: 32 << 20,
  sizeCalculation: (bytes) => bytes.length + KEPT_OVERHEAD,
});
/** Commit -> tree. */
const keptRoots = new LRUCache<string, string>(entryBound(20_000));

/** Asks a process of the pool; if that finds nothing, or dies, a new one. */
async function withProcess<Value>(
  repoPath: string,
  signal: AbortSignal,
  run: (process: ObjectProcess) => Promise<Value | undefined>,
): Promise<Value | undefined> {
  try {
    const value = await objectPool.use(repoPath, signal, run);
    if (value !== undefined) return value;
  } catch (error) {
    if (!(error instanceof GitError) || error.failure !== 'exit') throw error;
  }
  const value = await withSlot(repoPath, signal, () => withNewProcess(repoPath, signal, run));
  if (value !== undefined) await objectPool.close(repoPath);
  return value;
}

async function withNewProcess<Value>(
  repoPath: string,
  signal: AbortSignal,
  run: (process: ObjectProcess) => Promise<Value | undefined>,
): Promise<Value | undefined> {
  const process = await ObjectProcess.start(repoPath);
  try {
    return await process.useUntil(signal, run);
  } finally {
    await process.close();
  }
}

/**
 * The object of a name without line breaks, from a process of the pool only; undefined if not found. Errors, of all
 * functions here: GitBusyError; GitError; the reason of the signal.
 */
export function findObject(
  repoPath: string,
  name: string,
  signal: AbortSignal,
): Promise<ObjectInfo | undefined> {
  return objectPool.use(repoPath, signal, (process) => process.info(name));
}

/** Id of the tree of a commit. Errors: as `findObject`; LostObjectError. */
export async function rootTreeOf(
  repoPath: string,
  commit: string,
  signal: AbortSignal,
): Promise<string> {
  const key = `${repoPath}\0${commit}`;
  const kept = keptRoots.get(key);
  if (kept !== undefined) return kept;
  const tree = await withProcess(repoPath, signal, (process) => process.info(`${commit}^{tree}`));
  if (tree === undefined) throw new LostObjectError('cat-file', commit);
  keptRoots.set(key, tree.oid);
  return tree.oid;
}

/** A tree. Errors: as `findObject`; LostObjectError; LargeObjectError; a damaged tree. */
export async function readTree(repoPath: string, oid: string, signal: AbortSignal): Promise<Tree> {
  const key = `${repoPath}\0${oid}`;
  const kept = keptTrees.get(key);
  if (kept !== undefined) return kept;
  const bytes = await withProcess(repoPath, signal, (process) =>
    readObject(process, 'tree', oid, TREE_SIZE_MAX),
  );
  if (bytes === undefined) throw new LostObjectError('cat-file', oid);
  const tree = new Tree(oid, bytes);
  keptTrees.set(key, tree);
  return tree;
}

/**
 * Content of a blob of at most `sizeMax` bytes, which are shared: nobody may change them. Errors: as `findObject`;
 * LostObjectError; LargeObjectError, before anything is read.
 */
export async function readBlob(
  repoPath: string,
  oid: string,
  sizeMax: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const key = `${repoPath}\0${oid}`;
  const kept = keptBlob(key, sizeMax);
  if (kept !== undefined) return kept;
  const bytes = await withProcess(repoPath, signal, async (process) => {
    // Why again: another request may have read it while this one waited for a process.
    const found = keptBlob(key, sizeMax);
    if (found !== undefined) return found;
    const content = await readObject(process, 'blob', oid, sizeMax);
    if (content !== undefined && content.length <= KEPT_BLOB_SIZE_MAX) keptBlobs.set(key, content);
    return content;
  });
  if (bytes === undefined) throw new LostObjectError('cat-file', oid);
  return bytes;
}

/** Bytes of a blob, without reading it. Errors: as `readBlob`. */
export async function blobSizeOf(
  repoPath: string,
  oid: string,
  sizeMax: number,
  signal: AbortSignal,
): Promise<number> {
  const kept = keptBlob(`${repoPath}\0${oid}`, sizeMax);
  if (kept !== undefined) return kept.length;
  const info = await withProcess(repoPath, signal, (process) => process.info(oid));
  if (info?.type !== 'blob') throw new LostObjectError('cat-file', oid);
  if (info.size > sizeMax) throw new LargeObjectError(info.size, sizeMax);
  return info.size;
}

function keptBlob(key: string, sizeMax: number): Buffer | undefined {
  const bytes = keptBlobs.get(key);
  if (bytes !== undefined && bytes.length > sizeMax)
    throw new LargeObjectError(bytes.length, sizeMax);
  return bytes;
}

/** Undefined: no such object of that type. */
async function readObject(
  process: ObjectProcess,
  type: 'tree' | 'blob',
  oid: string,
  sizeMax: number,
): Promise<Buffer | undefined> {
  const info = await process.info(oid);
  if (info?.type !== type) return undefined;
  if (info.size > sizeMax) throw new LargeObjectError(info.size, sizeMax);
  return process.contents(oid);
}
