// A data directory opened to change its accounts while no daemon runs: locked, with its catalog and its store, without
// engine and server.

import { Catalog } from './shards/catalog.ts';
import { takeDataDir } from './shards/data-dir.ts';
import type { Configuration } from './config/configuration.ts';
import { type ControlPlane, openControlPlane } from './control-plane.ts';
import type { OperatorContext } from './operator/operation.ts';
import { RepoDirectory } from './repos/directory.ts';
import type { Log } from './telemetry/log.ts';

export interface Offline extends OperatorContext {
  readonly catalog: Catalog;
  readonly control: ControlPlane;
  close(): Promise<void>;
}

/**
 * Opens the data directory of the configuration, made if missing.
 *
 * Errors: LockedError if it has an owner; those of openControlPlane; a catalog that cannot be read.
 */
export async function openOffline(configuration: Configuration, log: Log): Promise<Offline> {
  const { dataDir } = configuration;
  const unlock = await takeDataDir(dataDir, true);
  try {
    const catalog = new Catalog(dataDir);
    await catalog.load();
    const repos = catalog.repos.map(({ record }) => record);
    const directory = new RepoDirectory(() => repos);
    // The owner of the environment is made by the daemon.
    const control = await openControlPlane({ ...configuration, owner: undefined }, directory, log);
    return {
      catalog,
      control,
      accounts: control.accounts,
      baseUrl: configuration.baseUrl ?? `http://localhost:${configuration.port}`,
      async close() {
        await control.close();
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
}
