// Who is calling: finds the credential of a request and tells what it is worth. Until accounts exist
// there is one key, the owner's. A wrong or malformed credential is the same as none, and nothing says why.

import type { HashedKey } from '../config/secrets.ts';
import { isSameKey } from '../config/secrets.ts';

/**
 * `owner`: presented the owner's key; `local`: no key is configured and the daemon listens on loopback
 * only, so whoever reaches it may do everything; `guest`: anonymous access.
 */
export interface Caller {
  readonly kind: 'owner' | 'local' | 'guest';
}

export interface AccessRules {
  readonly ownerKey: HashedKey | undefined;
  readonly anonymousAccess: boolean;
  /** The bound address cannot be reached from other machines. */
  readonly isLoopback: boolean;
}

const OWNER: Caller = { kind: 'owner' };
const LOCAL: Caller = { kind: 'local' };
const GUEST: Caller = { kind: 'guest' };

/** The caller of a request, or undefined if there is none that counts. Never throws. */
export function resolveCaller(
  rules: AccessRules,
  header: (name: string) => string | undefined,
): Caller | undefined {
  const { ownerKey } = rules;
  if (ownerKey === undefined && rules.isLoopback) return LOCAL;
  if (ownerKey !== undefined) {
    const candidates = [bearerValue(header('authorization')), header('x-service-api-key')];
    if (candidates.some((value) => value !== undefined && isSameKey(ownerKey, value))) return OWNER;
  }
  return rules.anonymousAccess ? GUEST : undefined;
}

/** May this caller use endpoints of the owner role? */
export function hasOwnerRole(caller: Caller | undefined): boolean {
  return caller?.kind === 'owner' || caller?.kind === 'local';
}

function bearerValue(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
}
