// The errors of the store: a code that the API layer knows, and a message for people. Messages never hold an
// address, a value that was bound, or what else the driver said.

import { CodedError } from '../base/caught.ts';

/** Codes of daemon/api/shapes/api-error.ts that the store refuses with; NOT_READY: the database cannot serve now. */
export type StoreErrorCode =
  | 'API_KEY_ALREADY_EXISTS'
  | 'LAST_OWNER_CANNOT_BE_DEMOTED'
  | 'LAST_OWNER_CANNOT_BE_REMOVED'
  | 'NOT_FOUND'
  | 'NOT_READY'
  | 'ORG_SEAT_COUNT_REACHED'
  | 'USER_ALREADY_EXISTS';

export class StoreError extends CodedError<StoreErrorCode> {
  /** @param cause  what the driver said, for the log only */
  constructor(errorCode: StoreErrorCode, message: string, cause?: unknown) {
    super(errorCode, message, cause === undefined ? undefined : { cause });
    this.name = 'StoreError';
  }
}

/** The database answers, and can be read, but keeps nothing new: it is read-only, or its disk is full. */
export class UnwritableError extends StoreError {}

/** Rows cannot be loaded as a dump; the message says why. */
export class DumpError extends Error {
  override readonly name = 'DumpError';
}

/** Is this a refusal of our own, before anything was committed? */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof DumpError || (error instanceof StoreError && error.errorCode !== 'NOT_READY')
  );
}
