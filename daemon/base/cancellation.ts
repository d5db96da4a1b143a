// Whether the client of a request is gone. Its AbortSignal is created on first use, and not for listeners: most requests need
// none, and one takes 5 us of the 300 of a search.

import { notePart } from './observed-calls.ts';

/** A signal, or one that may still be created; for libraries, see `signalOf`. */
export type Cancellation = AbortSignal | LazySignal;

export class LazySignal {
  #controller: AbortController | undefined;
  readonly #listeners = new Set<() => void>();
  aborted = false;

  /** The real signal. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      notePart(this.#controller.signal, this);
      if (this.aborted) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    this.#controller?.abort();
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }

  throwIfAborted(): void {
    if (this.aborted) this.signal.throwIfAborted();
  }

  /** Like an AbortSignal's, but listeners must not throw. */
  addEventListener(_type: 'abort', listener: () => void, _options?: { once: boolean }): void {
    if (!this.aborted) this.#listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.delete(listener);
  }
}

export function signalOf(cancellation: Cancellation): AbortSignal {
  return cancellation instanceof LazySignal ? cancellation.signal : cancellation;
}
