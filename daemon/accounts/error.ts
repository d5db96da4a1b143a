// An error of the accounts: `errorCode` is one of the API's (http/api/shapes/api-error.ts gives it the status), the message is
// for the caller.

export class AccountError extends Error {
  override readonly name = 'AccountError';
  readonly errorCode: string;
  /** Seconds after which to try again. */
  readonly retryAfterSeconds: number | undefined;

  constructor(errorCode: string, message: string, retryAfterSeconds?: number) {
    super(message);
    this.errorCode = errorCode;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
