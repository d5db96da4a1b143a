// Connects the lists of who may read repositories at their hosts with the accounts, which decide what they give.

import type { Accounts } from '../accounts/accounts.ts';
import { OPERATOR } from '../accounts/audit-log.ts';
import type { Log } from '../base/log.ts';
import { MemberSync, type MemberSyncOptions } from '../sync/members/member-sync.ts';

export function memberSyncOf(
  accounts: Accounts,
  connections: Pick<MemberSyncOptions, 'reposOf' | 'hostOf' | 'relist'>,
  log: Log,
): MemberSync {
  const { store, hostLists: lists, hostRules: rules, auditLog, directory, now } = accounts;
  return new MemberSync({
    store,
    lists,
    rules,
    ...connections,
    countsOf: async (connection) => {
      const issuers = await store.signOnAccounts.issuers();
      const own = issuers.filter((issuer) => rules.connectionsOf(issuer).includes(connection));
      return store.hostReaders.counts(connection, own);
    },
    // Only counts: the people themselves are the host's data.
    recordsOf: (repoId, connection, changes) => {
      const target = { id: String(repoId), type: 'repo' } as const;
      const name = directory.byId(repoId)?.name ?? null;
      return auditLog.made(OPERATOR, 'grant.synced', target, { name, connection, ...changes });
    },
    now,
    log: log.labelled('members'),
  });
}
