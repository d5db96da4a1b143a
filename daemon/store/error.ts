// Errors of the store: a code known to the API layer, and a message for people. Messages never contain an address, a bound
// value, or other driver text.

import { CodedError } from '../base/caught.ts';

/** Codes of daemon/api/shapes/api-error.ts that the store uses; NOT_READY: the database cannot serve now. */
export type StoreErrorCode =
  | 'API_KEY_ALREADY_EXISTS'
  | 'LAST_OWNER_CANNOT_BE_DEMOTED'
  | 'LAST_OWNER_CANNOT_BE_REMOVED'
  | 'NOT_FOUND'
  | 'NOT_READY'
  | 'ORG_SEAT_COUNT_REACHED'
  | 'USER_ALREADY_EXISTS';

export class StoreError extends CodedError<StoreErrorCode> {
  /** @param cause  the driver's error, only for the log */
  constructor(errorCode: StoreErrorCode, message: string, cause?: unknown) {
    super(errorCode, message, cause === undefined ? undefined : { cause });
    this.name = 'StoreError';
  }
}

/** The database answers reads but cannot be written: it is read-only, or its disk is full. */
export class UnwritableError extends StoreError {}

/** Rows cannot be loaded as a dump; the message says why. */
export class DumpError extends Error {
  override readonly name = 'DumpError';
}

/** Whether this is our own refusal, before anything was committed. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof DumpError || (error instanceof StoreError && error.errorCode !== 'NOT_READY')
  );
}
