// Signals that are aborted when somebody else's is, or when a time is over.
//
// Why not AbortSignal.any of AbortSignal.timeout: a collection of garbage takes the time limit away (Node.js 20).

import { setMaxListeners } from 'node:events';

/** Aborted when `outer` is, when the time is over, and at the end: who still waits then leaves. */
export class TimeLimit {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #outer: AbortSignal;
  readonly #leave = (): void => this.#controller.abort(this.#outer.reason);
  isOver = false;

  constructor(timeoutMs: number, outer: AbortSignal) {
    this.#outer = outer;
    // Each piece of the work listens. Why not 0: who asks for that number gets an error (Node.js 20), and undici asks.
    setMaxListeners(Infinity, this.signal);
    this.#timer = setTimeout(() => {
      this.isOver = true;
      this.#controller.abort(new DOMException('The time is over.', 'TimeoutError'));
    }, timeoutMs);
    if (outer.aborted) this.#leave();
    else outer.addEventListener('abort', this.#leave, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#controller.abort();
    this.#outer.removeEventListener('abort', this.#leave);
  }
}

/**
 * A signal that is aborted when `outer` is or the time is over, for work whose end nobody tells.
 *
 * @param message  of the reason where the time is over
 */
export function limitedSignal(outer: AbortSignal, timeoutMs: number, message: string): AbortSignal {
  const controller = new AbortController();
  controllers.set(controller.signal, controller);
  const abort = (): void => controller.abort(outer.reason);
  if (outer.aborted) abort();
  else outer.addEventListener('abort', abort, { once: true });
  const asked = new WeakRef(controller);
  const endIt = (): void => asked.deref()?.abort(new DOMException(message, 'TimeoutError'));
  setTimeout(endIt, timeoutMs).unref();
  return controller.signal;
}

/** By their signals, so that a controller lives as long as whoever waits for its signal, and no longer. */
const controllers = new WeakMap<AbortSignal, AbortController>();
