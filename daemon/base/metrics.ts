// Metrics in the Prometheus text format (0.0.4). Counters and histograms record events; gauges are read on request. Callers
// define what is measured (daemon/app/metrics.ts); process-wide pools and caches register here where they are created.

/** Name, help and label names. Bound: label values come from small sets, never from clients. */
export interface MetricHead {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

/** Label values in order, and the number. */
export type Sample = readonly [labels: readonly string[], value: number];

/** Bound: rows of a metric; label values beyond it are merged. */
const ROWS_MAX = 5_000;
const OTHERS = 'other';

/** A state per combination of label values. */
class Rows<State> {
  readonly #rows = new Map<string, { readonly labels: readonly string[]; readonly state: State }>();
  readonly #make: () => State;

  constructor(make: () => State) {
    this.#make = make;
  }

  of(labels: readonly string[]): State {
    const key = labels.join('\0');
    const existing = this.#rows.get(key);
    if (existing !== undefined) return existing.state;
    const isFull = this.#rows.size >= ROWS_MAX && labels.some((label) => label !== OTHERS);
    if (isFull) return this.of(labels.map(() => OTHERS));
    const state = this.#make();
    this.#rows.set(key, { labels, state });
    return state;
  }

  values(): Iterable<{ readonly labels: readonly string[]; readonly state: State }> {
    return this.#rows.values();
  }
}

export class Counter {
  readonly #rows = new Rows(() => ({ count: 0 }));

  /** @param count  at least 0 */
  add(labels: readonly string[], count = 1): void {
    this.#rows.of(labels).count += count;
  }

  samples(): Sample[] {
    return [...this.#rows.values()].map(({ labels, state }) => [labels, state.count]);
  }
}

export class Histogram {
  readonly #bounds: readonly number[];
  readonly #rows: Rows<{ readonly counts: Float64Array; sum: number }>;

  /** @param bounds  upper ends of the buckets, ascending */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#rows = new Rows(() => ({ counts: new Float64Array(bounds.length + 1), sum: 0 }));
  }

  observe(labels: readonly string[], value: number): void {
    const row = this.#rows.of(labels);
    let bucket = 0;
    // NaN falls into no bucket but the last.
    while (bucket < this.#bounds.length && !(value <= this.#bounds[bucket]!)) bucket++;
    row.counts[bucket]!++;
    row.sum += value;
  }

  /** The lines of one metric; `le` follows the other labels. */
  lines({ name, labels: names = [] }: MetricHead): string[] {
    return [...this.#rows.values()].flatMap(({ labels, state: { counts, sum } }) => {
      let count = 0;
      const buckets = [...this.#bounds, '+Inf'].map((bound, index) => {
        count += counts[index]!;
        return line(`${name}_bucket`, [...names, 'le'], [...labels, String(bound)], count);
      });
      const totals = [line(`${name}_sum`, names, labels, sum)];
      return [...buckets, ...totals, line(`${name}_count`, names, labels, count)];
    });
  }
}

/** The metrics of one daemon, each defined once. */
export class Metrics {
  readonly #parts: (() => readonly string[])[] = [];

  counter(head: MetricHead): Counter {
    const counter = new Counter();
    // Why: the first event counts as an increase only after a 0.
    if (head.labels === undefined) counter.add([], 0);
    this.read('counter', head, () => counter.samples());
    return counter;
  }

  histogram(head: MetricHead, bounds: readonly number[]): Histogram {
    const histogram = new Histogram(bounds);
    this.#add('histogram', head, () => histogram.lines(head));
    return histogram;
  }

  /** @param sample  called for each text */
  read(type: 'counter' | 'gauge', head: MetricHead, sample: () => number | Iterable<Sample>): void {
    const { name, labels = [] } = head;
    this.#add(type, head, () => {
      const sampled = sample();
      const samples: Iterable<Sample> = typeof sampled === 'number' ? [[[], sampled]] : sampled;
      return [...samples].map(([values, value]) => line(name, labels, values, value));
    });
  }

  #add(type: string, { name, help }: MetricHead, lines: () => readonly string[]): void {
    this.#parts.push(() => [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines()]);
  }

  text(): string {
    return `${this.#parts.flatMap((part) => part()).join('\n')}\n`;
  }
}

function line(
  name: string,
  names: readonly string[],
  values: readonly string[],
  value: number,
): string {
  const pairs = names.map((label, index) => `${label}="${escaped(values[index] ?? '')}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

/** Counts by state, such as running and waiting. */
interface Counted {
  readonly counts: Readonly<Record<string, number>>;
}

const pools = new Map<string, Counted>();
const caches = new Map<string, { readonly size: number }>();

/** Registers a process-wide pool under its metric name. */
export function measuredPool<Pool extends Counted>(name: string, pool: Pool): Pool {
  pools.set(name, pool);
  return pool;
}

/** Registers a process-wide cache under its metric name. */
export function measuredCache<Cache extends { readonly size: number }>(
  name: string,
  cache: Cache,
): Cache {
  caches.set(name, cache);
  return cache;
}

/** Name, state and count of all registered pools. */
export function poolSamples(): Sample[] {
  return [...pools].flatMap(([name, { counts }]) =>
    Object.entries(counts).map(([kind, count]): Sample => [[name, kind], count]),
  );
}

/** Name and entry count of all registered caches. */
export function cacheSamples(): Sample[] {
  return [...caches].map(([name, { size }]) => [[name], size]);
}
