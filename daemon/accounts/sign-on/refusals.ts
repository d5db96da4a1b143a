// Reasons for a failed sign-on by an identity provider, each with its API code and message. The page gets only the reason's
// name, and displays the same message.

import { CodedError } from '../../base/caught.ts';

export const REFUSALS = {
  unreachable: {
    errorCode: 'NOT_READY',
    text: 'The identity provider did not answer correctly. Try again, or sign in another way.',
  },
  stale: {
    errorCode: 'INVALID_CREDENTIALS',
    text: 'This sign-in was started too long ago or in another browser, or was already used. Try again.',
  },
  declined: {
    errorCode: 'INVALID_CREDENTIALS',
    text: 'The identity provider did not sign you in.',
  },
  invalid: {
    errorCode: 'INVALID_CREDENTIALS',
    text: 'The answer of the identity provider could not be verified. Ask an owner.',
  },
  unverified: {
    errorCode: 'INVALID_CREDENTIALS',
    text: 'The identity provider reports no verified e-mail address of yours. Verify it there, or ask an owner.',
  },
  unknown: {
    errorCode: 'INVALID_CREDENTIALS',
    text: 'There is no active account with your e-mail address. Ask an owner.',
  },
  linked: {
    errorCode: 'INVALID_CREDENTIALS',
    text: 'Your e-mail address belongs to another account of the identity provider. Ask an owner.',
  },
  seats: {
    errorCode: 'INVALID_CREDENTIALS',
    text: 'All seats of the licence are taken. Ask an owner.',
  },
} as const;

export type RefusalReason = keyof typeof REFUSALS;

export class SignOnRefusal extends CodedError<string> {
  override readonly name = 'SignOnRefusal';
  readonly reason: RefusalReason;
  /** Where the person wanted to continue; undefined: unknown. */
  returnTo: string | undefined;

  /** @param cause  only for the log */
  constructor(reason: RefusalReason, cause?: unknown) {
    const { errorCode, text } = REFUSALS[reason];
    super(errorCode, text, { cause });
    this.reason = reason;
  }
}
