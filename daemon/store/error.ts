// The error of the store: a code that the API layer knows, and a message for people. Messages never hold an
// address, a path beyond a file's name, a value that was bound, or anything else of what the driver said.

/** Codes of daemon/api/errors.ts that the store refuses with; NOT_READY: the database cannot serve now. */
export type StoreErrorCode =
  | 'API_KEY_ALREADY_EXISTS'
  | 'LAST_OWNER_CANNOT_BE_DEMOTED'
  | 'LAST_OWNER_CANNOT_BE_REMOVED'
  | 'NOT_FOUND'
  | 'NOT_READY'
  | 'ORG_SEAT_COUNT_REACHED'
  | 'USER_ALREADY_EXISTS';

export class StoreError extends Error {
  readonly errorCode: StoreErrorCode;

  /** @param cause  what the driver said, for the log only */
  constructor(errorCode: StoreErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StoreError';
    this.errorCode = errorCode;
  }
}

/** The store's own refusals, which no retry and no other connection would change. */
export function isRefusal(error: unknown): error is StoreError {
  return error instanceof StoreError && error.errorCode !== 'NOT_READY';
}
