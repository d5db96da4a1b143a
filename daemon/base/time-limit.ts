// Signals that abort with another signal or after a timeout.
//
// Why not AbortSignal.any with AbortSignal.timeout: garbage collection removes the timeout (Node.js 20).

import { setMaxListeners } from 'node:events';
import { notePart } from './observed-calls.ts';

/** Aborted when `outer` is, after the timeout, and at the end, so that remaining waiters leave. */
export class TimeLimit {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #outer: AbortSignal;
  readonly #leave = (): void => this.#controller.abort(this.#outer.reason);
  isOver = false;

  constructor(timeoutMs: number, outer: AbortSignal) {
    this.#outer = outer;
    notePart(this.signal, outer);
    // Each piece of the work listens. Why not 0: reading that number throws (Node.js 20), and undici reads it.
    setMaxListeners(Infinity, this.signal);
    this.#timer = setTimeout(() => {
      this.isOver = true;
      this.#controller.abort(new DOMException('Time limit exceeded.', 'TimeoutError'));
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
 * A signal that aborts with `outer` or after the timeout, for work without a reported end.
 *
 * @param message  of the reason after the timeout
 */
export function limitedSignal(outer: AbortSignal, timeoutMs: number, message: string): AbortSignal {
  const controller = new AbortController();
  controllers.set(controller.signal, controller);
  notePart(controller.signal, outer);
  const abort = (): void => controller.abort(outer.reason);
  if (outer.aborted) abort();
  else outer.addEventListener('abort', abort, { once: true });
  const requested = new WeakRef(controller);
  const endIt = (): void => requested.deref()?.abort(new DOMException(message, 'TimeoutError'));
  setTimeout(endIt, timeoutMs).unref();
  return controller.signal;
}

/** By signal, so that a controller lives exactly as long as the signal is used. */
const controllers = new WeakMap<AbortSignal, AbortController>();
