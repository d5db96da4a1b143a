// Issues licence keys with one's own private key: for tests and own builds. licence.ts verifies them.

import { type KeyObject, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { omitUndefined } from '../base/omit-undefined.ts';
import { LICENCE_ISSUER, type LicenceTerms } from './licence.ts';

/** Content of a new licence; without an id it gets a new UUID. */
export type LicenceOrder = Omit<LicenceTerms, 'iss'>;

/** The licence key, a JWT. Errors: throws if the key is not an Ed25519 private key. */
export function issueLicence(privateKey: KeyObject, order: LicenceOrder): Promise<string> {
  return new SignJWT(
    omitUndefined({ iss: LICENCE_ISSUER, ...order, sub: order.sub ?? randomUUID() }),
  )
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT' })
    .sign(privateKey);
}
