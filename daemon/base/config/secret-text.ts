// A text that logs, errors and inspection must not show. Read it with reveal().

import { inspect } from 'node:util';

const HIDDEN_TEXT = '(hidden)';

export class SecretText {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text itself. Pass it only to code that needs it. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return HIDDEN_TEXT;
  }

  toJSON(): string {
    return HIDDEN_TEXT;
  }

  [inspect.custom](): string {
    return HIDDEN_TEXT;
  }
}
