// What decides who may ask, and how often: the store and what works on it, opened and closed together. The daemon
// serves it; the command line opens it where no daemon runs.

import { Accounts } from './accounts/accounts.ts';
import type { Configuration } from './config/configuration.ts';
import { readProductVersion } from './config/version.ts';
import { Ledger } from './limits/ledger.ts';
import type { RepoDirectory } from './repos/directory.ts';
import { openStore, type Store } from './store/store.ts';
import type { Log } from './telemetry/log.ts';

export interface ControlPlane {
  readonly store: Store;
  readonly accounts: Accounts;
  readonly ledger: Ledger;
  /** Writes what waits to be written. */
  readonly close: () => Promise<void>;
}

/**
 * The data directory must be there, and locked.
 *
 * @param now  milliseconds since the epoch
 *
 * Errors: NOT_READY if the store cannot be opened; ConfigError.
 */
export async function openControlPlane(
  configuration: Configuration,
  directory: RepoDirectory,
  log: Log,
  now: () => number = Date.now,
): Promise<ControlPlane> {
  const { dataDir, databaseUrl } = configuration;
  const store = await openStore({ dataDir, databaseUrl: databaseUrl?.reveal(), log });
  try {
    const version = readProductVersion();
    const accounts = await Accounts.open({ configuration, store, directory, version, log, now });
    const ledger = new Ledger({ store: store.usage, log });
    return {
      store,
      accounts,
      ledger,
      close: async () => {
        await ledger.close();
        await accounts.close();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}
