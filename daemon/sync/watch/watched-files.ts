// The files on disk of one repo: collects notifications for a moment, then indexes the repo, one job after the other,
// with pauses that keep the machine free for others.

import { lstatSync } from 'node:fs';
import path from 'node:path';
import { messageOf } from '../../base/caught.ts';
import type { Log } from '../../base/log.ts';
import { LoopYielder } from '../../base/next-time-slice.ts';
import { baseNameOf } from '../../base/paths.ts';
import type { RepoRecord } from '../../repos/records.ts';
import { FolderWatch } from '../../sources/disk/folder-watch.ts';
import { scanDisk, scanFolders } from '../../sources/docs/scan-thread.ts';
import { RULE_NAMES, type FileTracker } from './file-tracker.ts';
import { HOUR_MS } from '../../base/durations.ts';

/** Editors write twice, and create temporary files: a job starts after this long without notifications. */
const GATHER_MS = 60;
const GATHER_MS_MAX = 300;
/** After a job a repo rests for this multiple of its time. Bound: jobs of one repo take a third of the time. */
const REST_FACTOR = 2;
/** Bound: a quarter of the system's queue (16,384), which may overflow without a report. */
const NOTICES_MAX = 4_000;
/** Bound: delay until a missed change is noticed: all files are checked this long after a job that checked single ones, */
const RESCAN_MS = 60_000;
/** this long after the last full check, */
const IDLE_RESCAN_MS = HOUR_MS;
/** and not before this multiple of the time of such a check: checks take 1% of the time. */
const RESCAN_FACTOR = 100;
/** Same after git wrote its index, which it also does when only times changed: such checks take 10% of the time. */
const INDEX_RESCAN_MS = 2_000;
const INDEX_RESCAN_FACTOR = 10;
/** Bound: delay until a folder of a repo that was missing is noticed. */
const MISSING_MS = 10_000;
/** Pause between checks without notifications, also as a multiple of the time of a check. Bound: they take 5% of the time. */
const POLL_MS_MIN = 1_000;
const POLL_FACTOR = 20;
/** Bound: paths excluded by rules whose notifications are dropped. */
const IDLE_PATHS_MAX = 10_000;

/** Files in `.git` that decide which files belong to a work tree. */
const INDEX_FILES = new Set(['.git/index', '.git/config', '.git/info/exclude']);

export interface WatchedFilesOptions {
  readonly fileTracker: FileTracker;
  readonly index: (record: RepoRecord) => Promise<boolean>;
  readonly log: Log;
}

export class WatchedFiles {
  readonly #options: WatchedFilesOptions;
  readonly #record: RepoRecord;
  readonly #folders: FolderWatch;
  /** Paths reported since the last job began. */
  #changed = new Set<string>();
  #moved = new Set<string>();
  #noticeCount = 0;
  #firstMs: number | undefined;
  #restUntilMs = 0;
  /** Files that are not docs but are still written. */
  readonly #idlePaths = new Set<string>();
  #haveRulesChanged = false;
  #job: Promise<void> | undefined;
  #jobTimer: NodeJS.Timeout | undefined;
  #rescanTimer: NodeJS.Timeout | undefined;
  /** Time of the next full check (performance.now), and how long the last one took. */
  #rescanDueMs = Infinity;
  #rescanTookMs = 0;
  /** There are no notifications. */
  #isPolled = false;
  /** Fingerprint of the last check in that case. */
  #polled = '';
  readonly #stop = new AbortController();

  constructor(options: WatchedFilesOptions, record: RepoRecord) {
    this.#options = options;
    this.#record = record;
    this.#folders = new FolderWatch({
      root: record.source.path,
      onNotice: (location, isMoved) => this.#note(location, isMoved),
      onFailure: (reason) => this.#poll(reason),
    });
  }

  /** Starts to watch, and indexes earlier changes. Errors: none. */
  async open(): Promise<void> {
    try {
      await this.#watchAll();
    } catch (error) {
      // Files that cannot be listed cannot be indexed: the failed job is retried.
      if (!this.#stop.signal.aborted) this.#poll(messageOf(error));
    }
    if (this.#isPolled || this.#stop.signal.aborted) return;
    const scanned = this.#options.fileTracker.watch(this.#record.repoId);
    this.#start(async () => {
      await scanned;
      if (!this.#isPolled && !this.#stop.signal.aborted) await this.#compare();
    });
  }

  /** Indexes the repo unless its files are as its last job, perhaps before the watch, saw them. */
  async #compare(): Promise<void> {
    const { fileTracker } = this.#options;
    const { repoId, source } = this.#record;
    const startMs = performance.now();
    const listing = fileTracker.isKept(repoId)
      ? await scanDisk(source, undefined, this.#stop.signal).catch(() => undefined)
      : undefined;
    const isSame =
      this.#noticeCount === 0 &&
      listing !== undefined &&
      fileTracker.confirm(repoId, listing.states);
    if (!isSame) this.#note(undefined, true);
    else {
      this.#noteRescan(performance.now() - startMs);
      this.#rescanWithin(RESCAN_MS);
    }
  }

  async #watchAll(): Promise<void> {
    const { source } = this.#record;
    // Why first: rules may change while folders are listed.
    this.#haveRulesChanged = false;
    // Why all: a path may have a new folder, of which the old watch reports nothing.
    this.#folders.clear();
    if (source.kind === 'worktree')
      for (const folder of ['.git', '.git/info']) this.#folders.add(folder);
    await this.#watchFolders();
    this.#idlePaths.clear();
  }

  #note(location: string | undefined, isMoved: boolean): void {
    const { fileTracker } = this.#options;
    const { repoId } = this.#record;
    const isOfGit =
      location?.startsWith('.git/') === true && this.#record.source.kind === 'worktree';
    if (isOfGit) {
      const pauseMs = Math.max(INDEX_RESCAN_MS, INDEX_RESCAN_FACTOR * this.#rescanTookMs);
      if (INDEX_FILES.has(location)) this.#rescanWithin(pauseMs);
      return;
    }
    if (location !== undefined && this.#idlePaths.has(location)) return;
    this.#noticeCount++;
    if (location === undefined || this.#noticeCount > NOTICES_MAX) {
      fileTracker.noteChange(repoId, undefined);
      this.#haveRulesChanged = true;
    } else {
      fileTracker.noteChange(repoId, location);
      this.#changed.add(location);
      if (isMoved) this.#moved.add(location);
      if (RULE_NAMES.has(baseNameOf(location))) this.#haveRulesChanged = true;
    }
    this.#schedule();
  }

  #schedule(): void {
    if (this.#job !== undefined || this.#stop.signal.aborted) return;
    const nowMs = performance.now();
    this.#firstMs ??= nowMs;
    const quietMs = Math.min(nowMs + GATHER_MS, this.#firstMs + GATHER_MS_MAX);
    clearTimeout(this.#jobTimer);
    const pauseMs = Math.max(0, Math.max(quietMs, this.#restUntilMs) - nowMs);
    this.#jobTimer = setTimeout(() => this.#start(() => this.#run()), pauseMs).unref();
  }

  /** Runs work that no job may interrupt. */
  #start(work: () => Promise<void>): void {
    this.#firstMs = undefined;
    this.#job = work().finally(() => {
      this.#job = undefined;
      if (this.#noticeCount > 0) this.#schedule();
    });
  }

  async #run(): Promise<void> {
    const changed = this.#changed;
    const moved = this.#moved;
    const isRescan = this.#haveRulesChanged;
    this.#changed = new Set();
    this.#moved = new Set();
    this.#noticeCount = 0;
    // Why: while watches are renewed nothing is reported.
    if (isRescan) this.#options.fileTracker.noteChange(this.#record.repoId, undefined);
    const startMs = performance.now();
    try {
      if (isRescan) await this.#watchAll();
      else await this.#watchMoved(moved);
    } catch (error) {
      this.#options.log.warn('folders could not be watched', this.#fields(error));
      this.#haveRulesChanged = true;
      this.#options.fileTracker.noteChange(this.#record.repoId, undefined);
    }
    const isDone = await this.#options.index(this.#record);
    const endMs = performance.now();
    const tookMs = endMs - startMs;
    this.#restUntilMs = endMs + REST_FACTOR * tookMs;
    if (isDone) this.#noteIdle(changed);
    if (!isDone && this.#kindOf('') === undefined) this.#rescanWithin(MISSING_MS);
    else if (isRescan) this.#noteRescan(tookMs);
    else this.#rescanWithin(Math.max(RESCAN_MS, RESCAN_FACTOR * this.#rescanTookMs));
  }

  #fields(error: unknown): Record<string, string> {
    return { repo: this.#record.name, reason: messageOf(error) };
  }

  /** Watches these folders of the source and those below them; default: all. */
  async #watchFolders(within?: readonly string[]): Promise<void> {
    const yielder = new LoopYielder();
    // Why again: a folder may come between the listing of its parent and the parent's watch.
    for (let hasNew = true; hasNew;) {
      hasNew = false;
      for (const folder of await scanFolders(this.#record.source, within, this.#stop.signal)) {
        await yielder.pause();
        if (this.#folders.add(folder)) hasNew = true;
      }
    }
  }

  async #watchMoved(moved: ReadonlySet<string>): Promise<void> {
    const came: string[] = [];
    for (const location of moved) {
      this.#folders.remove(location);
      if (this.#kindOf(location) === 'folder') came.push(location);
    }
    if (came.length === 0) return;
    await this.#watchFolders(came);
  }

  #kindOf(location: string): 'folder' | 'other' | undefined {
    try {
      const status = lstatSync(path.join(this.#record.source.path, location));
      return status.isDirectory() ? 'folder' : 'other';
    } catch {
      return undefined;
    }
  }

  /** Files that exist and are not docs are ignored until rules change. */
  #noteIdle(changed: ReadonlySet<string>): void {
    if (this.#haveRulesChanged || this.#idlePaths.size > IDLE_PATHS_MAX) return;
    for (const location of changed) {
      const isDoc = this.#options.fileTracker.contains(this.#record.repoId, location);
      if (isDoc === false && this.#kindOf(location) === 'other') this.#idlePaths.add(location);
    }
  }

  /** All files were checked: the next check finds unreported changes. */
  #noteRescan(tookMs: number): void {
    this.#rescanTookMs = tookMs;
    this.#rescanDueMs = Infinity;
    if (this.#isPolled) this.#pollLater(tookMs);
    else this.#rescanWithin(Math.max(IDLE_RESCAN_MS, RESCAN_FACTOR * tookMs));
  }

  /** Checks all files after this pause, unless a check is due earlier. */
  #rescanWithin(pauseMs: number): void {
    const dueMs = performance.now() + pauseMs;
    if (this.#stop.signal.aborted || this.#isPolled || dueMs >= this.#rescanDueMs) return;
    this.#rescanDueMs = dueMs;
    clearTimeout(this.#rescanTimer);
    this.#rescanTimer = setTimeout(() => this.#rescanNow(), pauseMs).unref();
  }

  #rescanNow(): void {
    this.#rescanDueMs = Infinity;
    if (this.#kindOf('') === undefined) this.#rescanWithin(MISSING_MS);
    else this.#note(undefined, true);
  }

  /** Checks all files in intervals, because there are no notifications. */
  #poll(reason: string): void {
    this.#isPolled = true;
    this.#folders.close();
    this.#options.fileTracker.unwatch(this.#record.repoId);
    this.#options.log.warn('files cannot be watched, and are polled instead', {
      ...this.#fields(reason),
    });
    this.#pollLater(0);
  }

  #pollLater(tookMs: number): void {
    clearTimeout(this.#rescanTimer);
    if (this.#stop.signal.aborted) return;
    const pauseMs = Math.max(POLL_MS_MIN, POLL_FACTOR * tookMs);
    this.#rescanTimer = setTimeout(() => {
      this.#start(() => this.#pollOnce());
    }, pauseMs).unref();
  }

  async #pollOnce(): Promise<void> {
    const startMs = performance.now();
    try {
      const { source } = this.#record;
      const { fingerprint } = await scanDisk(source, undefined, this.#stop.signal);
      if (fingerprint !== this.#polled) await this.#options.index(this.#record);
      this.#polled = fingerprint;
    } catch {
      // A job reports the problem of the source.
      if (this.#polled !== '') await this.#options.index(this.#record);
      this.#polled = '';
    }
    this.#pollLater(performance.now() - startMs);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#jobTimer);
    clearTimeout(this.#rescanTimer);
    this.#folders.close();
    this.#options.fileTracker.unwatch(this.#record.repoId);
    await this.#job;
  }
}
