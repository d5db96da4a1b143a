// Configuration of reader lists (API.md 4.13): whose lists count, and for how long.

import type { Configuration } from '../base/config/configuration.ts';

export interface HostRules {
  /** Connections with `syncPermissions`; a new object after each change. */
  readonly connections: () => ReadonlySet<string>;
  /** Connections with `syncPermissions` whose host is this issuer of accounts: address of the issuer -> connections. */
  readonly connectionsOf: (issuer: string) => readonly string[];
  /** `permissionSyncMaxAgeMs`. */
  readonly ageMsMax: () => number;
  /** `permissionSyncIntervalMs`. */
  readonly intervalMs: () => number;
}

/** Reads the current configuration at each call. */
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
    connectionsOf: (issuer) => connectionsOf(configuration.connections, issuer),
    ageMsMax: () => configuration.settings.permissionSyncMaxAgeMs,
    intervalMs: () => configuration.settings.permissionSyncIntervalMs,
  };
}

/**
 * Why by the address: an issuer that is the host itself uses the host's account ids. GitLab is an OpenID Connect issuer
 * whose `sub` is the id of the user; GitHub's own sign-on gives that id.
 */
function connectionsOf(connections: Configuration['connections'], issuer: string): string[] {
  return Object.entries(connections).flatMap(([name, settings]) =>
    'syncPermissions' in settings && settings.syncPermissions && isSame(settings.url, issuer)
      ? [name]
      : [],
  );
}

function isSame(url: string, issuer: string): boolean {
  return URL.canParse(issuer) && new URL(`${url}/`).href === new URL(`${issuer}/`).href;
}

function syncingIn(connections: Configuration['connections']): ReadonlySet<string> {
  const syncing = Object.entries(connections).filter(
    ([, settings]) => 'syncPermissions' in settings && settings.syncPermissions,
  );
  return new Set(syncing.map(([name]) => name));
}
