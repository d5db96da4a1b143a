// Dependencies shared by the parts of the OAuth server: store, clock, hashing, audit.

import { randomBytes } from 'node:crypto';
import type { Settings } from '../../base/config/settings.ts';
import type { Store } from '../../store/store.ts';
import type { AuditLog } from '../audit-log.ts';
import type { AccountsContext } from '../context.ts';
import type { Proofs } from './proofs.ts';

export interface OAuthContext extends Pick<AccountsContext, 'now' | 'log'> {
  readonly store: Pick<Store, 'oauthClients' | 'oauthConsents'>;
  readonly auditLog: Pick<AuditLog, 'made'>;
  /** The stored hash of a secret value. */
  readonly hash: (value: string) => string;
  /** Without trailing slash. */
  readonly baseUrl: () => string;
  readonly settings: () => Settings['oauth'];
  readonly proofs: Proofs;
}

/** @param size  in bytes @returns  twice as many hex digits */
export function randomHex(size: number): string {
  return randomBytes(size).toString('hex');
}
