// The verdict on two builds: faster, slower or undecided. Starts differ in speed, so all of them must agree.

import type { Calibration } from './record.ts';
import { median, quantile } from './statistics.ts';

/** Times of one request to both builds, one right after the other. */
export type Pair = readonly [ownMs: number, otherMs: number];

export interface Comparison {
  readonly verdict: 'faster' | 'slower' | 'undecided';
  readonly ownMs: number;
  readonly otherMs: number;
  /** Own time over the other's: median of all pairs; of separate runs, ratio of the medians. */
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
}

interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Half the width of an interval of 99 %, in standard errors. */
const STANDARD_ERRORS = 2.576;
/** A smaller difference does not count. */
const TOLERANCE = 0.02;
/** As TOLERANCE, for runs that were not interleaved. Guess: two starts of one build may differ by that much. */
const APART_TOLERANCE = 0.1;
/** An interval of 99 % by ranks needs that many samples. */
const SAMPLES_MIN = 8;
/** Most blocks. Why blocks: consecutive samples depend on each other, so single samples would give too narrow an interval. */
const BLOCK_COUNT = 20;

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

/** What the machine alone may have changed, as own time over the other's: of the middle halves; 1 is always in it. */
export function speedRange(own: Calibration, other: Calibration): Interval {
  const names = ['processorMs', 'memoryMs'] as const;
  return {
    low: Math.min(
      1,
      ...names.map((name) => quantileOf(own[name], 0.25) / quantileOf(other[name], 0.75)),
    ),
    high: Math.max(
      1,
      ...names.map((name) => quantileOf(own[name], 0.75) / quantileOf(other[name], 0.25)),
    ),
  };
}

/**
 * Of runs that were not interleaved: samples in the order of measuring, by start, none of them empty. The interval holds the
 * ratio of any two starts, at any speed of the machine within `speed`. `share`: of the quantile that is compared.
 */
export function compareApart(
  own: readonly (readonly number[])[],
  other: readonly (readonly number[])[],
  speed: Interval,
  share = 0.5,
): Comparison {
  const ownBlocks = own.map((samples) => blocksOf(samples, share));
  const otherBlocks = other.map((samples) => blocksOf(samples, share));
  const a = rangeOf(ownBlocks);
  const b = rangeOf(otherBlocks);
  const low = a.low / b.high / speed.high;
  const high = a.high / b.low / speed.low;
  const isEnough = [...ownBlocks, ...otherBlocks].every(({ length }) => length >= SAMPLES_MIN);
  const isFaster = isEnough && high < 1 - APART_TOLERANCE;
  const isSlower = isEnough && low > 1 + APART_TOLERANCE;
  const [ownMs, otherMs] = [median(ownBlocks.flat()), median(otherBlocks.flat())];
  const verdict = isFaster ? 'faster' : isSlower ? 'slower' : 'undecided';
  return { verdict, ownMs, otherMs, ratio: ownMs / otherMs, low, high };
}

function quantileOf(samples: readonly number[], share: number): number {
  return quantile(
    samples.toSorted((a, b) => a - b),
    share,
  );
}

/** The quantile of each run of consecutive samples. */
function blocksOf(samples: readonly number[], share: number): number[] {
  const count = Math.min(BLOCK_COUNT, samples.length);
  return Array.from({ length: count }, (_, i) => {
    const from = Math.floor((i * samples.length) / count);
    const to = Math.floor(((i + 1) * samples.length) / count);
    return quantileOf(samples.slice(from, to), share);
  });
}

function rangeOf(starts: readonly (readonly number[])[]): Interval {
  // Two independent errors of this size make one of `STANDARD_ERRORS`.
  const intervals = starts.map((values) => intervalOf(values, STANDARD_ERRORS / Math.SQRT2));
  return {
    low: Math.min(...intervals.map(({ low }) => low)),
    high: Math.max(...intervals.map(({ high }) => high)),
  };
}

/** By ranks: no distribution is assumed. */
function intervalOf(values: readonly number[], standardErrors = STANDARD_ERRORS): Interval {
  const sorted = values.toSorted((a, b) => a - b);
  const reach = standardErrors / (2 * Math.sqrt(sorted.length));
  return {
    low: quantile(sorted, Math.max(Number.MIN_VALUE, 0.5 - reach)),
    high: quantile(sorted, Math.min(1, 0.5 + reach)),
  };
}
