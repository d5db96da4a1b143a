// Watches the direct content of folders: one file system watch each.

import { type FSWatcher, watch } from 'node:fs';
import path from 'node:path';
import { messageOf } from '../../base/caught.ts';
import { REPLACEMENT } from '../../base/paths.ts';

export interface FolderWatchOptions {
  /** Absolute. */
  readonly root: string;
  /**
   * Something at a path was changed, created or removed; undefined: unknown path.
   * @param isMoved  it was created or removed, so a folder there may be a new one
   */
  readonly onNotice: (path: string | undefined, isMoved: boolean) => void;
  /** Some existing folder is no longer watched. Called once. */
  readonly onFailure: (reason: string) => void;
}

/** Watches of this process. Bound: memory of the system, about 1 KB each. */
const WATCHES_MAX = 100_000;
let watchCount = 0;

export class FolderWatch {
  readonly #options: FolderWatchOptions;
  /** By path, "" for the root. */
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #rootName: string;
  #hasFailed = false;

  constructor(options: FolderWatchOptions) {
    this.#options = options;
    this.#rootName = path.basename(options.root);
  }

  /** Watches another folder, unless it is gone. Whether it was not watched before. */
  add(folder: string): boolean {
    if (this.#hasFailed || this.#watchers.has(folder)) return false;
    if (watchCount >= WATCHES_MAX) {
      this.#fail(`more than ${WATCHES_MAX} folders`);
      return false;
    }
    try {
      const location = path.join(this.#options.root, folder);
      const watcher = watch(location, { persistent: false }, (event, name) =>
        this.#notify(folder, event, name),
      );
      watcher.on('error', (error) => this.#lose(folder, error));
      this.#watchers.set(folder, watcher);
      watchCount++;
      return true;
    } catch (error) {
      this.#lose(folder, error);
      return false;
    }
  }

  #notify(folder: string, event: string, name: string | null): void {
    const hasFileName = name !== null && name !== '' && !name.includes(REPLACEMENT);
    // Why: reports the removal of the root itself, which ends its watch.
    const isRoot = folder === '' && event === 'rename' && name === this.#rootName;
    if (!hasFileName || isRoot) this.#options.onNotice(undefined, true);
    else this.#options.onNotice(folder === '' ? name : `${folder}/${name}`, event === 'rename');
  }

  /** A removed folder needs no watch; its parent's watch reports the removal. */
  #lose(folder: string, error: unknown): void {
    this.#close(folder);
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const isGone = code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES';
    if (!isGone || folder === '') this.#fail(messageOf(error));
  }

  #fail(reason: string): void {
    if (this.#hasFailed) return;
    this.close();
    this.#options.onFailure(reason);
  }

  /** Ends all watches; folders can be added again. */
  clear(): void {
    for (const folder of this.#watchers.keys()) this.#close(folder);
  }

  /** Ends the watches of a folder and all below it. */
  remove(folder: string): void {
    if (!this.#watchers.has(folder)) return;
    for (const one of this.#watchers.keys())
      if (one === folder || one.startsWith(`${folder}/`)) this.#close(one);
  }

  #close(folder: string): void {
    const watcher = this.#watchers.get(folder);
    if (watcher === undefined) return;
    watcher.close();
    this.#watchers.delete(folder);
    watchCount--;
  }

  close(): void {
    this.#hasFailed = true;
    this.clear();
  }
}
