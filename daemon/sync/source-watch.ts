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
  // Mirrors change only when a job fetches them.
  const records = (): readonly RepoRecord[] =>
    served.records.filter(({ source }) => !catalog.isMirror(source.path));
  const index = (record: RepoRecord): Promise<boolean> => jobs.indexChanged(record, signal);
  const refPoller = new RefPoller();
  const refs = new RefWatch({
    records,
    statesOf: (paths) => refPoller.poll(paths),
    wasIndexedIn: (record, state) => {
      const indexed = catalog.repo(record.repoId)?.look;
      return indexed === undefined ? undefined : indexed === refFingerprintOfState(state, record);
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
