// Identity of a person according to an issuer: the account there, and its verified addresses. Only ASCII addresses count:
// other letters have lower cases that are letters of other addresses (the sign of Kelvin is k).

import { z } from 'zod';
import { SignOnRefusal } from './refusals.ts';

export interface Identity {
  /** Its own name. */
  readonly issuer: string;
  /** The issuer's id of the account. */
  readonly subject: string;
  /** Verified; lower case, the primary one first. */
  readonly emails: readonly [string, ...string[]];
  readonly name: string | undefined;
}

export interface SaidOfAddress {
  readonly email: unknown;
  readonly verified: unknown;
}

/** Claims, of any type. */
export interface SaidOfPerson {
  readonly sub: unknown;
  readonly name?: unknown;
}

const subject = z.string().min(1).max(255);
const email = z.email().max(254).toLowerCase();

/** Undefined: no verified address. */
export function verifiedEmail({ email: said, verified }: SaidOfAddress): string | undefined {
  return verified === true ? email.safeParse(said).data : undefined;
}

/** Undefined: missing. */
export function subjectOf({ sub }: Pick<SaidOfPerson, 'sub'>): string | undefined {
  return subject.safeParse(sub).data;
}

/** @param addresses  the primary one first. Errors: SignOnRefusal. */
export function identityOf(
  issuer: string,
  said: SaidOfPerson,
  addresses: readonly SaidOfAddress[],
): Identity {
  const account = subjectOf(said);
  if (account === undefined) throw new SignOnRefusal('invalid');
  const [first, ...others] = addresses.flatMap((one) => verifiedEmail(one) ?? []);
  if (first === undefined) throw new SignOnRefusal('unverified');
  const isName = typeof said.name === 'string' && said.name.trim() !== '';
  const name = isName ? said.name.trim().slice(0, 200) : undefined;
  return { issuer, subject: account, emails: [first, ...others], name };
}
