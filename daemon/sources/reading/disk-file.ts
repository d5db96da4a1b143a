// Reads one file of a folder for a request without blocking the thread: in pieces, in the system's own threads, and hashes
// it in pieces too. Symbolic links are never followed. Builds, which read all files, use sources/docs/disk-reader.ts.

import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { type FileHandle, lstat, open, readlink } from 'node:fs/promises';
import { nextTimeSlice } from '../../base/next-time-slice.ts';
import { OwnFiles } from '../disk/own-folder.ts';
import type { TreePath } from '../../base/paths.ts';
import { type ObjectFormat, objectFormatOf } from '../git/object-format.ts';
import {
  diskPathOf,
  FolderGuard,
  isNowhere,
  isSettled,
  isVanished,
  READ_FLAGS,
} from '../disk/disk.ts';

/** Bytes read and hashed at a time. Measured: 2026-11-22: hashing them takes half a millisecond. */
const CHUNK_SIZE = 256 * 1024;

export interface DiskFile {
  readonly bytes: Uint8Array;
  /** git blob id. */
  readonly blobSha: string;
}

/**
 * Undefined: not there, not a file or link, in the data directory, or behind a symbolic link. Errors: of the file system.
 */
export async function statDiskFile(
  root: string,
  treePath: TreePath,
  guard = new FolderGuard(root),
): Promise<BigIntStats | undefined> {
  if (!guard.isInside(treePath)) return undefined;
  try {
    const stat = await lstat(diskPathOf(root, treePath), { bigint: true });
    const { dev, ino, nlink } = stat;
    const isReadable = stat.isFile()
      ? !new OwnFiles().has({ dev: Number(dev), ino: Number(ino), nlink: Number(nlink) })
      : stat.isSymbolicLink();
    return isReadable ? stat : undefined;
  } catch (error) {
    if (isNowhere(error)) return undefined;
    throw error;
  }
}

/** A text that stays the same only while the file does; undefined: not settled yet. */
export function versionOf(stat: BigIntStats): string | undefined {
  const { dev, ino, size, mtimeNs, ctimeNs } = stat;
  return isSettled(ctimeNs) ? [dev, ino, size, mtimeNs, ctimeNs].join(' ') : undefined;
}

/**
 * The content of a file, or the target of a link; undefined: it is gone, or something else now. Of a file that has
 * grown beyond `sizeMax` one byte more is read. Errors: of the file system; the reason of the signal.
 */
export async function readDiskFile(
  root: string,
  treePath: TreePath,
  stat: BigIntStats,
  sizeMax: number,
  signal: AbortSignal,
  clientKey = '',
): Promise<DiskFile | undefined> {
  const location = diskPathOf(root, treePath);
  try {
    const bytes = stat.isSymbolicLink()
      ? await readlink(location, { encoding: 'buffer' })
      : await readFile(location, Number(stat.size), sizeMax, signal);
    return { bytes, blobSha: await blobIdOf(bytes, objectFormatOf(root), signal, clientKey) };
  } catch (error) {
    if (isNowhere(error) || isVanished(error)) return undefined;
    throw error;
  }
}

async function readFile(
  location: string | Buffer,
  size: number,
  sizeMax: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const file = await open(location, READ_FLAGS);
  try {
    // Why one byte more than expected: a short read then shows the end.
    let buffer = Buffer.allocUnsafeSlow(Math.min(size, sizeMax) + 1);
    for (let filled = 0; ;) {
      filled += await fill(file, buffer, filled, signal);
      if (filled < buffer.length || filled > sizeMax) return buffer.subarray(0, filled);
      const grown = Buffer.allocUnsafeSlow(Math.min(filled * 2, sizeMax + 1));
      buffer.copy(grown);
      buffer = grown;
    }
  } finally {
    await file.close();
  }
}

/** Reads up to the end of the buffer or the file; returns the size. */
async function fill(
  file: FileHandle,
  buffer: Buffer,
  start: number,
  signal: AbortSignal,
): Promise<number> {
  let end = start;
  while (end < buffer.length) {
    signal.throwIfAborted();
    const chunkSize = Math.min(CHUNK_SIZE, buffer.length - end);
    const { bytesRead } = await file.read(buffer, end, chunkSize, null);
    if (bytesRead === 0) break;
    end += bytesRead;
  }
  return end - start;
}

async function blobIdOf(
  bytes: Uint8Array,
  format: ObjectFormat,
  signal: AbortSignal,
  clientKey: string,
): Promise<string> {
  const hash = createHash(format).update(`blob ${bytes.length}\0`);
  for (let start = 0; start < bytes.length; start += CHUNK_SIZE) {
    hash.update(bytes.subarray(start, start + CHUNK_SIZE));
    await nextTimeSlice(clientKey);
    signal.throwIfAborted();
  }
  return hash.digest('hex');
}
