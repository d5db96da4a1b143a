// Health of the last hour and day (API.md 18): 240 points each, in memory. Latencies are counted in buckets.

import type { HealthPoint } from '../api/shapes/endpoint-services.ts';

export interface HealthSample {
  readonly waiting: number;
  readonly privateBytes: number;
  readonly shards: number;
}

const POINT_COUNT = 240;
/** An hour in 240 points, and a day. */
const STEP_MS = 15_000;
const STEPS_OF_DAY = 24;

/** Each is 9 % wider than the one before: a percentile is at most that much too high. */
const BUCKETS_OF_OCTAVE = 8;
const FIRST_MS = 0.01;
/** Up to 3 minutes. */
const BUCKET_COUNT = 24 * BUCKETS_OF_OCTAVE;

class Durations {
  readonly #counts = new Float64Array(BUCKET_COUNT);
  count = 0;

  add(ms: number): void {
    const bucket = Math.ceil(Math.log2(ms / FIRST_MS) * BUCKETS_OF_OCTAVE);
    this.#counts[Math.min(BUCKET_COUNT - 1, Math.max(0, bucket))]!++;
    this.count++;
  }

  /** Upper bound of the bucket with this quantile; null: no data. */
  quantile(share: number): number | null {
    if (this.count === 0) return null;
    const rank = Math.max(1, Math.ceil(this.count * share));
    let passed = 0;
    const bucket = this.#counts.findIndex((count) => (passed += count) >= rank);
    return FIRST_MS * 2 ** (bucket / BUCKETS_OF_OCTAVE);
  }
}

class Stretch {
  readonly durations = new Durations();
  readonly #sinceMs: number;
  #waiting = 0;
  #privateBytes = 0;
  stepCount = 0;

  constructor(sinceMs: number) {
    this.#sinceMs = sinceMs;
  }

  ageMs(nowMs: number): number {
    return nowMs - this.#sinceMs;
  }

  step({ waiting, privateBytes }: HealthSample): void {
    this.#waiting = Math.max(this.#waiting, waiting);
    this.#privateBytes = Math.max(this.#privateBytes, privateBytes);
    this.stepCount++;
  }

  point(nowMs: number, sample: HealthSample): HealthPoint {
    const { durations } = this;
    return {
      at: nowMs,
      searchesPerSecond: (durations.count * 1000) / Math.max(1, this.ageMs(nowMs)),
      p50Ms: durations.quantile(0.5),
      p99Ms: durations.quantile(0.99),
      waiting: Math.max(this.#waiting, sample.waiting),
      privateBytes: Math.max(this.#privateBytes, sample.privateBytes),
      shards: sample.shards,
    };
  }
}

class Series {
  readonly #stepsOfPoint: number;
  readonly #points: HealthPoint[] = [];
  current: Stretch;

  constructor(stepsOfPoint: number, nowMs: number) {
    this.#stepsOfPoint = stepsOfPoint;
    this.current = new Stretch(nowMs);
  }

  step(nowMs: number, sample: HealthSample): void {
    this.current.step(sample);
    if (this.current.stepCount < this.#stepsOfPoint) return;
    this.#points.push(this.current.point(nowMs, sample));
    if (this.#points.length >= POINT_COUNT) this.#points.shift();
    this.current = new Stretch(nowMs);
  }

  points(nowMs: number, sample: HealthSample): HealthPoint[] {
    const fromMs = nowMs - this.#stepsOfPoint * STEP_MS * POINT_COUNT;
    const points = this.#points.filter(({ at }) => at > fromMs && at <= nowMs);
    // A shorter interval is not reported: its rate would jump.
    const isDue = this.current.ageMs(nowMs) >= 1_000;
    return isDue ? [...points, this.current.point(nowMs, sample)] : points;
  }
}

export class HealthSeries {
  readonly #sample: () => HealthSample;
  readonly #now: () => number;
  readonly #hour: Series;
  readonly #day: Series;
  readonly #timer: NodeJS.Timeout;

  constructor(sample: () => HealthSample, now: () => number = Date.now) {
    this.#sample = sample;
    this.#now = now;
    this.#hour = new Series(1, now());
    this.#day = new Series(STEPS_OF_DAY, now());
    this.#timer = setInterval(() => this.step(), STEP_MS).unref();
  }

  noteSearch(ms: number): void {
    this.#hour.current.durations.add(ms);
    this.#day.current.durations.add(ms);
  }

  step(): void {
    const sample = this.#sample();
    this.#hour.step(this.#now(), sample);
    this.#day.step(this.#now(), sample);
  }

  series(windowSeconds: 3600 | 86_400): readonly HealthPoint[] {
    const series = windowSeconds === 3600 ? this.#hour : this.#day;
    return series.points(this.#now(), this.#sample());
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
