// Opens and closes the parts that authenticate and limit callers.

import { Accounts } from '../accounts/accounts.ts';
import type { Configuration } from '../base/config/configuration.ts';
import { readProductVersion } from '../base/config/version.ts';
import { Ledger } from '../accounts/limits.ts';
import { instanceOf } from './open-index.ts';
import type { RepoDirectory } from '../repos/directory.ts';
import type { Store } from '../store/store.ts';
import type { Log } from '../base/log.ts';

export interface ControlPlane {
  readonly store: Store;
  readonly accounts: Accounts;
  readonly ledger: Ledger;
  /** Problems, as sentences for owners; empty: none. */
  readonly degraded: () => readonly string[];
  /** The store has been away longer than callers may be served without it: nobody is authenticated any more. */
  readonly isLost: () => boolean;
  readonly close: () => Promise<void>;
}

/** The data directory must be locked; the store stays open. Errors: NOT_READY without the store; ConfigError. */
export async function openControlPlane(
  configuration: Configuration,
  directory: RepoDirectory,
  log: Log,
  store: Store,
  now: () => number = Date.now,
): Promise<ControlPlane> {
  const version = readProductVersion();
  const instance = instanceOf(store, configuration.dataDir);
  const accounts = await Accounts.open({
    configuration,
    store,
    directory,
    instance,
    version,
    log,
    now,
  });
  const ledger = new Ledger({
    store: store.usage,
    log,
    get creditMs() {
      return configuration.settings.storeGraceMs;
    },
  });
  return {
    store,
    accounts,
    ledger,
    degraded: () => degradationsOf(store),
    isLost: () => store.isAway && store.uninformedMs > configuration.settings.storeGraceMs,
    close: async () => {
      await ledger.close();
      await accounts.close();
    },
  };
}

function degradationsOf({ isAway, lastError }: Store): string[] {
  if (isAway) return ['the store does not answer'];
  return lastError === undefined ? [] : [`the store fails: ${lastError}`];
}
