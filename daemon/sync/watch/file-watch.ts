// Has repos of files on disk indexed soon after a file is saved: told by the file system, or, where it tells nothing, by
// a look at all files now and then.

import type { RepoRecord } from '../../repos/records.ts';
import { WatchedFiles, type WatchedFilesOptions } from './watched-files.ts';

export interface FileWatchOptions extends WatchedFilesOptions {
  /** The repos that are served now. */
  readonly records: () => readonly RepoRecord[];
}

/** Guess: between two looks at which repos there are. */
const PAUSE_MS = 500;

export class FileWatch {
  readonly #options: FileWatchOptions;
  /** By repo and source. */
  readonly #watched = new Map<string, WatchedFiles>();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: FileWatchOptions) {
    this.#options = options;
  }

  /** Watches the repos that there are from now on. */
  start(): void {
    this.#round = this.#look();
  }

  async #look(): Promise<void> {
    const records = this.#options.records().filter(({ source }) => source.kind !== 'commits');
    const wanted = new Map(records.map((record) => [keyOf(record), record]));
    for (const [key, watched] of this.#watched) {
      if (wanted.has(key)) continue;
      this.#watched.delete(key);
      await watched.close();
    }
    for (const [key, record] of wanted) {
      if (this.#isClosed) return;
      if (this.#watched.has(key)) continue;
      const watched = new WatchedFiles(this.#options, record);
      this.#watched.set(key, watched);
      await watched.open();
    }
    if (!this.#isClosed) this.#timer = setTimeout(() => this.start(), PAUSE_MS).unref();
  }

  /** Watches no more; resolves when no job of it is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#round;
    for (const watched of this.#watched.values()) await watched.close();
  }
}

function keyOf({ repoId, source }: RepoRecord): string {
  return `${repoId} ${JSON.stringify(source)}`;
}
