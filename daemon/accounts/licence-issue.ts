// Issues licence keys with one's own private key: for tests and own builds. licence.ts verifies them.

import { type KeyObject, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { type Entitlement, LICENCE_ISSUER } from './licence.ts';

/** Content of a new licence. Times in ms since the epoch, written as whole seconds, rounded down. */
export interface LicenceOrder {
  /** Absent: a new UUID. */
  readonly licenceId?: string;
  readonly customer?: string | undefined;
  readonly issuedAtMs: number;
  readonly notBeforeMs?: number;
  readonly expiresAtMs: number;
  readonly entitlements: readonly Entitlement[];
  /** Active members allowed, at least 1. */
  readonly seats?: number | undefined;
}

/** The licence key, a JWT. Errors: throws if the key is not an Ed25519 private key. */
export function issueLicence(privateKey: KeyObject, order: LicenceOrder): Promise<string> {
  const { licenceId = randomUUID(), customer, notBeforeMs, entitlements, seats } = order;
  const token = new SignJWT({ customer, entitlements: [...entitlements], seats })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT' })
    .setIssuer(LICENCE_ISSUER)
    .setSubject(licenceId)
    .setIssuedAt(toSeconds(order.issuedAtMs))
    .setExpirationTime(toSeconds(order.expiresAtMs));
  if (notBeforeMs !== undefined) token.setNotBefore(toSeconds(notBeforeMs));
  return token.sign(privateKey);
}

function toSeconds(timeMs: number): number {
  return Math.floor(timeMs / 1000);
}
