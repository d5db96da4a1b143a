// Licences for tests: a separate key pair, and tokens with any header and claims, valid or not.

import { createPrivateKey, sign, type KeyObject } from 'node:crypto';
import { ENTITLEMENTS } from '../../daemon/accounts/licence.ts';
import { makeLicenceKeyPair, parsePublicKey } from '../../daemon/accounts/licence-key.ts';

export const DAY_MS = 86_400_000;
/** 2026-06-01T12:00:00Z. */
export const NOW_MS = 1_780_315_200_000;
export const NOW_SECONDS = NOW_MS / 1000;

export const PAIR = makeLicenceKeyPair();
export const PUBLIC_KEY = parsePublicKey(PAIR.publicKey);
export const PRIVATE_KEY = createPrivateKey(PAIR.privateKey);

export const HEADER = { alg: 'EdDSA', typ: 'JWT' };
export const CLAIMS = {
  iss: 'trawl-license',
  sub: 'L-1',
  customer: 'Acme',
  iat: NOW_SECONDS - 10,
  exp: NOW_SECONDS + 3600,
  entitlements: ['scoped-tokens', 'audit'],
  seats: 3,
};

function part(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** A token of these parts, signed with Ed25519 whatever the header says. */
export function token(header: unknown, claims: unknown, key: KeyObject = PRIVATE_KEY): string {
  const signed = `${part(header)}.${part(claims)}`;
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`;
}

/** A token with a signature made by `signer` from the signed part. */
export function tokenBy(
  header: unknown,
  claims: unknown,
  signer: (signed: string) => Buffer,
): string {
  const signed = `${part(header)}.${part(claims)}`;
  return `${signed}.${signer(signed).toString('base64url')}`;
}

/** Variables of a daemon with a licence for everything, valid for a day from now. @param seats  undefined: any number */
export function licenceEnvironment(seats?: number): Record<string, string> {
  const nowSeconds = Math.floor(Date.now() / 1000);
  return {
    TRAWL_LICENSE_PUBLIC_KEY: PAIR.publicKey,
    TRAWL_LICENSE_KEY: token(HEADER, {
      ...CLAIMS,
      iat: nowSeconds,
      exp: nowSeconds + DAY_MS / 1000,
      seats,
      entitlements: ENTITLEMENTS,
    }),
  };
}
