// Watches sources while the daemon runs and indexes them: refs that move, files on disk that change, and sources that
// were missing at the start.

import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../base/caught.ts';
import type { Log } from '../base/log.ts';
import type { RepoRecord } from '../repos/records.ts';
import { RefLooks } from '../sources/git/ref-looks.ts';
import type { Catalog } from '../index/catalog/catalog.ts';
import { FileWatch } from './watch/file-watch.ts';
import { lookOfState } from '../index/served/fingerprint.ts';
import type { Indexer } from './indexer.ts';
import { pauseAfter, RefWatch } from './watch/ref-watch.ts';
import type { Served } from '../index/served/served.ts';

export interface SourceWatchOptions {
  readonly catalog: Pick<Catalog, 'repo' | 'isClone'>;
  readonly served: Pick<Served, 'records' | 'publish'>;
  readonly indexer: Pick<Indexer, 'jobs' | 'seenFiles'> & {
    readonly sources: Pick<
      Indexer['sources'],
      'lookAgain' | 'missingCount' | 'searchAgain' | 'folderCount'
    >;
  };
  /** Resolves when the named sources have been probed. */
  readonly looked: Promise<unknown>;
  readonly log: Log;
  /** Stops all work. */
  readonly signal: AbortSignal;
}

/** Starts to watch. */
export function watchSources(options: SourceWatchOptions): { readonly close: () => Promise<void> } {
  const { catalog, served, indexer, log, signal } = options;
  const { jobs, seenFiles } = indexer;
  // Clones change only when a job fetches them.
  const records = (): readonly RepoRecord[] =>
    served.records.filter(({ source }) => !catalog.isClone(source.path));
  const index = (record: RepoRecord): Promise<boolean> => jobs.indexChanged(record, signal);
  const looks = new RefLooks();
  const refs = new RefWatch({
    records,
    statesOf: (paths) => looks.look(paths),
    wasIndexedIn: (record, state) => {
      const look = catalog.repo(record.repoId)?.look;
      return look === undefined ? undefined : look === lookOfState(state, record);
    },
    index,
  });
  const files = new FileWatch({ records, seenFiles, index, log });
  refs.start();
  files.start();
  // It stops silently when the daemon stops, or has no sources.
  const missing = watchMissing(options).catch(() => {});
  const folders = searchFolders(options).catch(() => {});
  const close = async (): Promise<void> => {
    looks.close();
    await Promise.all([missing, folders, files.close(), refs.close()]);
  };
  return { close };
}

/** Serves and indexes sources that were missing at the start once they exist; resolves when none is missing. */
async function watchMissing(options: SourceWatchOptions): Promise<void> {
  const { indexer, looked, log, signal } = options;
  await looked;
  for (let tookMs = 0; indexer.sources.missingCount > 0;) {
    await sleep(pauseAfter(tookMs), undefined, { ref: false, signal });
    const startMs = performance.now();
    await takeIn(options, indexer.sources.lookAgain(signal)).catch((error: unknown) => {
      signal.throwIfAborted();
      log.error('a missing source could not be checked', { error: messageOf(error) });
    });
    tookMs = performance.now() - startMs;
  }
}

/** Guess: pause between searches of folders for new repositories, and as a multiple of the time of the last one. */
const SEARCH_PAUSE_MS = 5_000;
const SEARCH_PAUSE_MS_MAX = 600_000;
const SEARCH_PAUSE_FACTOR = 100;

/** Serves and indexes new repositories in folders that were named as containing some. */
async function searchFolders(options: SourceWatchOptions): Promise<void> {
  const { indexer, looked, log, signal } = options;
  await looked;
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
