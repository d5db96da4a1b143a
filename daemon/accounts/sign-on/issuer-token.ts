// Access tokens of an issuer (JWT) as Bearer: of whom they are, if they are good. What is no access token for this instance is
// none: a token of another audience, one that is bound to a key (RFC 9449, RFC 8705) and comes without proof, an id token.

import { decodeJwt, type JWTPayload, jwtVerify } from 'jose';
import { ALGORITHMS, type Issuer, SKEW_SECONDS } from './issuer.ts';
import { subjectOf, verifiedEmail } from './identity.ts';

export interface TokenIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** Verified; undefined: the token names none. */
  readonly email: string | undefined;
  /** Milliseconds since the epoch. */
  readonly expiresAtMs: number;
}

/** Types of tokens that may be access tokens (RFC 9068; many issuers say nothing more than JWT). */
const TYPES: ReadonlySet<string | undefined> = new Set([
  undefined,
  'jwt',
  'at+jwt',
  'application/at+jwt',
]);

/** Claims of tokens that are for others, or bound to a key. */
const FOREIGN_CLAIMS = ['nonce', 'at_hash', 'c_hash', 'cnf', 'events'];

/** Who the token says that it is of, unverified; undefined: it is no token. */
export function namedIssuer(value: string): string | undefined {
  try {
    return decodeJwt(value).iss;
  } catch {
    return undefined;
  }
}

/** Undefined: the token is not good here and now. Errors: SignOnRefusal, where the issuer does not answer. */
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
  } catch {
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
