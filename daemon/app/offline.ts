// Opens a data directory to change its accounts while no daemon runs: lock, catalog and store, without engine and
// server.

import { backupSource } from '../backup/backup-source.ts';
import { takeDataDir } from '../index/catalog/data-dir.ts';
import type { Configuration } from '../base/config/configuration.ts';
import { openControlPlane } from './control-plane.ts';
import { openIndex } from './open-index.ts';
import type { RepoRules } from '../api/operator/operation.ts';
import { type OperatorApi, operatorApiOf } from '../api/operator/operations.ts';
import { omitUndefined } from '../base/omit-undefined.ts';
import { removeOffline, unlistedOf } from '../sync/connections/remove-repos.ts';
import { RepoDirectory } from '../repos/directory.ts';
import type { Store } from '../store/store.ts';
import type { Log } from '../base/log.ts';

export interface Offline {
  readonly operatorApi: OperatorApi;
  close(): Promise<void>;
}

/**
 * Opens the data directory of the configuration; creates it if missing.
 *
 * Errors: LockedError if it has an owner; those of openControlPlane; an unreadable catalog.
 */
export async function openOffline(configuration: Configuration, log: Log): Promise<Offline> {
  const { dataDir, databaseUrl } = configuration;
  const unlock = await takeDataDir(dataDir, true);
  let open: Store | undefined;
  try {
    const { catalog, store, registry } = await openIndex(dataDir, databaseUrl?.reveal(), log);
    open = store;
    const repos = catalog.repos.map(({ record }) => registry.ruled(record));
    const directory = new RepoDirectory(() => repos);
    // Only the daemon creates the owner given by the environment.
    const control = await openControlPlane(
      { ...configuration, owner: undefined },
      directory,
      log,
      Date.now,
      store,
    );
    const { accounts } = control;
    const instance = {
      accounts,
      repos: {
        list: () =>
          registry.all.map((repo) => ({
            ...repo,
            isListed: unlistedOf(registry.stored, [repo.repoId]).size === 0,
            ...omitUndefined({ indexedAt: catalog.repo(repo.repoId)?.record.indexedAt }),
          })),
        change: (...call: Parameters<RepoRules['change']>) => registry.change(...call),
        remove: (...call: Parameters<RepoRules['remove']>) =>
          removeOffline({ catalog, registry }, ...call),
      },
      baseUrl:
        configuration.baseUrl ??
        (await accounts.lastBaseUrl()) ??
        `http://localhost:${configuration.port}`,
    };
    return {
      operatorApi: operatorApiOf(instance, backupSource(configuration, catalog, store)),
      async close() {
        await control.close();
        await store.close();
        unlock();
      },
    };
  } catch (error) {
    await open?.close();
    unlock();
    throw error;
  }
}
