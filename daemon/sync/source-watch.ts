// Watches sources while the daemon runs and indexes them: refs that move, files on disk that change, and sources that
// were missing at the start.

import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../base/caught.ts';
import type { Log } from '../base/log.ts';
import type { RepoRecord } from '../repos/records.ts';
import { RefPoller } from '../sources/git/ref-poller.ts';
import type { Catalog } from '../index/catalog/catalog.ts';
import { FileWatch } from './watch/file-watch.ts';
import { refFingerprintOfState } from '../index/served/fingerprint.ts';
import type { Indexer } from './indexer.ts';
import { pauseAfter, RefWatch } from './watch/ref-watch.ts';
import type { Served } from '../index/served/served.ts';

export interface SourceWatchOptions {
  readonly catalog: Pick<Catalog, 'repo' | 'isClone'>;
  readonly served: Pick<Served, 'records' | 'publish'>;
  readonly indexer: Pick<Indexer, 'jobs' | 'fileTracker'> & {
    readonly sources: Pick<
      Indexer['sources'],
      'retryMissing' | 'missingCount' | 'searchAgain' | 'folderCount'
    >;
  };
  /** Resolves when the named sources have been probed. */
  readonly probed: Promise<unknown>;
  readonly log: Log;
  /** Stops all work. */
  readonly signal: AbortSignal;
}

/** Starts to watch. */
export function watchSources(options: SourceWatchOptions): { readonly close: () => Promise<void> } {
  const { catalog, served, indexer, log, signal } = options;
  const { jobs, fileTracker } = indexer;
  // Clones change only when a job fetches them.
  const records = (): readonly RepoRecord[] =>
    served.records.filter(({ source }) => !catalog.isClone(source.path));
  const index = (record: RepoRecord): Promise<boolean> => jobs.indexChanged(record, signal);
  const refPoller = new RefPoller();
  const refs = new RefWatch({
    records,
    statesOf: (paths) => refPoller.poll(paths),
    wasIndexedIn: (record, state) => {
      const indexed = catalog.repo(record.repoId)?.look;
      return indexed === undefined ? undefined : indexed === refFingerprintOfState(state, record);
    },
    index,
  });
  const files = new FileWatch({ records, fileTracker, index, log });
  refs.start();
  files.start();
  // It stops silently when the daemon stops, or has no sources.
  const missing = watchMissing(options).catch(() => {});
  const folders = searchFolders(options).catch(() => {});
  const close = async (): Promise<void> => {
    refPoller.close();
    await Promise.all([missing, folders, files.close(), refs.close()]);
  };
  return { close };
}

/** Serves and indexes sources that were missing at the start once they exist; resolves when none is missing. */
async function watchMissing(options: SourceWatchOptions): Promise<void> {
  const { indexer, probed, log, signal } = options;
  await probed;
  for (let tookMs = 0; indexer.sources.missingCount > 0;) {
    await sleep(pauseAfter(tookMs), undefined, { ref: false, signal });
    const startMs = performance.now();
    await takeIn(options, indexer.sources.retryMissing(signal)).catch((error: unknown) => {
      signal.throwIfAborted();
      log.error('a missing source could not be checked', { error: messageOf(error) });
    });
    tookMs = performance.now() - startMs;
  }
}

/** Pause between searches of folders for new repositories, also as a multiple of the last one. Bound: 1% of the time. */
const SEARCH_PAUSE_MS = 5_000;
const SEARCH_PAUSE_MS_MAX = 600_000;
const SEARCH_PAUSE_FACTOR = 100;

/** Serves and indexes new repositories in folders that were named as containing some. */
async function searchFolders(options: SourceWatchOptions): Promise<void> {
  const { indexer, probed, log, signal } = options;
  await probed;
  const { sources } = indexer;
  // A missing path may become such a folder.
  for (let tookMs = 0; sources.folderCount + sources.missingCount > 0;) {
    const pauseMs = Math.max(SEARCH_PAUSE_MS, SEARCH_PAUSE_FACTOR * tookMs);
    await sleep(Math.min(pauseMs, SEARCH_PAUSE_MS_MAX), undefined, { ref: false, signal });
    const startMs = performance.now();
    await takeIn(options, sources.searchAgain(signal)).catch((error: unknown) => {
      signal.throwIfAborted();
      log.error('folders could not be searched for repositories', { error: messageOf(error) });
    });
    tookMs = performance.now() - startMs;
  }
}

async function takeIn(
  { served, indexer, signal }: SourceWatchOptions,
  looking: Promise<readonly RepoRecord[]>,
): Promise<void> {
  const come = await looking;
  if (come.length === 0) return;
  served.publish();
  indexer.jobs.indexAll(come, false, signal).catch(() => {});
}
