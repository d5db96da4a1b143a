// Ed25519 keys that sign licences: private ones as PEM, public ones as PEM or base64. licence.ts reads licences,
// licence-issue.ts signs them.

import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/**
 * Public key for licences unless TRAWL_LICENSE_PUBLIC_KEY names another one. Its private half was discarded when it was
 * made, without being written anywhere: no licence for this key exists or can exist. To issue licences, make a pair (`trawl
 * license keygen`) and set the variable, or build with your own constant here.
 */
export const BUILT_IN_PUBLIC_KEY = '46BuKj/3gRLSOq1y9rDJEpA4HuA2Y/gJp8DFU0dUUEo=';

const PUBLIC_PEM = /^-----BEGIN PUBLIC KEY-----\s[^]*\s-----END PUBLIC KEY-----$/;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
const PUBLIC_KEY_REFUSAL =
  'not an Ed25519 public key: give a PEM text, or base64 of its 32 bytes or of its SPKI form';

/** A new pair: the private half as a PEM text (PKCS #8), the public half as base64 of its 32 bytes. */
export function makeLicenceKeyPair(): { readonly privateKey: string; readonly publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey: describePublicKey(publicKey),
  };
}

/** A public key as base64 of its 32 bytes, the shortest form that `parsePublicKey` reads. */
export function describePublicKey(publicKey: KeyObject): string {
  return Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64');
}

/**
 * The Ed25519 public key in `text`: PEM (SPKI), or base64 of the 32 raw bytes or of the SPKI bytes.
 * Errors: throws for anything else, a private key included; the message does not contain the text.
 */
export function parsePublicKey(text: string): KeyObject {
  return parseKey(() => readPublicKey(text.trim()), PUBLIC_KEY_REFUSAL);
}

/** The Ed25519 private key in a PEM text. Errors: throws if invalid; the message does not contain it. */
export function parsePrivateKey(text: string): KeyObject {
  return parseKey(() => createPrivateKey(text.trim()), 'not an Ed25519 private key in PEM form');
}

function parseKey(read: () => KeyObject, refusal: string): KeyObject {
  let key: KeyObject;
  try {
    key = read();
  } catch (error) {
    throw new Error(refusal, { cause: error });
  }
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(refusal);
  return key;
}

function readPublicKey(text: string): KeyObject {
  // Why: given a private key, createPublicKey would silently derive the public one.
  if (PUBLIC_PEM.test(text)) return createPublicKey(text);
  if (!BASE64.test(text)) throw new Error('neither PEM nor base64');
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== 32) {
    return createPublicKey({ key: bytes, format: 'der', type: 'spki' });
  }
  const x = bytes.toString('base64url');
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
}
