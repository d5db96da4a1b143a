// Limits the bytes that requests hold, in total and for each client. Refuses at once (503). See daemon/DECISIONS.md.

import { ApiError } from '../../api/shapes/api-error.ts';

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

  /** Undefined if the client's share or the budget is exhausted. */
  tryTake(clientKey: string, size: number): Reservation | undefined {
    const reservation = new Reservation(this, clientKey);
    return reservation.grow(size) ? reservation : undefined;
  }

  /** False, and nothing is taken: it does not fit. */
  take(clientKey: string, size: number): boolean {
    const used = this.usedBy(clientKey) + size;
    if (used > this.#shareMax || this.#usedSize + size > this.#sizeMax) return false;
    if (used > 0) this.#used.set(clientKey, used);
    this.#usedSize += size;
    return true;
  }

  giveBack(clientKey: string, size: number): void {
    const remaining = this.usedBy(clientKey) - size;
    if (remaining > 0) this.#used.set(clientKey, remaining);
    else this.#used.delete(clientKey);
    this.#usedSize -= size;
  }
}

/** Bytes taken of a budget. */
export class Reservation {
  readonly #budget: MemoryBudget;
  readonly #clientKey: string;
  #isOpen = true;
  /** 0 once released. */
  size = 0;

  constructor(budget: MemoryBudget, clientKey: string) {
    this.#budget = budget;
    this.#clientKey = clientKey;
  }

  /** Reserves `size` more bytes. False if they do not fit or the reservation is released. */
  grow(size: number): boolean {
    if (!this.#isOpen || !this.#budget.take(this.#clientKey, size)) return false;
    this.size += size;
    return true;
  }

  shrinkTo(size: number): void {
    if (size >= this.size) return;
    this.#budget.giveBack(this.#clientKey, this.size - size);
    this.size = size;
  }

  /** Releases everything. Further calls do nothing. */
  release(): void {
    this.#isOpen = false;
    this.shrinkTo(0);
  }
}

export function noMemoryError(): ApiError {
  return new ApiError('SERVER_OVERLOADED', 'Too many bytes are waiting to be read or sent.');
}
