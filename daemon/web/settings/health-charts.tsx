// Charts of the health page: searches, memory and shards in the last hour or day.

import { useQuery } from '@tanstack/react-query';
import { Suspense, lazy } from 'react';
import type { getHealthSeries } from '../../api/instance/system-endpoints.ts';
import { useAddressParameters } from '../data/address-parameters.ts';
import { type AnswerOf, call } from '../data/api.ts';
import { POLLED } from '../data/polling.ts';
import { Notice } from '../parts/notice.tsx';
import { count, size } from '../parts/number-format.ts';
import '../styles/charts.css';

const Chart = lazy(() => import('../parts/chart.tsx'));

type Point = AnswerOf<typeof getHealthSeries>['points'][number];

/** A day is in the address; an hour is the default. */
const WINDOWS = [
  { window: undefined, label: '1 h', stepMs: 15_000 },
  { window: '86400', label: '24 h', stepMs: 360_000 },
] as const;

/** Rounds to about three digits. */
function short(value: number): string {
  if (value > 0 && value < 1) return value.toFixed(2);
  return value < 10 ? value.toFixed(1) : count(Math.round(value));
}

const CHARTS: readonly {
  readonly title: string;
  readonly lines: readonly {
    readonly name: string;
    readonly of: (point: Point) => number | null;
  }[];
  readonly format: (value: number) => string;
  readonly isWhole?: boolean;
}[] = [
  {
    title: 'Search latency',
    lines: [
      { name: 'p50', of: ({ p50Ms }) => p50Ms },
      { name: 'p99', of: ({ p99Ms }) => p99Ms },
    ],
    format: (value) => `${short(value)} ms`,
  },
  {
    title: 'Searches per second',
    lines: [{ name: 'searches', of: ({ searchesPerSecond }) => searchesPerSecond }],
    format: short,
  },
  {
    title: 'Queued searches',
    lines: [{ name: 'peak', of: ({ waiting }) => waiting }],
    format: count,
    isWhole: true,
  },
  {
    title: 'Memory',
    lines: [{ name: 'private memory of the daemon', of: ({ privateBytes }) => privateBytes }],
    format: size,
  },
  {
    title: 'Active shards',
    lines: [{ name: 'shards', of: ({ shards }) => shards }],
    format: count,
    isWhole: true,
  },
];

/** Keeps the space of charts that are loading. */
function Due() {
  return (
    <div className="charts">
      {CHARTS.map(({ title }) => (
        <div key={title} className="chart chart-due" />
      ))}
    </div>
  );
}

export function HealthCharts() {
  const { valueOf, change } = useAddressParameters(['state', 'page', 'window']);
  const { window, stepMs } = WINDOWS.find((one) => one.window === valueOf('window')) ?? WINDOWS[0];
  const { data, error, isPending } = useQuery({
    queryKey: ['health-series', window],
    queryFn: ({ signal }) =>
      call<typeof getHealthSeries>('/api/health/series', { query: { window }, signal }),
    ...POLLED,
    refetchInterval: stepMs,
  });
  const points = data?.points ?? [];
  const times = points.map(({ at }) => Date.parse(at));
  return (
    <section aria-label="Charts">
      <div className="page-head">
        <h2>{window === undefined ? 'Last hour' : 'Last 24 hours'}</h2>
        <span className="button-row">
          {WINDOWS.map((one) => (
            <button
              key={one.label}
              type="button"
              className="button"
              aria-pressed={one.window === window}
              onClick={() => change({ window: one.window }, 'step')}
            >
              {one.label}
            </button>
          ))}
        </span>
      </div>
      {error !== null && <Notice kind="danger" title={error.message} />}
      {points.length === 0 && data !== undefined && (
        <p className="faint">No data yet. The daemon has just started.</p>
      )}
      {isPending && <Due />}
      {points.length > 0 && (
        <Suspense fallback={<Due />}>
          <div className="charts" key={window ?? 'hour'}>
            {CHARTS.map(({ title, lines, format, isWhole = false }) => (
              <Chart
                key={title}
                title={title}
                times={times}
                stepMs={stepMs}
                format={format}
                isWhole={isWhole}
                lines={lines.map(({ name, of }) => ({ name, values: points.map(of) }))}
              />
            ))}
          </div>
        </Suspense>
      )}
    </section>
  );
}
