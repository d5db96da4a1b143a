// Reasons for a failed sign-on by an identity provider, each with its message. The page gets only the reason's
// name, and displays the same message.

import { CodedError } from '../../base/caught.ts';

export const REFUSALS = {
  unreachable: 'The identity provider did not answer correctly. Try again, or sign in another way.',
  stale:
    'This sign-in was started too long ago or in another browser, or was already used. Try again.',
  declined: 'The identity provider did not sign you in.',
  invalid: 'The answer of the identity provider could not be verified. Ask an owner.',
  unverified:
    'The identity provider reports no verified e-mail address of yours. Verify it there, or ask an owner.',
  unknown: 'There is no active account with your e-mail address. Ask an owner.',
  linked: 'Your e-mail address belongs to another account of the identity provider. Ask an owner.',
  seats: 'All seats of the licence are taken. Ask an owner.',
} as const;

export type RefusalReason = keyof typeof REFUSALS;

export class SignOnRefusal extends CodedError<string> {
  override readonly name = 'SignOnRefusal';
  readonly reason: RefusalReason;
  /** Where the person wanted to continue; undefined: unknown. */
  returnTo: string | undefined;

  /** @param cause  only for the log */
  constructor(reason: RefusalReason, cause?: unknown) {
    const errorCode = reason === 'unreachable' ? 'NOT_READY' : 'INVALID_CREDENTIALS';
    super(errorCode, REFUSALS[reason], { cause });
    this.reason = reason;
  }
}
