// Reads blobs or trees in bulk by object id through one long-lived `git cat-file`, with as little copying as a pipe allows.
// Measured: 2026-11-21, 2 shared cores, a Linux release (1.3 GB, packed): 306 MB/s with 1,024 requests a flush, 259 with 256,
// 255 with `--batch`; git alone 390, so more readers on more cores are faster.

import { CatFile, knowsCommands } from './cat-file.ts';
import { LostObjectError } from './git.ts';
import { requireObjectId } from './names.ts';
import { presentObjects } from './objects.ts';

/** Requests written before git is told to answer. */
const FLUSH_COUNT = 1024;

/** Undefined bytes: the repository has no such object. The view is valid only during the call. */
export type OnBlob = (index: number, bytes: Buffer | undefined) => void;

export interface BlobReaderOptions {
  readonly signal?: AbortSignal | undefined;
  /** Type to read, default blobs; objects of another type count as missing. */
  readonly type?: 'blob' | 'tree';
}

/**
 * Reads blobs through one long-lived git. Reads run one after the other, in the order of the calls. The process keeps the
 * event loop alive until `close`.
 */
export class BlobReader {
  readonly #repoPath: string;
  readonly #options: BlobReaderOptions;
  readonly #isNew: boolean;
  #git: CatFile;

  /** Starts git. Errors: GitError if it cannot be started. */
  static async open(repoPath: string, options: BlobReaderOptions = {}): Promise<BlobReader> {
    return new BlobReader(repoPath, options, await knowsCommands());
  }

  private constructor(repoPath: string, options: BlobReaderOptions, isNew: boolean) {
    this.#repoPath = repoPath;
    this.#options = options;
    this.#isNew = isNew;
    this.#git = this.#start();
  }

  #start(): CatFile {
    const { signal } = this.#options;
    const modes = this.#isNew ? ['--batch-command', '--buffer'] : ['--batch'];
    const options = { repoPath: this.#repoPath, stallMs: 60_000, isKept: false, signal };
    return new CatFile(modes, options);
  }

  /**
   * Reads the blobs and calls back once for each, in the order of `ids`. Errors: GitError; what `onBlob` throws. The reader
   * is unusable afterwards.
   */
  async readBlobs(ids: readonly string[], onBlob: OnBlob): Promise<void> {
    for (const id of ids) requireObjectId(id);
    let done = 0;
    const git = this.#git;
    try {
      await this.#request(ids, (_, bytes) => onBlob(done++, bytes));
    } catch (error) {
      // In a partial clone git exits at the first missing object: then only present objects are read.
      if (!(error instanceof LostObjectError)) throw error;
      const present = await presentObjects(this.#repoPath, ids.slice(done), this.#options);
      // Another read may have restarted it.
      if (this.#git === git) this.#git = this.#start();
      const logLost = (): void => {
        while (done < ids.length && !present.has(ids[done]!)) onBlob(done++, undefined);
      };
      logLost();
      const rest = ids.slice(done).filter((id) => present.has(id));
      await this.#request(rest, (_, bytes) => {
        onBlob(done++, bytes);
        logLost();
      });
    }
  }

  #request(ids: readonly string[], onBlob: OnBlob): Promise<void> {
    const { type = 'blob' } = this.#options;
    return this.#git.request({
      count: ids.length,
      lines: this.#linesFor(ids),
      hasContent: true,
      onObject: (info, bytes, index) => onBlob(index, info?.type === type ? bytes : undefined),
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

  /** Ends git. Running reads fail. */
  close(): Promise<void> {
    return this.#git.close();
  }
}
