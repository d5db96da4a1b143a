// Tells that the configuration file may have changed: a file of this machine by watching its folder, so that one that is put in
// its place is noticed as well as one that is written; an address by asking it now and then. What is told may be nothing new.

import { type FSWatcher, realpathSync, statSync, watch } from 'node:fs';
import path from 'node:path';
import { messageOf } from '../caught.ts';
import type { ConfigurationSource } from './file-source.ts';

/** API.md 19.1. */
const POLL_MS = 60_000;
/** Guess: editors write in several steps; nothing is told before so long a rest, */
const REST_MS = 100;
/** or so long after the first step. */
const REST_MS_MAX = 1_000;
/** Guess: between two looks at what cannot be watched, or is gone. */
const MISSING_MS = 10_000;

export interface WatchOptions {
  readonly source: ConfigurationSource;
  readonly onChange: () => void;
  /** Told once why a file cannot be watched; it is looked at every 10 s then. */
  readonly onTrouble: (reason: string) => void;
  /** Of an address. */
  readonly pollMs?: number;
}

/** Begins to watch; tells of a change that came before. Errors: none. */
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
  /** By what they watch: the folder, and which one it was. */
  #watchers = new Map<string, FSWatcher>();
  /** What the file was at the last look. */
  #seen = '';
  #isTold = false;
  #firstMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #hasTrouble = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#file = options.source.name;
    this.#look();
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #note(name: string | null): void {
    if (name === path.basename(this.#file)) this.#isTold = true;
    const now = performance.now();
    this.#firstMs ??= now;
    this.#lookIn(Math.max(0, Math.min(REST_MS, this.#firstMs + REST_MS_MAX - now)));
  }

  #lookIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#look(), ms).unref();
  }

  /** Watches what is to be watched now, and then looks: what comes in between is told by the watch. */
  #look(): void {
    this.#firstMs = undefined;
    this.#watchFolders();
    const isTold = this.#isTold;
    this.#isTold = false;
    const state = stateOf(this.#file);
    const isSame = state === this.#seen;
    this.#seen = state;
    if (isTold || !isSame) this.#options.onChange();
  }

  /** Why two: the name may be a link to a file of another folder. */
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
    this.#lookIn(MISSING_MS);
    if (this.#hasTrouble) return;
    this.#hasTrouble = true;
    this.#options.onTrouble(messageOf(error));
  }
}

function realPathOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

/** Which folder has the name now; "": none. */
function identityOf(folder: string): string {
  const found = statSync(folder, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.dev}:${found.ino}`;
}

/** Another text where the file may be another one; "": there is none. */
function stateOf(file: string): string {
  try {
    const { dev, ino, size, mtimeNs } = statSync(file, { bigint: true });
    return [dev, ino, size, mtimeNs].join(':');
  } catch {
    return '';
  }
}
