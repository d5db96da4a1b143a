// What the configuration says of lists of readers (API.md 4.13): whose count, and for how long.

import type { Configuration } from '../base/config/configuration.ts';

export interface HostRules {
  /** Connections with `syncPermissions`; another object once they changed. */
  readonly connections: () => ReadonlySet<string>;
  /** `permissionSyncMaxAgeMs`. */
  readonly ageMsMax: () => number;
  /** `permissionSyncIntervalMs`. */
  readonly intervalMs: () => number;
}

/** As the configuration says it from time to time. */
export function hostRulesOf(
  configuration: Pick<Configuration, 'connections' | 'settings'>,
): HostRules {
  let of: Configuration['connections'] | undefined;
  let names: ReadonlySet<string> = new Set();
  return {
    connections: () => {
      if (of !== configuration.connections) {
        of = configuration.connections;
        names = syncingIn(of);
      }
      return names;
    },
    ageMsMax: () => configuration.settings.permissionSyncMaxAgeMs,
    intervalMs: () => configuration.settings.permissionSyncIntervalMs,
  };
}

function syncingIn(connections: Configuration['connections']): ReadonlySet<string> {
  const syncing = Object.entries(connections).filter(
    ([, settings]) => 'syncPermissions' in settings && settings.syncPermissions,
  );
  return new Set(syncing.map(([name]) => name));
}
