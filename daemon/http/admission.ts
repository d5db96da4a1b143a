// Admission control of searches: so many run, so many wait in order of arrival, the next one is refused.

import { ApiError } from '../api/errors.ts';
import { ClientGoneError } from './adapter.ts';

/** Gives the place back. Further calls do nothing. */
export type Release = () => void;

interface Waiter {
  readonly admit: () => void;
}

export class Admission {
  readonly #activeMax: number;
  readonly #queuedMax: number;
  readonly #queue = new Set<Waiter>();
  #activeCount = 0;

  constructor(activeMax: number, queuedMax: number) {
    this.#activeMax = activeMax;
    this.#queuedMax = queuedMax;
  }

  get activeCount(): number {
    return this.#activeCount;
  }

  get queuedCount(): number {
    return this.#queue.size;
  }

  /**
   * Takes a place, waiting for one if need be.
   *
   * @param signal  aborted when the client goes away; a waiting caller then leaves the queue
   *
   * Errors: ApiError SERVER_OVERLOADED if the queue is full; ClientGoneError.
   */
  async acquire(signal: AbortSignal): Promise<Release> {
    if (signal.aborted) throw new ClientGoneError();
    if (this.#activeCount < this.#activeMax) this.#activeCount++;
    else if (this.#queue.size < this.#queuedMax) await this.#wait(signal);
    else throw new ApiError('SERVER_OVERLOADED', 'Too many searches.', { 'Retry-After': '1' });
    return this.#makeRelease();
  }

  /** Resolves once the place of somebody who left has been handed over; #activeCount stays. */
  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#queue.delete(waiter);
        reject(new ClientGoneError());
      };
      const waiter: Waiter = {
        admit() {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      this.#queue.add(waiter);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  #makeRelease(): Release {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      const [next] = this.#queue;
      if (next === undefined) this.#activeCount--;
      else {
        this.#queue.delete(next);
        next.admit();
      }
    };
  }
}
