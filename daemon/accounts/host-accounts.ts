// Code host accounts linked with users: those of a sign-on whose provider is also the host of a connection (API.md 4.13).

import type { HostRules } from './host-rules.ts';
import type { HostAccount } from '../store/host-readers.ts';
import type { Store } from '../store/store.ts';

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
