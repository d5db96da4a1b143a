// The charts of the health page: how searches, memory and shards did in the last hour or day.

import { useQuery } from '@tanstack/react-query';
import { Suspense, lazy } from 'react';
import type { getHealthSeries } from '../../api/instance/health-endpoints.ts';
import { useAddressParameters } from '../data/address-parameters.ts';
import { call } from '../data/api.ts';
import type { AnswerOf } from '../data/api.ts';
import { POLLED } from '../data/polling.ts';
import { Notice } from '../parts/notice.tsx';
import { count, size } from '../parts/words.ts';
import '../styles/charts.css';

const Chart = lazy(() => import('../parts/chart.tsx'));

type Point = AnswerOf<typeof getHealthSeries>['points'][number];

/** A day is chosen in the address; an hour is what is shown otherwise. */
const WINDOWS = [
  { window: undefined, label: '1 h', stepMs: 15_000 },
  { window: '86400', label: '24 h', stepMs: 360_000 },
] as const;

/** Three figures are enough. */
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
    title: 'Time of a search',
    lines: [
      { name: 'half within', of: ({ p50Ms }) => p50Ms },
      { name: '99 of 100 within', of: ({ p99Ms }) => p99Ms },
    ],
    format: (value) => `${short(value)} ms`,
  },
  {
    title: 'Searches a second',
    lines: [{ name: 'searches', of: ({ searchesPerSecond }) => searchesPerSecond }],
    format: short,
  },
  {
    title: 'Searches that wait',
    lines: [{ name: 'most', of: ({ waiting }) => waiting }],
    format: count,
    isWhole: true,
  },
  {
    title: 'Memory',
    lines: [{ name: 'of the daemon alone', of: ({ privateBytes }) => privateBytes }],
    format: size,
  },
  {
    title: 'Shards in service',
    lines: [{ name: 'shards', of: ({ shards }) => shards }],
    format: count,
    isWhole: true,
  },
];

/** The room of the charts that are on their way. */
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
      call<typeof getHealthSeries>('/api/health/series', {
        query: { window },
        signal,
      }),
    ...POLLED,
    refetchInterval: stepMs,
  });
  const points = data?.points ?? [];
  const times = points.map(({ at }) => Date.parse(at));
  return (
    <section aria-label="Charts">
      <div className="page-head">
        <h2>Lately</h2>
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
        <p className="faint">Nothing yet: the daemon has just started.</p>
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
