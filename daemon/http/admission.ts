// Admission control of searches: so many run, so many wait, the next one is refused. Fair among callers: a
// place that becomes free goes to the caller with the fewest running searches, of several to the one that has
// waited longest; and where the queue is full, a caller with many waiting searches gives one up for a
// caller with fewer. So one caller's thousand searches delay another's by no more than its own share.

import { ApiError } from '../api/errors.ts';
import { ClientGoneError } from './adapter.ts';

/** Gives the place back. Further calls do nothing. */
export type Release = () => void;

interface Waiter {
  /** Order of arrival among all callers. */
  readonly ticket: number;
  readonly admit: () => void;
  readonly refuse: () => void;
}

/** The searches of one caller; kept while there are any. */
interface Share {
  activeCount: number;
  /** In order of arrival. */
  readonly waiters: Set<Waiter>;
}

export class Admission {
  readonly #activeMax: number;
  readonly #queuedMax: number;
  readonly #shares = new Map<string, Share>();
  #activeCount = 0;
  #queuedCount = 0;
  #nextTicket = 0;

  constructor(activeMax: number, queuedMax: number) {
    this.#activeMax = activeMax;
    this.#queuedMax = queuedMax;
  }

  get activeCount(): number {
    return this.#activeCount;
  }

  get queuedCount(): number {
    return this.#queuedCount;
  }

  /**
   * Takes a place for `caller`, waiting for one if need be.
   *
   * @param signal  aborted when the client goes away; a waiting caller then leaves the queue
   *
   * Errors: ApiError SERVER_OVERLOADED if the queue is full; ClientGoneError.
   */
  async acquire(caller: string, signal: AbortSignal): Promise<Release> {
    if (signal.aborted) throw new ClientGoneError();
    const share = this.#shareOf(caller);
    if (this.#activeCount < this.#activeMax) {
      this.#activeCount++;
      share.activeCount++;
    } else {
      if (this.#queuedCount >= this.#queuedMax) this.#makeRoom(caller, share);
      await this.#wait(caller, share, signal);
    }
    return this.#makeRelease(caller, share);
  }

  #shareOf(caller: string): Share {
    let share = this.#shares.get(caller);
    if (share === undefined) {
      share = { activeCount: 0, waiters: new Set() };
      this.#shares.set(caller, share);
    }
    return share;
  }

  /** Refuses the newest waiter of the caller with the most, or the new search if its caller would have as many. */
  #makeRoom(caller: string, share: Share): void {
    let most = share;
    for (const one of this.#shares.values()) if (one.waiters.size > most.waiters.size) most = one;
    if (most.waiters.size <= share.waiters.size + 1) {
      this.#forgetIdle(caller, share);
      throw overloaded();
    }
    [...most.waiters].at(-1)?.refuse();
  }

  /** Resolves once the place of somebody who left has been handed over. */
  #wait(caller: string, share: Share, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leaveQueue = (): void => {
        share.waiters.delete(waiter);
        this.#queuedCount--;
        signal.removeEventListener('abort', onAbort);
      };
      const fail = (error: Error): void => {
        leaveQueue();
        this.#forgetIdle(caller, share);
        reject(error);
      };
      const onAbort = (): void => fail(new ClientGoneError());
      const waiter: Waiter = {
        ticket: this.#nextTicket++,
        admit() {
          leaveQueue();
          resolve();
        },
        refuse: () => fail(overloaded()),
      };
      share.waiters.add(waiter);
      this.#queuedCount++;
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  #makeRelease(caller: string, share: Share): Release {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      share.activeCount--;
      this.#passOn();
      this.#forgetIdle(caller, share);
    };
  }

  /** Gives a free place to the waiter whose turn it is, if anybody waits. */
  #passOn(): void {
    let next: { share: Share; waiter: Waiter } | undefined;
    for (const share of this.#shares.values()) {
      const [waiter] = share.waiters;
      if (waiter === undefined) continue;
      const isEarlier =
        next === undefined ||
        share.activeCount < next.share.activeCount ||
        (share.activeCount === next.share.activeCount && waiter.ticket < next.waiter.ticket);
      if (isEarlier) next = { share, waiter };
    }
    if (next === undefined) this.#activeCount--;
    else {
      next.share.activeCount++;
      next.waiter.admit();
    }
  }

  #forgetIdle(caller: string, { activeCount, waiters }: Share): void {
    if (activeCount === 0 && waiters.size === 0) this.#shares.delete(caller);
  }
}

function overloaded(): ApiError {
  return new ApiError('SERVER_OVERLOADED', 'Too many searches.', { 'Retry-After': '1' });
}
