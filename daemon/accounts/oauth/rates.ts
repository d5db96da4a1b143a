// Rate limits per user or network, or for all together: a number of calls in a window. Counts are in memory, lost at a
// restart, and limited in number.

import { LRUCache } from 'lru-cache';
import { entryBound } from '../../base/entry-bound.ts';

interface Count {
  readonly startMs: number;
  count: number;
}

interface RateBound {
  readonly countMax: number;
  readonly windowMs: number;
}

export class Rate {
  readonly #bound: RateBound;
  /** By user or network. */
  readonly #counts = new LRUCache<string, Count>(entryBound(20_000));

  constructor(bound: RateBound) {
    this.#bound = bound;
  }

  /** Counts a call for `key`. @returns  0: allowed; else the seconds to wait, and nothing was counted */
  take(key: string, nowMs: number): number {
    const { countMax, windowMs } = this.#bound;
    const existing = this.#counts.get(key);
    const isCurrent =
      existing !== undefined && nowMs >= existing.startMs && nowMs < existing.startMs + windowMs;
    const current = isCurrent ? existing : { startMs: nowMs, count: 0 };
    if (current.count >= countMax) return Math.ceil((current.startMs + windowMs - nowMs) / 1000);
    current.count++;
    this.#counts.set(key, current);
    return 0;
  }
}
