// The parameters of OAuth requests, of a query or a form: each at most once, none too long.

import { OAuthError } from './error.ts';

/** Bytes of a form, or of a client that registers. */
export const FORM_SIZE_MAX = 16_384;
/** Characters of a parameter; states of clients are the longest. */
const LENGTH_MAX = 4096;

export class Parameters {
  readonly #values = new Map<string, string>();

  /** Errors: OAuthError invalid_request for a parameter that is there twice, or too long. */
  constructor(parameters: URLSearchParams) {
    for (const [name, value] of parameters) {
      if (this.#values.has(name))
        throw new OAuthError('invalid_request', 'a parameter is given twice');
      if (value.length > LENGTH_MAX)
        throw new OAuthError('invalid_request', 'a parameter is too long');
      this.#values.set(name, value);
    }
  }

  /** Undefined: it is not there, or empty, which is the same (RFC 6749, 3.1). */
  get(name: string): string | undefined {
    const value = this.#values.get(name);
    return value === '' ? undefined : value;
  }

  /** Errors: OAuthError invalid_request where it is not there. */
  require(name: string): string {
    const value = this.get(name);
    if (value === undefined) throw new OAuthError('invalid_request', `${name}: required`);
    return value;
  }
}
