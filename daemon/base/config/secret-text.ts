// A text that must not be shown. Logs, errors and inspections of what holds it see that there is one, not what it is.
// Who needs it asks for it by name.

import { inspect } from 'node:util';

const SHOWN = '(hidden)';

export class SecretText {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text itself. It must go nowhere but where it is needed. */
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
