// Dependencies shared by the parts of the OAuth server: store, clock, hashing, audit.

import { randomBytes } from 'node:crypto';
import type { Settings } from '../../base/config/settings.ts';
import type { Log } from '../../base/log.ts';
import type { Actor, NewAuditRecord } from '../../store/audit.ts';
import type { Store } from '../../store/store.ts';
import type { Proofs } from './proofs.ts';

export interface OAuthContext {
  readonly store: Pick<Store, 'oauthClients' | 'oauthConsents'>;
  /** The stored hash of a secret value. */
  readonly hash: (value: string) => string;
  readonly auditLog: OAuthAuditLog;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Without trailing slash. */
  readonly baseUrl: () => string;
  readonly settings: () => Settings['oauth'];
  readonly proofs: Proofs;
  readonly log: Log;
}

export interface OAuthAuditLog {
  made(
    actor: Actor | undefined,
    action: 'oauth.client_registered' | 'oauth.token_issued' | 'oauth.token_revoked',
    target: { readonly id: string; readonly type: 'oauth_client' },
    metadata?: Readonly<Record<string, unknown>>,
  ): readonly NewAuditRecord[];
}

/** What access tokens begin with; 64 hex digits follow. */
export const ACCESS_TOKEN_PREFIX = 'svoa_';

/** @param size  in bytes @returns  twice as many hex digits */
export function randomHex(size: number): string {
  return randomBytes(size).toString('hex');
}
