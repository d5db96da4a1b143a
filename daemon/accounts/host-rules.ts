// Configuration of reader lists (API.md 4.13): whose lists count, and for how long; and the code host accounts linked with
// users: those of a sign-on whose provider is also the host of a connection.

import type { Configuration } from '../base/config/configuration.ts';
import { type HostAccount, listingConnection } from '../store/host-readers.ts';
import type { Store } from '../store/store.ts';

/** Connections are texts of `listingConnection`. */
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
  instance: string,
): HostRules {
  let of: Configuration['connections'] | undefined;
  let current: ReadonlySet<string> = new Set();
  return {
    connections: () => {
      if (of !== configuration.connections) {
        of = configuration.connections;
        current = new Set(syncingIn(of, instance));
      }
      return current;
    },
    connectionsOf: (issuer) =>
      syncingIn(configuration.connections, instance, (url) => isSame(url, issuer)),
    ageMsMax: () => configuration.settings.permissionSyncMaxAgeMs,
    intervalMs: () => configuration.settings.permissionSyncIntervalMs,
  };
}

function syncingIn(
  connections: Configuration['connections'],
  instance: string,
  isIntended: (url: string) => boolean = () => true,
): string[] {
  return Object.entries(connections).flatMap(([name, settings]) =>
    'syncPermissions' in settings && settings.syncPermissions && isIntended(settings.url)
      ? [listingConnection(instance, name, settings)]
      : [],
  );
}

/**
 * Why by the address: an issuer that is the host itself uses the host's account ids. GitLab is an OpenID Connect issuer
 * whose `sub` is the id of the user; GitHub's own sign-on gives that id.
 */
function isSame(url: string, issuer: string): boolean {
  return URL.canParse(issuer) && new URL(`${url}/`).href === new URL(`${issuer}/`).href;
}

type Rules = Pick<HostRules, 'connectionsOf'>;

/** Accounts of a user, once for each connection to the host. */
export async function hostAccountsOf(
  { signOnAccounts }: Pick<Store, 'signOnAccounts'>,
  { connectionsOf }: Rules,
  userId: string,
): Promise<readonly HostAccount[]> {
  const accounts = await signOnAccounts.of(userId);
  return accounts.flatMap(({ issuer, subject }) =>
    connectionsOf(issuer).map((connection) => ({ connection, accountId: subject })),
  );
}

/** Users whose accounts are in lists of a repo, once for each list. */
export async function linkedReaders(
  { signOnAccounts, hostReaders }: Pick<Store, 'signOnAccounts' | 'hostReaders'>,
  { connectionsOf }: Rules,
  repoId: number,
): Promise<{ readonly userId: string; readonly connection: string }[]> {
  const found: { readonly userId: string; readonly connection: string }[] = [];
  for (const issuer of await signOnAccounts.issuers()) {
    const connections = connectionsOf(issuer);
    if (connections.length === 0) continue;
    const accounts = await signOnAccounts.ofIssuer(issuer);
    const userIds = new Map(accounts.map(({ subject, userId }) => [subject, userId]));
    for (const connection of connections)
      for (const id of await hostReaders.accountsAmong(repoId, connection, [...userIds.keys()]))
        found.push({ userId: userIds.get(id)!, connection });
  }
  return found;
}
