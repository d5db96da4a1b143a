// Reports that the configuration file may have changed; the report may be a false alarm. A local file is watched through
// its folder, so that a replaced file is noticed too. An address is polled.

import { type FSWatcher, realpathSync, statSync, watch } from 'node:fs';
import path from 'node:path';
import { messageOf } from '../caught.ts';
import type { ConfigurationSource } from './file-source.ts';

/** API.md 19.1. */
const POLL_MS = 60_000;
/** Guess: editors write in several steps; a change is reported after a rest of this length, */
const REST_MS = 100;
/** or at most this long after the first step. */
const REST_MS_MAX = 1_000;
/** Bound: delay until a change of a file that was missing or cannot be watched is noticed. */
const MISSING_MS = 10_000;

export interface WatchOptions {
  readonly source: ConfigurationSource;
  readonly onChange: () => void;
  /** Called once with the reason why a file cannot be watched; it is then checked every 10 s. */
  readonly onError: (reason: string) => void;
  /** Of an address. */
  readonly pollMs?: number;
}

/** Starts to watch; also reports a change made before. Errors: none. */
export function watchFile(options: WatchOptions): { close(): Promise<void> } {
  const { source, onChange, pollMs = POLL_MS } = options;
  if (!source.isAddress) return new FileWatch(options);
  const timer = setInterval(onChange, pollMs).unref();
  return {
    close: async () => clearInterval(timer),
  };
}

class FileWatch {
  readonly #options: WatchOptions;
  readonly #file: string;
  /** By folder and its identity. */
  #watchers = new Map<string, FSWatcher>();
  /** Fingerprint of the file at the last check. */
  #lastState = '';
  #isNotified = false;
  #firstMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #hasFailed = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#file = options.source.name;
    this.#check();
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #note(name: string | null): void {
    if (name === path.basename(this.#file)) this.#isNotified = true;
    const now = performance.now();
    this.#firstMs ??= now;
    this.#checkIn(Math.max(0, Math.min(REST_MS, this.#firstMs + REST_MS_MAX - now)));
  }

  #checkIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#check(), ms).unref();
  }

  /** Watches first, then checks the file: changes in between reach the watch. */
  #check(): void {
    this.#firstMs = undefined;
    this.#watchFolders();
    const isNotified = this.#isNotified;
    this.#isNotified = false;
    const state = stateOf(this.#file);
    const isSame = state === this.#lastState;
    this.#lastState = state;
    if (isNotified || !isSame) this.#options.onChange();
  }

  /** Why two: the name may be a link to a file in another folder. */
  #watchFolders(): void {
    const folders = new Map(
      [this.#file, realPathOf(this.#file)]
        .map((file) => path.dirname(file))
        .map((folder) => [`${folder} ${identityOf(folder)}`, folder]),
    );
    for (const [key, watcher] of this.#watchers) {
      if (folders.has(key)) continue;
      watcher.close();
      this.#watchers.delete(key);
    }
    for (const [key, folder] of folders) this.#watch(key, folder);
  }

  #watch(key: string, folder: string): void {
    if (this.#watchers.has(key)) return;
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => this.#note(name));
      watcher.on('error', (error) => {
        watcher.close();
        this.#watchers.delete(key);
        this.#fail(error);
      });
      this.#watchers.set(key, watcher);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#checkIn(MISSING_MS);
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#options.onError(messageOf(error));
  }
}

function realPathOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

/** Identity of the folder with this name; "": none. */
function identityOf(folder: string): string {
  const found = statSync(folder, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.dev}:${found.ino}`;
}

/** Fingerprint that changes if the file may have changed; "": no file. */
function stateOf(file: string): string {
  try {
    const { dev, ino, size, mtimeNs } = statSync(file, { bigint: true });
    return [dev, ino, size, mtimeNs].join(':');
  } catch {
    return '';
  }
}
