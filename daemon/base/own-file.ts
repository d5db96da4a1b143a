// How files of the data directory are opened to be read, and small ones written or replaced: what lies at the name of one
// may be a folder, a pipe or a device, by a mistake or a failed copy. A pipe would be waited for without end, and the errors
// of the others do not name the file.

import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  type Stats,
  writeFileSync,
  type WriteFileOptions,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { named } from './caught.ts';

/** What lies at the name of a file is no file. The message names it, and says what to do. */
export class NoFileError extends Error {
  override readonly name = 'NoFileError';

  constructor(file: string, kind: string) {
    super(`${file} is ${kind} and no file; move it away, and put the file back if you have it`);
  }
}

/** Reading from what has no end yet does not wait. */
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
 * Opens a file to be read; the handle is the caller's.
 *
 * @param flags  more than reading, as for open(2)
 *
 * Errors: NoFileError; the file system's.
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
    // What is opened to be written is refused at once where it is none.
    isThere(file);
    throw error;
  }
}

/** Whether there is such a file, without opening it. Errors: NoFileError; the file system's. */
export function isThere(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found !== undefined) check(file, found);
  return found !== undefined;
}

/** As openOwn, without holding up others. */
export async function openOwnSoon(file: string): Promise<FileHandle> {
  const handle = await open(file, READ);
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

/** As readOwn, without holding up others. */
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
    throw named(error, file);
  }
}

/** Puts a text in the place of a file, as a whole. It may not outlive a power loss. Errors: as writeOwn. */
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
