// Reads the docs that a source lists, in any thread: those with an id from git, the others from disk.

import { BlobReader } from '../git/blob-reader.ts';
import { OBJECT_MISSING } from '../disk/excluded-path.ts';
import { DiskReader } from './disk-reader.ts';
import type { SourceFile } from './file-list.ts';
import type { OnFile, ReadFailure } from './source.ts';

export class DocReader {
  readonly #path: string;
  readonly #disk: DiskReader;
  /** Started by the first file with an id. */
  #blobs: Promise<BlobReader> | undefined;

  /** @param path  absolute path of the repository or folder */
  constructor(path: string) {
    this.#path = path;
    this.#disk = new DiskReader(path);
  }

  /**
   * Reads the files in order. One call at a time. Errors: GitError; what `onFile` throws. An unreadable file is not an error
   * but part of the result.
   */
  async read(files: readonly SourceFile[], onFile: OnFile): Promise<ReadFailure[]> {
    const failures: ReadFailure[] = [];
    for (const { start, end, isStored } of runsOf(files)) {
      const run = files.slice(start, end);
      const onOne: OnFile = (index, bytes, oid) => onFile(start + index, bytes, oid);
      const failed = isStored ? this.#readBlobs(run, onOne) : this.#disk.read(run, onOne);
      for (const failure of await failed) failures.push(failure);
    }
    return failures;
  }

  async #readBlobs(files: readonly SourceFile[], onFile: OnFile): Promise<ReadFailure[]> {
    this.#blobs ??= BlobReader.open(this.#path);
    const failures: ReadFailure[] = [];
    const ids = files.map((file) => file.oid ?? '');
    await (
      await this.#blobs
    ).readBlobs(ids, (index, bytes) => {
      if (bytes === undefined)
        failures.push({ path: files[index]?.path ?? '', reason: OBJECT_MISSING });
      onFile(index, bytes, bytes === undefined ? '' : (ids[index] ?? ''));
    });
    return failures;
  }

  async close(): Promise<void> {
    await (await this.#blobs)?.close();
  }
}

interface Run {
  readonly start: number;
  end: number;
  readonly isStored: boolean;
}

/** Splits the files into runs with the same storage. */
function runsOf(files: readonly SourceFile[]): Run[] {
  const runs: Run[] = [];
  for (const [index, { oid }] of files.entries()) {
    const last = runs.at(-1);
    const isStored = oid !== undefined;
    if (last?.isStored === isStored) last.end++;
    else runs.push({ start: index, end: index + 1, isStored });
  }
  return runs;
}
