// A text that logs, errors and inspection must not show. Read it with reveal().

import { inspect } from 'node:util';

const SHOWN = '(hidden)';

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
    return SHOWN;
  }

  toJSON(): string {
    return SHOWN;
  }

  [inspect.custom](): string {
    return SHOWN;
  }
}
