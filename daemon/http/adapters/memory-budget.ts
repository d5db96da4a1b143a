// How many bytes requests may hold at a time: bodies on their way in, files being read, answers that wait for their
// readers. One budget for all, and in it a share for each holder, so that neither all together nor one alone fill
// the memory. Counts and refuses, never waits; what is refused becomes a 503 at whoever asked.
// See daemon/DECISIONS.md.

import { ApiError } from '../../api/shapes/api-error.ts';

/** The share of a holder, as a part of the whole. */
const SHARES = 8;

/** Bytes that are taken, until they are given back. */
export interface Hold {
  /** Bytes held now; 0 once released. */
  readonly size: number;
  /** Takes `size` bytes more; false, and nothing is taken, where they do not fit or the hold is released. */
  grow(size: number): boolean;
  /** Gives back all but `size` bytes; nothing where it holds no more. */
  shrinkTo(size: number): void;
  /** Gives all back. Further calls do nothing. */
  release(): void;
}

export class MemoryBudget {
  #sizeMax = 0;
  #shareMax = 0;
  readonly #used = new Map<string, number>();
  #usedSize = 0;

  /** @param sizeMax  bytes for all together */
  constructor(sizeMax: number) {
    this.setSize(sizeMax);
  }

  /** What is held already stays. */
  setSize(sizeMax: number): void {
    this.#sizeMax = sizeMax;
    this.#shareMax = Math.ceil(sizeMax / SHARES);
  }

  /** Bytes held by all. */
  get usedSize(): number {
    return this.#usedSize;
  }

  /** Bytes that one holder may hold. */
  get shareMax(): number {
    return this.#shareMax;
  }

  /** Bytes held by a holder. */
  usedBy(holder: string): number {
    return this.#used.get(holder) ?? 0;
  }

  /**
   * Takes bytes for a holder; undefined where its share or the whole has no room for them.
   *
   * @param size  may be 0: a hold that grows later
   */
  tryTake(holder: string, size: number): Hold | undefined {
    if (!this.#take(holder, size)) return undefined;
    return new OpenHold(
      size,
      (more) => this.#take(holder, more),
      (less) => this.#giveBack(holder, less),
    );
  }

  #take(holder: string, size: number): boolean {
    const used = this.usedBy(holder) + size;
    if (used > this.#shareMax || this.#usedSize + size > this.#sizeMax) return false;
    if (used > 0) this.#used.set(holder, used);
    this.#usedSize += size;
    return true;
  }

  #giveBack(holder: string, size: number): void {
    const left = this.usedBy(holder) - size;
    if (left > 0) this.#used.set(holder, left);
    else this.#used.delete(holder);
    this.#usedSize -= size;
  }
}

/** Why a class: see RequestView (exchange-parts.ts). */
class OpenHold implements Hold {
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

/** What a caller is told for whom there is no room. */
export function noMemoryError(): ApiError {
  return new ApiError('SERVER_OVERLOADED', 'Too many bytes wait to be read or sent.');
}
