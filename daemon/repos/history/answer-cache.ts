// Answers that never change, because their keys name commits by id: the last ones used are kept, up to so many
// bytes, and one that many ask for at a time is made once. Making one ends when nobody waits for it any more.

import { LRUCache } from 'lru-cache';

/** Bytes of an entry beside its content: a guess that keeps many small entries from counting as nothing. */
const ENTRY_SIZE = 300;

export interface AnswerCacheOptions {
  /** Bytes of all entries. */
  readonly sizeMax: number;
  /** Larger answers are not kept. */
  readonly entrySizeMax: number;
}

interface Flight {
  readonly answer: Promise<Buffer>;
  readonly abort: AbortController;
  waiterCount: number;
}

export class AnswerCache {
  readonly #kept: LRUCache<string, Buffer>;
  readonly #flights = new Map<string, Flight>();

  constructor({ sizeMax, entrySizeMax }: AnswerCacheOptions) {
    this.#kept = new LRUCache({
      maxSize: sizeMax,
      maxEntrySize: entrySizeMax,
      sizeCalculation: (answer, key) => answer.length + key.length + ENTRY_SIZE,
    });
  }

  /**
   * The answer of this key, which the caller must not change.
   *
   * @param make  given a signal that is aborted when all who wait have left
   *
   * Errors: what `make` rejects with, which is not kept; the reason of `signal`.
   */
  async get(
    key: string,
    signal: AbortSignal,
    make: (signal: AbortSignal) => Promise<Buffer>,
  ): Promise<Buffer> {
    signal.throwIfAborted();
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const flight = this.#flights.get(key) ?? this.#start(key, make);
    flight.waiterCount++;
    try {
      return await unlessAborted(flight.answer, signal);
    } finally {
      flight.waiterCount--;
      if (flight.waiterCount === 0) this.#land(key, flight);
    }
  }

  #start(key: string, make: (signal: AbortSignal) => Promise<Buffer>): Flight {
    const abort = new AbortController();
    const answer = make(abort.signal).then((made) => {
      this.#kept.set(key, made);
      return made;
    });
    const flight: Flight = { answer, abort, waiterCount: 0 };
    this.#flights.set(key, flight);
    // Why here: those who come later find the answer kept, or make a new one after a failure.
    const leave = (): void => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    };
    answer.then(leave, leave);
    return flight;
  }

  #land(key: string, flight: Flight): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
    flight.abort.abort();
  }
}

/** As `promise`, or rejects with the reason of the signal as soon as it is aborted. */
function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
