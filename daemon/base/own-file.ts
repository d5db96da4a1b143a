// Opens, writes and replaces small files of the data directory, and reads secrets and keys. By mistake or a failed copy,
// the path may be a folder, a pipe or a device. A pipe would block forever, and system errors of the others do not name the path.

import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  // Why not from node:fs/promises: loading that takes 2 ms, and a search uses none of it.
  promises,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  type Stats,
  writeFileSync,
  type WriteFileOptions,
} from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { atPath } from './caught.ts';

/** The path is not a regular file. The message names it and the remedy. */
export class NoFileError extends Error {
  override readonly name = 'NoFileError';

  constructor(file: string, kind: string) {
    super(`${file} is ${kind} and not a file; move it away, and restore the file if you have it`);
  }
}

/** Reading a pipe then does not block. */
const READ = constants.O_RDONLY | constants.O_NONBLOCK;

/** Errors: NoFileError; the file system's. */
function check(file: string, found: Stats): void {
  if (!found.isFile()) throw new NoFileError(file, kindOf(found));
}

function kindOf(found: Stats): string {
  if (found.isDirectory()) return 'a folder';
  return found.isFIFO() ? 'a pipe' : 'a device';
}

/**
 * Opens a file for reading, with more flags of open(2); the caller closes the handle. Errors: NoFileError; the file
 * system's.
 */
export function openOwn(file: string, flags = 0): number {
  const handle = opened(file, flags);
  try {
    check(file, fstatSync(handle));
    return handle;
  } catch (error) {
    closeSync(handle);
    throw error;
  }
}

function opened(file: string, flags: number): number {
  try {
    return openSync(file, READ | flags, 0o600);
  } catch (error) {
    // Opening for writing fails at once if it is not a regular file.
    isThere(file);
    throw error;
  }
}

/** Whether the file exists, without opening it. Errors: NoFileError; the file system's. */
export function isThere(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found !== undefined) check(file, found);
  return found !== undefined;
}

/** As openOwn, without blocking. */
export async function openOwnSoon(file: string): Promise<FileHandle> {
  const handle = await promises.open(file, READ);
  try {
    check(file, await handle.stat());
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The bytes of a file. Errors: NoFileError; the file system's. */
export function readOwn(file: string): Buffer {
  const handle = openOwn(file);
  try {
    return readFileSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** As readOwn, without blocking. */
export async function readOwnSoon(file: string): Promise<Buffer> {
  const handle = await openOwnSoon(file);
  try {
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/** Writes a file. Errors: the file system's, which name it. */
export function writeOwn(
  file: string,
  content: string | Uint8Array,
  options: WriteFileOptions = {},
): void {
  try {
    writeFileSync(file, content, options);
  } catch (error) {
    throw atPath(error, file);
  }
}

/** Replaces a file atomically. The new text may not survive a power loss. Errors: as writeOwn. */
export function replaceOwn(file: string, text: string): void {
  const next = `${file}.next`;
  try {
    writeOwn(next, text, { mode: 0o600 });
    renameSync(next, file);
  } catch (error) {
    rmSync(next, { force: true });
    throw error;
  }
}
