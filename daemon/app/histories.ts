// Reads and prepares the commit histories of the repos of one daemon.

import path from 'node:path';
import type { Configuration } from '../base/config/configuration.ts';
import { History } from '../sources/history/history.ts';
import type { RepoRecord } from '../repos/records.ts';
import type { Catalog } from '../index/catalog/catalog.ts';
import type { JobResult } from '../sync/jobs/jobs.ts';
import { messageOf } from '../base/caught.ts';
import type { Log } from '../base/log.ts';

/** Opens the history reader, and drops cached data of repos that the catalog no longer has. */
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

/**
 * Writes commit graphs for the built repos, which makes their histories fast to read; without one they are only slower.
 */
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
