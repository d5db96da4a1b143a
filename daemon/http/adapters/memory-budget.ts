// Limits the bytes that requests hold, in total and for each client. Refuses at once (503). See daemon/DECISIONS.md.

import { ApiError } from '../../api/shapes/api-error.ts';

export interface Reservation {
  /** Bytes; 0 once released. */
  readonly size: number;
  /** Reserves `size` more bytes. False if they do not fit or the hold is released. */
  grow(size: number): boolean;
  shrinkTo(size: number): void;
  /** Releases everything. Further calls do nothing. */
  release(): void;
}

export class MemoryBudget {
  #sizeMax = 0;
  #shareMax = 0;
  readonly #used = new Map<string, number>();
  #usedSize = 0;

  constructor(sizeMax: number) {
    this.setSize(sizeMax);
  }

  /** Existing reservations stay. */
  setSize(sizeMax: number): void {
    this.#sizeMax = sizeMax;
    this.#shareMax = Math.ceil(sizeMax / 8);
  }

  get usedSize(): number {
    return this.#usedSize;
  }

  get shareMax(): number {
    return this.#shareMax;
  }

  usedBy(clientKey: string): number {
    return this.#used.get(clientKey) ?? 0;
  }

  /** Undefined if the client's share or the budget is exhausted. `size` may be 0, to grow later. */
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

export function noMemoryError(): ApiError {
  return new ApiError('SERVER_OVERLOADED', 'Too many bytes are waiting to be read or sent.');
}
