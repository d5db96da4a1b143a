// Error of the accounts: `errorCode` is one of the API's (api/shapes/api-error.ts has its status), the message is for the
// caller.

import { CodedError } from '../base/caught.ts';

export class AccountError extends CodedError<string> {
  override readonly name = 'AccountError';
  readonly retryAfterSeconds: number | undefined;

  constructor(errorCode: string, message: string, retryAfterSeconds?: number) {
    super(errorCode, message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
