// Watches sources while the daemon runs and indexes them: refs that move, files on disk that change, and sources that
// were missing at the start.

import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../base/caught.ts';
import type { Log } from '../base/log.ts';
import type { RepoRecord } from '../repos/records.ts';
import { RefPoller } from '../sources/git/ref-poller.ts';
import type { Catalog } from '../index/catalog/catalog.ts';
import { WatchedFiles, type WatchedFilesOptions } from './watch/watched-files.ts';
import { refFingerprintOfState } from '../index/served/fingerprint.ts';
import type { Indexer } from './indexer.ts';
import { RefWatch } from './watch/ref-watch.ts';
import type { Served } from '../index/served/served.ts';

export interface SourceWatchOptions {
  readonly catalog: Pick<Catalog, 'repo' | 'isMirror'>;
  readonly served: Pick<Served, 'records' | 'publish'>;
  readonly indexer: Pick<Indexer, 'jobs' | 'fileTracker'> & {
    readonly sources: Pick<Indexer['sources'], 'findNew' | 'openCount'>;
  };
  /** Resolves when the named sources have been probed. */
  readonly probed: Promise<unknown>;
  readonly log: Log;
  readonly signal: AbortSignal;
}

export function watchSources(options: SourceWatchOptions): { readonly close: () => Promise<void> } {
  const { catalog, served, indexer, log, signal } = options;
  const { jobs, fileTracker } = indexer;
  const records = recordsWithoutMirrors(catalog, served);
  const index = (record: RepoRecord): Promise<boolean> => jobs.indexChanged(record, signal);
  const refPoller = new RefPoller();
  const refs = new RefWatch({
    records,
    statesOf: (paths) => refPoller.poll(paths),
    wasIndexedIn: (record, state) => {
      const indexed = catalog.repo(record.repoId);
      if (record.source.kind !== 'commits' || indexed?.record.indexedAt === undefined)
        return undefined;
      // A job with a warning notes no state: refs may have moved since it read them.
      return indexed.look === refFingerprintOfState(state, record);
    },
    index: (record) => void index(record),
  });
  const files = new FileWatch({ records, fileTracker, index, log });
  refs.start();
  files.start();
  const paths = searchPaths(options).catch(() => {});
  const close = async (): Promise<void> => {
    refPoller.close();
    await Promise.all([paths, files.close(), refs.close()]);
  };
  return { close };
}

/** Mirrors change only when a job fetches them. The same array while nothing changes. */
function recordsWithoutMirrors(
  catalog: Pick<Catalog, 'isMirror'>,
  served: Pick<Served, 'records'>,
): () => readonly RepoRecord[] {
  let all: readonly RepoRecord[] = [];
  let others = all;
  return () => {
    if (served.records === all) return others;
    all = served.records;
    others = all.filter(({ source }) => !catalog.isMirror(source.path));
    return others;
  };
}

/** Pause between searches of named paths, also as a multiple of the time of the last one. Bound: 1% of the time. */
const SEARCH_PAUSE_MS = 1_000;
const SEARCH_PAUSE_MS_MAX = 600_000;
const SEARCH_PAUSE_FACTOR = 100;

/** Serves and indexes sources that were missing at the start, and new repositories in named folders. */
async function searchPaths({
  served,
  indexer: { sources, jobs },
  probed,
  log,
  signal,
}: SourceWatchOptions): Promise<void> {
  await probed;
  for (let tookMs = 0; sources.openCount > 0;) {
    const pauseMs = Math.max(SEARCH_PAUSE_MS, SEARCH_PAUSE_FACTOR * tookMs);
    await sleep(Math.min(pauseMs, SEARCH_PAUSE_MS_MAX), undefined, { ref: false, signal });
    const startMs = performance.now();
    try {
      const come = await sources.findNew(signal);
      if (come.length > 0) {
        served.publish();
        jobs.indexAll(come, false, signal).catch(() => {});
      }
    } catch (error) {
      signal.throwIfAborted();
      log.error('named paths could not be searched for sources', { error: messageOf(error) });
    }
    tookMs = performance.now() - startMs;
  }
}

interface FileWatchOptions extends WatchedFilesOptions {
  readonly records: () => readonly RepoRecord[];
}

/** Bound: delay until an added repo is watched. */
const PAUSE_MS = 500;

/** Watches the files on disk of the served repos. */
class FileWatch {
  readonly #options: FileWatchOptions;
  readonly #watched = new Map<string, WatchedFiles>();
  /** Of watches that were removed: they end after their running jobs. */
  readonly #closing = new Set<Promise<void>>();
  /** Those of the last check. */
  #records: readonly RepoRecord[] = [];
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
    const records = this.#options.records();
    // Measured: comparing 5,000 repos takes 50 ms of the main thread.
    if (records !== this.#records) await this.#watch(records);
    this.#records = records;
    if (!this.#isClosed) this.#timer = setTimeout(() => this.start(), PAUSE_MS).unref();
  }

  async #watch(records: readonly RepoRecord[]): Promise<void> {
    const onDisk = records.filter(({ source }) => source.kind !== 'commits');
    const byKey = new Map(
      onDisk.map((record) => [`${record.repoId} ${JSON.stringify(record.source)}`, record]),
    );
    for (const [key, watched] of this.#watched) {
      if (byKey.has(key)) continue;
      this.#watched.delete(key);
      this.#closeLater(watched);
    }
    for (const [key, record] of byKey) {
      if (this.#isClosed) return;
      if (this.#watched.has(key)) continue;
      const watched = new WatchedFiles(this.#options, record);
      this.#watched.set(key, watched);
      await watched.open();
    }
  }

  /** Why not awaited: a job may be queued for long, and added repos must be watched meanwhile. */
  #closeLater(watched: WatchedFiles): void {
    const closing = watched.close().then(() => void this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#round;
    for (const watched of this.#watched.values()) await watched.close();
    await Promise.all(this.#closing);
  }
}
