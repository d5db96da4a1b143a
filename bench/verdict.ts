// The verdict on two builds: faster, slower or undecided. Starts differ in speed, so all of them must agree.

import { median, quantile } from './statistics.ts';

/** Times of one request to both builds, one right after the other. */
export type Pair = readonly [ownMs: number, otherMs: number];

export interface Comparison {
  readonly verdict: 'faster' | 'slower' | 'undecided';
  readonly ownMs: number;
  readonly otherMs: number;
  /** Own time over the other's: median of all pairs. */
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
}

/** A smaller difference is none. */
const TOLERANCE = 0.02;

/** By start of the processes; at least one start, each with at least one pair. */
export function compare(starts: readonly (readonly Pair[])[]): Comparison {
  const intervals = starts.map((pairs) => intervalOf(pairs.map(([own, other]) => own / other)));
  const all = starts.flat();
  const isFaster = intervals.every(({ high }) => high < 1 - TOLERANCE);
  const isSlower = intervals.every(({ low }) => low > 1 + TOLERANCE);
  return {
    verdict: isFaster ? 'faster' : isSlower ? 'slower' : 'undecided',
    ownMs: median(all.map(([own]) => own)),
    otherMs: median(all.map(([, other]) => other)),
    ratio: median(all.map(([own, other]) => own / other)),
    low: Math.min(...intervals.map(({ low }) => low)),
    high: Math.max(...intervals.map(({ high }) => high)),
  };
}

/** 99 % confidence, by ranks: no distribution is assumed. */
function intervalOf(values: readonly number[]): { readonly low: number; readonly high: number } {
  const sorted = values.toSorted((a, b) => a - b);
  // Standard errors of an interval of 99 %.
  const reach = 2.576 / (2 * Math.sqrt(sorted.length));
  return {
    low: quantile(sorted, Math.max(Number.MIN_VALUE, 0.5 - reach)),
    high: quantile(sorted, Math.min(1, 0.5 + reach)),
  };
}
