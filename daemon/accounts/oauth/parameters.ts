// Parameters of OAuth requests from a query or a form: each at most once, with a maximum length.

import { OAuthError } from './error.ts';

/** Bytes of a form, or of a registration. */
export const FORM_SIZE_MAX = 16_384;
/** Characters of a parameter; states of clients are the longest. */
const LENGTH_MAX = 4096;

export class Parameters {
  readonly #values = new Map<string, string>();

  /** Errors: OAuthError invalid_request for a parameter that is repeated or too long. */
  constructor(parameters: URLSearchParams) {
    for (const [name, value] of parameters) {
      if (this.#values.has(name))
        throw new OAuthError('invalid_request', 'a parameter is given twice');
      if (value.length > LENGTH_MAX)
        throw new OAuthError('invalid_request', 'a parameter is too long');
      this.#values.set(name, value);
    }
  }

  /** Undefined: missing or empty, which is the same (RFC 6749, 3.1). */
  get(name: string): string | undefined {
    const value = this.#values.get(name);
    return value === '' ? undefined : value;
  }

  /** Errors: OAuthError invalid_request if it is missing. */
  require(name: string): string {
    const value = this.get(name);
    if (value === undefined) throw new OAuthError('invalid_request', `${name}: required`);
    return value;
  }
}
