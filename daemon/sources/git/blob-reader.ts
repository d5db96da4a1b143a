// Reads blobs or trees in bulk by object id through one long-lived `git cat-file`, with as little copying as a pipe
// allows.
//
// Measured: 2026-11-21, 2 shared cores, tree of a Linux release (78,579 blobs, 1.3 GB, packed):
// `--batch-command --buffer` 306 MB/s with 1,024 requests a flush, 259 with 256; `--batch --buffer`
// 308; unbuffered 255; git alone, its output thrown away, 390: unpacking in git is the limit, so
// more readers on more cores are faster.

import { CatFile, knowsCommands } from './cat-file.ts';
import { requireObjectId } from './names.ts';

/** Requests that are written before git is told to answer. */
const FLUSH_COUNT = 1024;
const IDLE_TIMEOUT_MS = 60_000;

/** Undefined bytes: the repository has no such object. The view is valid only during the call. */
export type OnBlob = (index: number, bytes: Buffer | undefined) => void;

/**
 * Reads blobs through one long-lived git. Reads are done one after the other, in the order of the
 * calls. The process keeps the event loop alive until `close`.
 */
export class BlobReader {
  readonly #git: CatFile;
  readonly #isNew: boolean;
  readonly #type: 'blob' | 'tree';

  /**
   * Starts git.
   *
   * @param options  `type`: what is read, blobs unless it says `tree`; objects of another type count as missing
   *
   * Errors: GitError if git cannot be started at all.
   */
  static async open(
    repoPath: string,
    { type = 'blob', signal }: { signal?: AbortSignal | undefined; type?: 'blob' | 'tree' } = {},
  ): Promise<BlobReader> {
    const isNew = await knowsCommands();
    const modes = isNew ? ['--batch-command', '--buffer'] : ['--batch'];
    const git = new CatFile(modes, { repoPath, stallMs: IDLE_TIMEOUT_MS, isKept: false, signal });
    return new BlobReader(git, isNew, type);
  }

  private constructor(git: CatFile, isNew: boolean, type: 'blob' | 'tree') {
    this.#git = git;
    this.#isNew = isNew;
    this.#type = type;
  }

  /**
   * Reads the blobs and calls back once for each, in the order of `ids`.
   *
   * Errors: GitError; what `onBlob` throws. The reader is unusable afterwards.
   */
  readBlobs(ids: readonly string[], onBlob: OnBlob): Promise<void> {
    for (const id of ids) requireObjectId(id);
    return this.#git.ask({
      count: ids.length,
      lines: this.#linesFor(ids),
      hasContent: true,
      onObject: (info, bytes, index) =>
        onBlob(index, info?.type === this.#type ? bytes : undefined),
    });
  }

  *#linesFor(ids: readonly string[]): Generator<string> {
    for (let start = 0; start < ids.length; start += FLUSH_COUNT) {
      const slice = ids.slice(start, start + FLUSH_COUNT);
      yield this.#isNew
        ? `contents ${slice.join('\ncontents ')}\nflush\n`
        : `${slice.join('\n')}\n`;
    }
  }

  /** Ends git. Reads that still run fail. */
  close(): Promise<void> {
    return this.#git.close();
  }
}
