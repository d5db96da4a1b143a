// The history of the repos of one daemon: where what is kept of it lies, and when it is made quick to read.

import path from 'node:path';
import type { Configuration } from '../base/config/configuration.ts';
import { History } from '../sources/history/history.ts';
import type { RepoRecord } from '../repos/records.ts';
import type { Catalog } from '../index/catalog/catalog.ts';
import type { JobResult } from '../sync/jobs/jobs.ts';
import { messageOf } from '../base/caught.ts';
import type { Log } from '../base/log.ts';

/** Opens the reader of histories, and forgets what it has kept of repos that the catalog no longer has. */
export async function openHistory(
  configuration: Configuration,
  catalog: Catalog,
  log: Log,
): Promise<History> {
  const history = new History({
    get timeoutMs() {
      return configuration.settings.gitTimeoutMs;
    },
    get sourceSizeMax() {
      return configuration.settings.maxSourceBytes;
    },
    graphs: {
      folder: path.join(configuration.dataDir, 'history'),
      onFailure: ({ repoId }, error) =>
        log.warn('no commit graph could be written', { repoId, error: messageOf(error) }),
    },
  });
  const repoIds = new Set(catalog.repos.map(({ record }) => record.repoId));
  await history.sweep((repoId) => repoIds.has(repoId));
  return history;
}

/** Makes the histories of the repos that were built quick to read; where that fails they are read all the same. */
export async function prepareHistories(
  jobs: readonly JobResult[],
  repos: readonly RepoRecord[],
  history: History,
  signal: AbortSignal,
): Promise<void> {
  const built = new Set(jobs.filter(({ isUnchanged }) => !isUnchanged).map(({ repo }) => repo));
  for (const repo of repos) {
    if (signal.aborted) return;
    if (built.has(repo.name)) await history.prepare(repo, signal).catch(() => {});
  }
}
