// The files on disk of one repo: gathers what is told of them for a moment, and has the repo indexed then, one job after
// the other, with pauses that keep the machine free for others.

import { lstatSync } from 'node:fs';
import path from 'node:path';
import { messageOf } from '../../base/caught.ts';
import type { Log } from '../../base/log.ts';
import { baseNameOf } from '../../base/paths.ts';
import type { RepoRecord } from '../../repos/records.ts';
import { FolderWatch } from '../../sources/disk/folder-watch.ts';
import { foldersOf } from '../../sources/docs/source-folders.ts';
import { listDisk } from '../../sources/docs/source-disk.ts';
import { HOLDS_RULES, type SeenFiles } from './seen-files.ts';
import { HOUR_MS } from '../../base/durations.ts';

/** Editors write twice, and make files of their own: a job begins when nothing was told for so long, at most. */
const GATHER_MS = 60;
const GATHER_MS_MAX = 300;
/** Guess: after a job a repo rests for so many times what it took. */
const REST_FACTOR = 2;
/** Guess: the queue of the system, of 16,384, may have overflowed, which nothing tells. */
const NOTICES_MAX = 4_000;
/** Guess: all files are looked at so long after a job that looked at single ones, */
const LOOK_MS = 60_000;
/** so long after they were looked at last, */
const IDLE_LOOK_MS = HOUR_MS;
/** and no sooner than so many times what such a look takes. */
const LOOK_FACTOR = 100;
/** Guess: and so long after git wrote its index, as it also does where only times changed. */
const INDEX_LOOK_MS = 2_000;
const INDEX_LOOK_FACTOR = 10;
/** Guess: between two looks whether the folder of a repo is there again. */
const MISSING_MS = 10_000;
/** Guess: between two looks where the system tells nothing, and so many times what a look takes. */
const POLL_MS_MIN = 1_000;
const POLL_FACTOR = 20;
/** Bound: paths that rules leave out, whose notices are dropped. */
const IDLE_PATHS_MAX = 10_000;

/** Files of `.git` that say which files count to a work tree. */
const INDEX_FILES = new Set(['.git/index', '.git/config', '.git/info/exclude']);

export interface WatchedFilesOptions {
  readonly seenFiles: SeenFiles;
  /** Has a repo indexed that has changed; resolves as `Jobs.indexChanged`. Errors: none. */
  readonly index: (record: RepoRecord) => Promise<boolean>;
  readonly log: Log;
}

export class WatchedFiles {
  readonly #options: WatchedFilesOptions;
  readonly #record: RepoRecord;
  readonly #folders: FolderWatch;
  /** Paths told since the last job began. */
  #told = new Set<string>();
  /** Those of them that came or went. */
  #moved = new Set<string>();
  #noticeCount = 0;
  #firstMs: number | undefined;
  #restUntilMs = 0;
  /** Files that are no docs, and are written all the same. */
  readonly #idlePaths = new Set<string>();
  #areRulesTold = false;
  #job: Promise<void> | undefined;
  #jobTimer: NodeJS.Timeout | undefined;
  #lookTimer: NodeJS.Timeout | undefined;
  /** When all files are looked at next (performance.now), and how long that took before. */
  #lookDueMs = Infinity;
  #lookTookMs = 0;
  /** The system tells nothing. */
  #isPolled = false;
  /** Fingerprint of the last look then. */
  #polled = '';
  #isClosed = false;

  constructor(options: WatchedFilesOptions, record: RepoRecord) {
    this.#options = options;
    this.#record = record;
    this.#folders = new FolderWatch({
      root: record.source.path,
      onNotice: (place, isMoved) => this.#note(place, isMoved),
      onFailure: (reason) => this.#poll(reason),
    });
  }

  /** Begins to watch, and has what changed before indexed. Errors: none. */
  async open(): Promise<void> {
    try {
      await this.#watchAll();
    } catch (error) {
      // What cannot be listed cannot be indexed either: jobs that failed are tried again.
      this.#poll(messageOf(error));
    }
    if (this.#isPolled || this.#isClosed) return;
    const isLookedAt = this.#options.seenFiles.watch(this.#record.repoId);
    this.#start(async () => {
      await isLookedAt;
      if (!this.#isPolled && !this.#isClosed) await this.#compare();
    });
  }

  /**
   * Has the repo indexed unless files are as its last job saw them, which may have been before they were watched. Where
   * that is not kept, the job compares with what is indexed.
   */
  async #compare(): Promise<void> {
    const { seenFiles } = this.#options;
    const { repoId, source } = this.#record;
    const startMs = performance.now();
    const listing = seenFiles.isKept(repoId)
      ? await listDisk(source).catch(() => undefined)
      : undefined;
    const isSame =
      this.#noticeCount === 0 && listing !== undefined && seenFiles.confirm(repoId, listing.states);
    if (!isSame) this.#note(undefined, true);
    else {
      this.#noteLook(performance.now() - startMs);
      this.#lookWithin(LOOK_MS);
    }
  }

  /** Watches all folders that there are now, and no others. */
  async #watchAll(): Promise<void> {
    const { source } = this.#record;
    // Why first: rules may change while folders are listed.
    this.#areRulesTold = false;
    // Why all: at a path there may be another folder than before, of which its watch tells nothing.
    this.#folders.clear();
    if (source.kind === 'worktree')
      for (const folder of ['.git', '.git/info']) this.#folders.add(folder);
    for await (const folder of foldersOf(source)) this.#folders.add(folder);
    this.#idlePaths.clear();
  }

  #note(place: string | undefined, isMoved: boolean): void {
    const { seenFiles } = this.#options;
    const { repoId } = this.#record;
    const isOfGit = place?.startsWith('.git/') === true && this.#record.source.kind === 'worktree';
    if (isOfGit) {
      const pauseMs = Math.max(INDEX_LOOK_MS, INDEX_LOOK_FACTOR * this.#lookTookMs);
      if (INDEX_FILES.has(place)) this.#lookWithin(pauseMs);
      return;
    }
    if (place !== undefined && this.#idlePaths.has(place)) return;
    this.#noticeCount++;
    if (place === undefined || this.#noticeCount > NOTICES_MAX) {
      seenFiles.tell(repoId, undefined);
      this.#areRulesTold = true;
    } else {
      seenFiles.tell(repoId, place);
      this.#told.add(place);
      if (isMoved) this.#moved.add(place);
      if (HOLDS_RULES.has(baseNameOf(place))) this.#areRulesTold = true;
    }
    this.#schedule();
  }

  #schedule(): void {
    if (this.#job !== undefined || this.#isClosed) return;
    const nowMs = performance.now();
    this.#firstMs ??= nowMs;
    const quietMs = Math.min(nowMs + GATHER_MS, this.#firstMs + GATHER_MS_MAX);
    clearTimeout(this.#jobTimer);
    const pauseMs = Math.max(0, Math.max(quietMs, this.#restUntilMs) - nowMs);
    this.#jobTimer = setTimeout(() => this.#start(() => this.#run()), pauseMs).unref();
  }

  /** Does something that no job may come between. */
  #start(work: () => Promise<void>): void {
    this.#firstMs = undefined;
    this.#job = work().finally(() => {
      this.#job = undefined;
      if (this.#noticeCount > 0) this.#schedule();
    });
  }

  async #run(): Promise<void> {
    const told = this.#told;
    const moved = this.#moved;
    const isLook = this.#areRulesTold;
    this.#told = new Set();
    this.#moved = new Set();
    this.#noticeCount = 0;
    // Why: while they are watched anew nothing is told.
    if (isLook) this.#options.seenFiles.tell(this.#record.repoId, undefined);
    const startMs = performance.now();
    try {
      if (isLook) await this.#watchAll();
      else await this.#watchMoved(moved);
    } catch (error) {
      this.#options.log.warn('folders could not be watched', this.#fields(error));
      this.#areRulesTold = true;
      this.#options.seenFiles.tell(this.#record.repoId, undefined);
    }
    const isDone = await this.#options.index(this.#record);
    const endMs = performance.now();
    const tookMs = endMs - startMs;
    this.#restUntilMs = endMs + REST_FACTOR * tookMs;
    if (isDone) this.#noteIdle(told);
    if (!isDone && this.#kindOf('') === undefined) this.#lookWithin(MISSING_MS);
    else if (isLook) this.#noteLook(tookMs);
    else this.#lookWithin(Math.max(LOOK_MS, LOOK_FACTOR * this.#lookTookMs));
  }

  #fields(error: unknown): Record<string, string> {
    return { repo: this.#record.name, reason: messageOf(error) };
  }

  /** Watches folders that came, and those no more that went. */
  async #watchMoved(moved: ReadonlySet<string>): Promise<void> {
    const { source } = this.#record;
    const came: string[] = [];
    for (const place of moved) {
      this.#folders.remove(place);
      if (this.#kindOf(place) === 'folder') came.push(place);
    }
    if (came.length === 0) return;
    for await (const folder of foldersOf(source, came)) this.#folders.add(folder);
  }

  #kindOf(place: string): 'folder' | 'other' | undefined {
    try {
      const status = lstatSync(path.join(this.#record.source.path, place));
      return status.isDirectory() ? 'folder' : 'other';
    } catch {
      return undefined;
    }
  }

  /** Files that are there and no docs are not listened to until rules change. */
  #noteIdle(told: ReadonlySet<string>): void {
    if (this.#areRulesTold || this.#idlePaths.size > IDLE_PATHS_MAX) return;
    for (const place of told) {
      const isDoc = this.#options.seenFiles.holds(this.#record.repoId, place);
      if (isDoc === false && this.#kindOf(place) === 'other') this.#idlePaths.add(place);
    }
  }

  /** All files have been looked at: what was not told is found by the next look. */
  #noteLook(tookMs: number): void {
    this.#lookTookMs = tookMs;
    this.#lookDueMs = Infinity;
    if (this.#isPolled) this.#pollLater(tookMs);
    else this.#lookWithin(Math.max(IDLE_LOOK_MS, LOOK_FACTOR * tookMs));
  }

  /** Has all files looked at after this pause, if that is sooner than the next look. */
  #lookWithin(pauseMs: number): void {
    const dueMs = performance.now() + pauseMs;
    if (this.#isClosed || this.#isPolled || dueMs >= this.#lookDueMs) return;
    this.#lookDueMs = dueMs;
    clearTimeout(this.#lookTimer);
    this.#lookTimer = setTimeout(() => this.#lookNow(), pauseMs).unref();
  }

  /** Has all files looked at, if the repo's folder is there. */
  #lookNow(): void {
    this.#lookDueMs = Infinity;
    if (this.#kindOf('') === undefined) this.#lookWithin(MISSING_MS);
    else this.#note(undefined, true);
  }

  /** Looks at all files now and then, as nothing tells of them. */
  #poll(reason: string): void {
    this.#isPolled = true;
    this.#folders.close();
    this.#options.seenFiles.unwatch(this.#record.repoId);
    this.#options.log.warn('files are looked at now and then, not watched', {
      ...this.#fields(reason),
    });
    this.#pollLater(0);
  }

  #pollLater(tookMs: number): void {
    clearTimeout(this.#lookTimer);
    if (this.#isClosed) return;
    const pauseMs = Math.max(POLL_MS_MIN, POLL_FACTOR * tookMs);
    this.#lookTimer = setTimeout(() => {
      this.#start(() => this.#pollOnce());
    }, pauseMs).unref();
  }

  async #pollOnce(): Promise<void> {
    const startMs = performance.now();
    try {
      const { fingerprint } = await listDisk(this.#record.source);
      if (fingerprint !== this.#polled) await this.#options.index(this.#record);
      this.#polled = fingerprint;
    } catch {
      // A job says what is wrong with the source.
      if (this.#polled !== '') await this.#options.index(this.#record);
      this.#polled = '';
    }
    this.#pollLater(performance.now() - startMs);
  }

  /** Watches no more; resolves when no job of it is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#jobTimer);
    clearTimeout(this.#lookTimer);
    this.#folders.close();
    this.#options.seenFiles.unwatch(this.#record.repoId);
    await this.#job;
  }
}
