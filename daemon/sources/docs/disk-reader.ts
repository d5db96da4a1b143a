// Reads files of a folder synchronously into one reused buffer: three system calls a file and no allocation for content.
// For worker threads. Symbolic links are never followed.

import { hash } from 'node:crypto';
import { closeSync, openSync, readlinkSync, readSync } from 'node:fs';
import { nextTimeSlice } from '../../base/next-time-slice.ts';
import { diskPathOf, errorCodeOf, FolderGuard, isVanished, READ_FLAGS } from '../disk/disk.ts';
import { type ObjectFormat, objectFormatOf } from '../git/object-format.ts';
import type { SourceFile } from './file-list.ts';
import type { OnFile, ReadFailure } from './source.ts';

/** Ids of blobs: plain values, which may be posted. */
export interface BlobIds {
  /** Those of all files one after the other; zeros for an unreadable file. */
  readonly bytes: Uint8Array;
  readonly idSize: number;
}

/** Bound: delay of other work of the thread. */
const HASHED_AT_ONCE = 64;
/** Bytes. */
const ID_SIZES: Readonly<Record<ObjectFormat, number>> = { sha1: 20, sha256: 32 };

/** Blob ids of files on disk. For a thread of its own (scan-thread.ts). */
export async function hashFiles(root: string, files: readonly SourceFile[]): Promise<BlobIds> {
  const idSize = ID_SIZES[objectFormatOf(root)];
  const bytes = new Uint8Array(idSize * files.length);
  const reader = new DiskReader(root);
  for (let start = 0; start < files.length; start += HASHED_AT_ONCE) {
    await reader.read(files.slice(start, start + HASHED_AT_ONCE), (index, _, oid) => {
      bytes.set(Buffer.from(oid, 'hex'), (start + index) * idSize);
    });
    await nextTimeSlice();
  }
  return { bytes, idSize };
}

/** The id of a file in hexadecimal; undefined: it was unreadable. */
export function blobIdAt({ bytes, idSize }: BlobIds, index: number): string | undefined {
  const id = bytes.subarray(index * idSize, (index + 1) * idSize);
  return id.every((byte) => byte === 0) ? undefined : Buffer.from(id).toString('hex');
}

/** Space before the content for the header `blob <size>\0`, so that header and content are hashed at once. */
const HEADER_RESERVE = 32;
/** A larger buffer is released after its file. */
const KEPT_BUFFER_SIZE_MAX = 64 << 20;
/** Bound: a file that keeps growing while it is read. */
const FILE_SIZE_MAX = 1 << 30;

export class DiskReader {
  readonly #root: string;
  #format: ObjectFormat | undefined;
  #buffer = Buffer.alloc(0);

  /** @param root  absolute path of the folder */
  constructor(root: string) {
    this.#root = root;
  }

  async read(files: readonly SourceFile[], onFile: OnFile): Promise<ReadFailure[]> {
    const failures: ReadFailure[] = [];
    this.#format ??= objectFormatOf(this.#root);
    const format = this.#format;
    // Why new for each call: folders may become links between two batches.
    const guard = new FolderGuard(this.#root);
    for (const [index, file] of files.entries()) {
      const size = this.#load(file, guard, failures);
      if (size === undefined) onFile(index, undefined, '');
      else {
        const bytes = this.#buffer.subarray(HEADER_RESERVE, HEADER_RESERVE + size);
        onFile(index, bytes, this.#blobIdOf(size, format));
      }
    }
    if (this.#buffer.length > KEPT_BUFFER_SIZE_MAX) this.#buffer = Buffer.alloc(0);
    return failures;
  }

  /** Reads the content into the buffer and returns its size; undefined, with a failure recorded, if there is none. */
  #load(file: SourceFile, guard: FolderGuard, failures: ReadFailure[]): number | undefined {
    try {
      if (!guard.isInside(file)) {
        failures.push({ path: file.path, reason: 'vanished' });
        return undefined;
      }
      const location = diskPathOf(this.#root, file);
      return file.isSymlink ? this.#loadTarget(location) : this.#loadFile(location, file.size);
    } catch (error) {
      const reason = isVanished(error)
        ? 'vanished'
        : (`unreadable: ${errorCodeOf(error)}` as const);
      failures.push({ path: file.path, reason });
      return undefined;
    }
  }

  #loadTarget(location: string | Buffer): number {
    const target = readlinkSync(location, { encoding: 'buffer' });
    this.#reserve(target.length, 0);
    return target.copy(this.#buffer, HEADER_RESERVE);
  }

  #loadFile(location: string | Buffer, listedSize: number): number {
    const fd = openSync(location, READ_FLAGS);
    try {
      let size = 0;
      let capacity = listedSize + 1;
      for (;;) {
        this.#reserve(capacity, size);
        // Why one byte more than expected: a short read then shows the end without another call.
        const got = readSync(fd, this.#buffer, HEADER_RESERVE + size, capacity - size, null);
        size += got;
        if (got === 0 || size < capacity) return size;
        if (size > FILE_SIZE_MAX) throw new Error(`larger than ${FILE_SIZE_MAX} bytes`);
        capacity = size * 2;
      }
    } finally {
      closeSync(fd);
    }
  }

  #reserve(size: number, filledSize: number): void {
    if (this.#buffer.length >= HEADER_RESERVE + size) return;
    const grown = Buffer.allocUnsafeSlow(
      Math.max(HEADER_RESERVE + size, this.#buffer.length * 2, 1 << 20),
    );
    this.#buffer.copy(grown, 0, 0, HEADER_RESERVE + filledSize);
    this.#buffer = grown;
  }

  #blobIdOf(size: number, format: ObjectFormat): string {
    const header = `blob ${size}\0`;
    const start = HEADER_RESERVE - header.length;
    this.#buffer.write(header, start, 'latin1');
    return hash(format, this.#buffer.subarray(start, HEADER_RESERVE + size), 'hex');
  }
}
