// Limits the bytes that requests hold: bodies being received, files being read, answers being sent. One budget for all
// with a share for each client. It refuses at once (503) and never waits. See daemon/DECISIONS.md.

import { ApiError } from '../../api/shapes/api-error.ts';

/** A client's share is the budget divided by this. */
const SHARES = 8;

/** Reserved bytes, until they are released. */
export interface Reservation {
  /** Bytes held now; 0 once released. */
  readonly size: number;
  /** Reserves `size` more bytes. False if they do not fit or the hold is released. */
  grow(size: number): boolean;
  /** Releases all but `size` bytes. */
  shrinkTo(size: number): void;
  /** Releases everything. Further calls do nothing. */
  release(): void;
}

export class MemoryBudget {
  #sizeMax = 0;
  #shareMax = 0;
  readonly #used = new Map<string, number>();
  #usedSize = 0;

  /** @param sizeMax  bytes in total */
  constructor(sizeMax: number) {
    this.setSize(sizeMax);
  }

  /** Existing reservations stay. */
  setSize(sizeMax: number): void {
    this.#sizeMax = sizeMax;
    this.#shareMax = Math.ceil(sizeMax / SHARES);
  }

  get usedSize(): number {
    return this.#usedSize;
  }

  /** Bytes that one client may reserve. */
  get shareMax(): number {
    return this.#shareMax;
  }

  usedBy(clientKey: string): number {
    return this.#used.get(clientKey) ?? 0;
  }

  /**
   * Reserves bytes for a client; undefined if its share or the budget is exhausted.
   *
   * @param size  may be 0: a hold that grows later
   */
  tryTake(clientKey: string, size: number): Reservation | undefined {
    if (!this.#take(clientKey, size)) return undefined;
    return new OpenReservation(
      size,
      (more) => this.#take(clientKey, more),
      (less) => this.#giveBack(clientKey, less),
    );
  }

  #take(clientKey: string, size: number): boolean {
    const used = this.usedBy(clientKey) + size;
    if (used > this.#shareMax || this.#usedSize + size > this.#sizeMax) return false;
    if (used > 0) this.#used.set(clientKey, used);
    this.#usedSize += size;
    return true;
  }

  #giveBack(clientKey: string, size: number): void {
    const remaining = this.usedBy(clientKey) - size;
    if (remaining > 0) this.#used.set(clientKey, remaining);
    else this.#used.delete(clientKey);
    this.#usedSize -= size;
  }
}

/** Why a class: see RequestView (exchange-parts.ts). */
class OpenReservation implements Reservation {
  #size: number;
  #isOpen = true;
  readonly #take: (size: number) => boolean;
  readonly #giveBack: (size: number) => void;

  constructor(size: number, take: (size: number) => boolean, giveBack: (size: number) => void) {
    this.#size = size;
    this.#take = take;
    this.#giveBack = giveBack;
  }

  get size(): number {
    return this.#size;
  }

  grow(size: number): boolean {
    if (!this.#isOpen || !this.#take(size)) return false;
    this.#size += size;
    return true;
  }

  shrinkTo(size: number): void {
    if (size >= this.#size) return;
    this.#giveBack(this.#size - size);
    this.#size = size;
  }

  release(): void {
    this.#isOpen = false;
    this.shrinkTo(0);
  }
}

/** The refusal when the budget is exhausted. */
export function noMemoryError(): ApiError {
  return new ApiError('SERVER_OVERLOADED', 'Too many bytes are waiting to be read or sent.');
}
