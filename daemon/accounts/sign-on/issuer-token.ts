// Verifies an issuer's access tokens (JWT) sent as Bearer, and identifies their user. Refused are tokens that are not
// access tokens for this instance: of another audience, bound to a key (RFC 9449, RFC 8705) without proof, or id tokens.

import { decodeJwt, type JWTPayload, jwtVerify } from 'jose';
import { ALGORITHMS, type Issuer, SKEW_SECONDS } from './issuer.ts';
import { SignOnRefusal } from './refusals.ts';
import { subjectOf, verifiedEmail } from './identity.ts';

export interface TokenIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** Verified; undefined: none in the token. */
  readonly email: string | undefined;
  /** Milliseconds since the epoch. */
  readonly expiresAtMs: number;
}

/** Types of tokens that may be access tokens (RFC 9068; many issuers use only JWT). */
const TYPES: ReadonlySet<string | undefined> = new Set([
  undefined,
  'jwt',
  'at+jwt',
  'application/at+jwt',
]);

/** Claims of tokens for another purpose, or bound to a key. */
const FOREIGN_CLAIMS = ['nonce', 'at_hash', 'c_hash', 'cnf', 'events'];

/** The issuer claimed by a token, unverified; undefined: not a token. */
export function issuerOfToken(value: string): string | undefined {
  try {
    return decodeJwt(value).iss;
  } catch {
    return undefined;
  }
}

/** Undefined: the token is not valid here and now. Errors: SignOnRefusal if the issuer does not answer. */
export async function tokenIdentity(
  value: string,
  issuer: Issuer,
  nowMs: number,
): Promise<TokenIdentity | undefined> {
  const { audience } = issuer.settings;
  if (audience === undefined) return undefined;
  const { metadata, keys } = await issuer.open();
  try {
    const { payload, protectedHeader } = await jwtVerify(value, keys, {
      algorithms: ALGORITHMS,
      issuer: metadata.issuer,
      audience,
      requiredClaims: ['exp', 'sub'],
      clockTolerance: SKEW_SECONDS,
      currentDate: new Date(nowMs),
    });
    if (!TYPES.has(protectedHeader.typ?.toLowerCase())) return undefined;
    return identityIn(metadata.issuer, payload);
  } catch (error) {
    if (error instanceof SignOnRefusal) throw error;
    return undefined;
  }
}

function identityIn(issuer: string, payload: JWTPayload): TokenIdentity | undefined {
  const { sub, exp = 0, email, email_verified: verified } = payload;
  if (FOREIGN_CLAIMS.some((name) => payload[name] !== undefined)) return undefined;
  const said = { sub, email, verified };
  const subject = subjectOf(said);
  if (subject === undefined) return undefined;
  const expiresAtMs = (exp + SKEW_SECONDS) * 1000;
  return { issuer, subject, email: verifiedEmail(said), expiresAtMs };
}
