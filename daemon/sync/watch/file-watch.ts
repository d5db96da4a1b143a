// Indexes repos of files on disk soon after a file is saved: on notification by the file system, or without
// notifications by checking all files now and then.

import type { RepoRecord } from '../../repos/records.ts';
import { WatchedFiles, type WatchedFilesOptions } from './watched-files.ts';

export interface FileWatchOptions extends WatchedFilesOptions {
  readonly records: () => readonly RepoRecord[];
}

/** Bound: delay until an added repo is watched. */
const PAUSE_MS = 500;

export class FileWatch {
  readonly #options: FileWatchOptions;
  readonly #watched = new Map<string, WatchedFiles>();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: FileWatchOptions) {
    this.#options = options;
  }

  start(): void {
    this.#round = this.#check();
  }

  async #check(): Promise<void> {
    const records = this.#options.records().filter(({ source }) => source.kind !== 'commits');
    const byKey = new Map(records.map((record) => [keyOf(record), record]));
    for (const [key, watched] of this.#watched) {
      if (byKey.has(key)) continue;
      this.#watched.delete(key);
      await watched.close();
    }
    for (const [key, record] of byKey) {
      if (this.#isClosed) return;
      if (this.#watched.has(key)) continue;
      const watched = new WatchedFiles(this.#options, record);
      this.#watched.set(key, watched);
      await watched.open();
    }
    if (!this.#isClosed) this.#timer = setTimeout(() => this.start(), PAUSE_MS).unref();
  }

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
