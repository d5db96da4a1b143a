// Watches sources while the daemon runs and indexes them: refs that move, files on disk that change, and sources that
// were missing at the start.

import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../base/caught.ts';
import type { Log } from '../base/log.ts';
import { Slots } from '../base/slots.ts';
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
/** Guess: large repos that are opened at a time, and may delay others. */
const OPENING_MAX = 4;

/** Watches the files on disk of the served repos. */
class FileWatch {
  readonly #options: FileWatchOptions;
  readonly #watched = new Map<string, WatchedFiles>();
  readonly #slots = new Slots({ runningMax: OPENING_MAX });
  /** Watches that are being opened, and removed ones, which end after their running jobs. */
  readonly #unfinished = new Set<Promise<void>>();
  /** Those of the last check. */
  #records: readonly RepoRecord[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FileWatchOptions) {
    this.#options = options;
  }

  start(): void {
    const records = this.#options.records();
    // Measured: comparing 5,000 repos takes 50 ms of the main thread.
    if (records !== this.#records) this.#watch(records);
    this.#records = records;
    this.#timer = setTimeout(() => this.start(), PAUSE_MS).unref();
  }

  #watch(records: readonly RepoRecord[]): void {
    const onDisk = records.filter(({ source }) => source.kind !== 'commits');
    const byKey = new Map(
      onDisk.map((record) => [`${record.repoId} ${JSON.stringify(record.source)}`, record]),
    );
    for (const [key, watched] of this.#watched) {
      if (byKey.has(key)) continue;
      this.#watched.delete(key);
      // A job may be queued for long.
      this.#finishLater(watched.close());
    }
    for (const [key, record] of byKey) {
      if (this.#watched.has(key)) continue;
      const watched = new WatchedFiles(this.#options, record);
      this.#watched.set(key, watched);
      this.#finishLater(this.#slots.run('', undefined, () => watched.open()));
    }
  }

  /** Why not awaited: the others must be watched meanwhile. */
  #finishLater(work: Promise<void>): void {
    const unfinished = work.then(() => void this.#unfinished.delete(unfinished));
    this.#unfinished.add(unfinished);
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await Promise.all([...this.#watched.values()].map((watched) => watched.close()));
    await Promise.all(this.#unfinished);
  }
}
