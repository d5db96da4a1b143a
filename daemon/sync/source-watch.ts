// What the daemon looks for while it runs: repositories whose refs move, files on disk that change, sources that were missing
// at the start. It has those indexed.

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
  /** Resolves when the sources that were named have been looked at. */
  readonly looked: Promise<unknown>;
  readonly log: Log;
  /** Ends what is under way. */
  readonly signal: AbortSignal;
}

/** Watches from now on. */
export function watchSources(options: SourceWatchOptions): { readonly close: () => Promise<void> } {
  const { catalog, served, indexer, log, signal } = options;
  const { jobs, seenFiles } = indexer;
  // What is cloned moves when it is fetched, by a job.
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
  // It ends without a word when the daemon stops, or has no sources.
  const missing = watchMissing(options).catch(() => {});
  const folders = searchFolders(options).catch(() => {});
  const close = async (): Promise<void> => {
    looks.close();
    await Promise.all([missing, folders, files.close(), refs.close()]);
  };
  return { close };
}

/** Serves and indexes sources that were missing at the start as soon as they are there; resolves when none is. */
async function watchMissing(options: SourceWatchOptions): Promise<void> {
  const { indexer, looked, log, signal } = options;
  await looked;
  for (let tookMs = 0; indexer.sources.missingCount > 0;) {
    await sleep(pauseAfter(tookMs), undefined, { ref: false, signal });
    const startMs = performance.now();
    await takeIn(options, indexer.sources.lookAgain(signal)).catch((error: unknown) => {
      signal.throwIfAborted();
      log.error('a missing source was not looked at', { error: messageOf(error) });
    });
    tookMs = performance.now() - startMs;
  }
}

/** Guess: between two looks into folders for further repositories, and so many times what one took. */
const SEARCH_PAUSE_MS = 5_000;
const SEARCH_PAUSE_MS_MAX = 600_000;
const SEARCH_PAUSE_FACTOR = 100;

/** Serves and indexes repositories that come into folders which were named as holding some. */
async function searchFolders(options: SourceWatchOptions): Promise<void> {
  const { indexer, looked, log, signal } = options;
  await looked;
  const { sources } = indexer;
  // What is missing may come to be such a folder.
  for (let tookMs = 0; sources.folderCount + sources.missingCount > 0;) {
    const pauseMs = Math.max(SEARCH_PAUSE_MS, SEARCH_PAUSE_FACTOR * tookMs);
    await sleep(Math.min(pauseMs, SEARCH_PAUSE_MS_MAX), undefined, { ref: false, signal });
    const startMs = performance.now();
    await takeIn(options, sources.searchAgain(signal)).catch((error: unknown) => {
      signal.throwIfAborted();
      log.error('folders were not searched for repositories', { error: messageOf(error) });
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
