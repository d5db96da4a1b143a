// Shares work among concurrent callers: done once per key, aborted when nobody waits for it. Results are not cached.

import { notePart } from './observed-calls.ts';

interface Flight<Value> {
  readonly result: Promise<Value>;
  readonly abort: AbortController;
  waiterCount: number;
}

export class SharedWork<Key, Value> {
  readonly #flights = new Map<Key, Flight<Value>>();

  get count(): number {
    return this.#flights.size;
  }

  /**
   * Result of `make` for this key, or of the call that is running; its signal is aborted when all callers have left.
   * Errors: what `make` rejects with; the reason of `signal`, as soon as it is aborted.
   */
  async get(
    key: Key,
    signal: AbortSignal,
    make: (signal: AbortSignal) => Promise<Value>,
  ): Promise<Value> {
    signal.throwIfAborted();
    const flight = this.#flights.get(key) ?? this.#start(key, signal, make);
    flight.waiterCount++;
    try {
      return await unlessAborted(flight.result, signal);
    } finally {
      flight.waiterCount--;
      if (flight.waiterCount === 0) {
        this.#forget(key, flight);
        flight.abort.abort();
      }
    }
  }

  #start(
    key: Key,
    signal: AbortSignal,
    make: (signal: AbortSignal) => Promise<Value>,
  ): Flight<Value> {
    const abort = new AbortController();
    notePart(abort.signal, signal);
    const flight = { result: make(abort.signal), abort, waiterCount: 0 };
    this.#flights.set(key, flight);
    // Why here: later callers find the cached result, or retry after a failure.
    const leave = (): void => this.#forget(key, flight);
    flight.result.then(leave, leave);
    return flight;
  }

  #forget(key: Key, flight: Flight<Value>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}

/** As `promise`, or rejects with the reason of the signal as soon as it is aborted. */
export function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
