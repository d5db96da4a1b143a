// The licence: what a licence key grants and until when. A key is a JWT signed with EdDSA (Ed25519), verified once,
// offline; its state is computed from the clock at each call, so that entitlements end without a restart. licence-issue.ts
// signs keys, licence-key.ts parses signing keys; callers provide the text (environment or store).

import { omitUndefined } from '../base/omit-undefined.ts';
import type { KeyObject } from 'node:crypto';
import type { errors as joseErrors } from 'jose';
import { z } from 'zod';

export const ENTITLEMENTS = [
  'org-management',
  'scoped-tokens',
  'oauth',
  'audit',
  'search-contexts',
  'permissions',
  'mcp',
] as const;

export type Entitlement = (typeof ENTITLEMENTS)[number];

export const LICENCE_STATES = ['none', 'valid', 'expired', 'not_yet_valid', 'invalid'] as const;

export type LicenceState = (typeof LICENCE_STATES)[number];

export const LICENCE_ISSUER = 'trawl-license';

/** A licence key after its signature and form were checked, regardless of the time. */
export type ReadLicence =
  | { readonly kind: 'none' }
  /** `reason` is for people; it never contains the key. */
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'signed'; readonly terms: LicenceTerms };

/** The answer of GET /api/license without the seats in use. */
export interface LicenceDescription {
  readonly state: LicenceState;
  readonly customer?: string;
  readonly licenseId?: string;
  /** In force now: empty unless the state is `valid`. */
  readonly entitlements: readonly Entitlement[];
  readonly seats?: number;
  /** ISO 8601, UTC. */
  readonly expiresAt?: string;
}

/** Why imported late: loading it adds some 30 ms to a start, and most have no key. */
const loadJose = () => import('jose');

/** Until the end of the year 9999. */
const seconds = z.int().min(0).max(253_402_300_799);
const headerSchema = z.object({
  alg: z.literal('EdDSA'),
  typ: z.literal('JWT'),
  kid: z.string().optional(),
  crit: z.undefined().optional(),
});
const claimsSchema = z.object({
  iss: z.literal(LICENCE_ISSUER),
  /** Its id. */
  sub: z.string().min(1).optional(),
  customer: z.string().optional(),
  iat: seconds.optional(),
  nbf: seconds.optional(),
  exp: seconds,
  /** In the order of ENTITLEMENTS; unknown names are dropped. */
  entitlements: z
    .array(z.string())
    .transform((said): Entitlement[] => ENTITLEMENTS.filter((name) => said.includes(name))),
  /** Active members allowed; absent: any number. */
  seats: z.int().min(1).optional(),
});

/** Content of a licence key with a valid signature. Times in seconds since the epoch. */
export type LicenceTerms = Readonly<z.output<typeof claimsSchema>>;

/**
 * Checks form and signature of a licence key.
 *
 * @param text  the key; undefined or blank: there is no licence
 * @returns     its content; expiry is not checked (`stateOf` does)
 * Errors: none; a bad key is `invalid`.
 */
export async function readLicence(
  text: string | undefined,
  publicKey: KeyObject,
): Promise<ReadLicence> {
  const key = text?.trim() ?? '';
  if (key === '') return { kind: 'none' };
  // A key with all members has about 500 characters.
  if (key.length > 16_384) return { kind: 'invalid', reason: 'too long for a licence key' };
  try {
    const { compactVerify } = await loadJose();
    const verified = await compactVerify(key, publicKey, { algorithms: ['EdDSA'] });
    headerSchema.parse(verified.protectedHeader);
    const claims: unknown = JSON.parse(Buffer.from(verified.payload).toString('utf8'));
    return { kind: 'signed', terms: claimsSchema.parse(claims) };
  } catch (error) {
    const { errors } = await loadJose();
    return { kind: 'invalid', reason: refusalOf(error, errors) };
  }
}

/** The state at the moment `nowMs`. A licence ends at `exp`, that moment excluded. */
export function stateOf(read: ReadLicence, nowMs: number): LicenceState {
  if (read.kind !== 'signed') return read.kind;
  const { exp, nbf = 0 } = read.terms;
  if (nowMs >= exp * 1000) return 'expired';
  // Clocks may differ by a minute.
  return nowMs + 60_000 < nbf * 1000 ? 'not_yet_valid' : 'valid';
}

/** The licence in force, read by every request. Replaced when another key is set. */
export class Licence {
  #read: ReadLicence;

  constructor(read: ReadLicence) {
    this.#read = read;
  }

  replace(read: ReadLicence): void {
    this.#read = read;
  }

  isEntitled(name: Entitlement, nowMs: number): boolean {
    return this.#validTerms(nowMs)?.entitlements.includes(name) ?? false;
  }

  entitlements(nowMs: number): readonly Entitlement[] {
    return this.#validTerms(nowMs)?.entitlements ?? [];
  }

  /** Active members allowed; undefined: any number. Only a valid licence limits them. */
  seatMax(nowMs: number): number | undefined {
    return this.#validTerms(nowMs)?.seats;
  }

  describe(nowMs: number): LicenceDescription {
    const state = stateOf(this.#read, nowMs);
    const head = { state, entitlements: this.entitlements(nowMs) };
    if (this.#read.kind !== 'signed') return head;
    const { customer, sub, seats, exp } = this.#read.terms;
    return {
      ...head,
      ...omitUndefined({ customer, licenseId: sub, seats }),
      expiresAt: new Date(exp * 1000).toISOString(),
    };
  }

  #validTerms(nowMs: number): LicenceTerms | undefined {
    const read = this.#read;
    return read.kind === 'signed' && stateOf(read, nowMs) === 'valid' ? read.terms : undefined;
  }
}

function refusalOf(error: unknown, errors: typeof joseErrors): string {
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return 'the signature does not fit the public key';
  }
  if (error instanceof errors.JOSEAlgNotAllowed) return 'it is not signed with EdDSA';
  if (error instanceof z.ZodError) {
    const fields = error.issues.map(({ path }) => path.map(String).join('.'));
    return `members missing or of a wrong kind: ${fields.join(', ')}`;
  }
  return 'it is not a signed JWT';
}
