// A small chart of numbers over time. Lines differ by colour and dashes; their names and last values are above, and the
// numbers are also available as a table. Drawn by uPlot, which loads with this file. Missing values leave a gap.

import { useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import '../styles/charts.css';

export interface ChartLine {
  readonly name: string;
  /** Null: no value. */
  readonly values: readonly (number | null)[];
}

export interface ChartProps {
  readonly title: string;
  /** ms since the epoch, ascending. */
  readonly times: readonly number[];
  /** Times that are further apart have a gap between them. */
  readonly stepMs: number;
  /** At most four. */
  readonly lines: readonly ChartLine[];
  readonly format: (value: number) => string;
  /** Only whole numbers, so no labels between 1 and 2. */
  readonly isWhole?: boolean;
}

const DASHES: readonly (readonly number[])[] = [[], [6, 3], [2, 2], [8, 2, 2, 2]];
/** Steps between axis labels, in seconds and as whole numbers. */
const TIME_STEPS = [1, 5, 15, 30, 60, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600];
const WHOLE_STEPS = [1, 2, 5].flatMap((one) =>
  [0, 1, 2, 3, 4, 5, 6].map((power) => one * 10 ** power),
);
const TIME = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hour12: false });
const SECONDS = new Intl.DateTimeFormat('en', { timeStyle: 'medium', hour12: false });
const EXACT = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });

/** Times and values for uPlot. Each gap gets a point without values. */
function dataOf({ times, stepMs, lines }: ChartProps): uPlot.AlignedData {
  const locations = times.flatMap((at, index) => {
    const before = times[index - 1];
    const isGap = before !== undefined && at - before > 1.5 * stepMs;
    return isGap ? [-1, index] : [index];
  });
  return [
    locations.map(
      (index, place) => (times[index] ?? (times[locations[place + 1] ?? 0] ?? 0) - 1) / 1000,
    ),
    ...lines.map(({ values }) => locations.map((index) => values[index] ?? null)),
  ];
}

function optionsOf(
  place: HTMLElement,
  { lines, format, isWhole = false }: ChartProps,
  onPoint: (index: number | undefined) => void,
): uPlot.Options {
  const { color, fontSize, fontFamily } = getComputedStyle(place);
  // Why not `font`: it is empty if the style sets `font-variant-numeric`.
  const font = `${fontSize} ${fontFamily}`;
  const grid = getComputedStyle(place, '::before').color;
  const colours = [...place.parentElement!.querySelectorAll('.chart-mark')].map(
    (mark) => getComputedStyle(mark).color,
  );
  const axis = { stroke: color, font, grid: { stroke: grid, width: 1 }, ticks: { show: false } };
  return {
    width: place.clientWidth,
    height: place.clientHeight,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)] },
    scales: { y: { range: (_, __, max) => [0, max > 0 ? max * 1.1 : 1] } },
    axes: [
      {
        ...axis,
        size: 24,
        space: 72,
        incrs: TIME_STEPS,
        values: (_, ticks) => {
          const step = (ticks[1] ?? Infinity) - (ticks[0] ?? 0);
          const format = step < 60 ? SECONDS : TIME;
          return ticks.map((seconds) => format.format(seconds * 1000));
        },
      },
      {
        ...axis,
        size: 72,
        space: 32,
        ...(isWhole ? { incrs: WHOLE_STEPS.toSorted((a, b) => a - b) } : {}),
        values: (_, ticks) => ticks.map((value) => format(value)),
      },
    ],
    series: [
      {},
      ...lines.map((_, index) => ({
        stroke: colours[index] ?? color,
        width: 1.5,
        dash: [...(DASHES[index] ?? [])],
        points: { show: false },
      })),
    ],
  };
}

/** Changes when the colours change: by the theme, or by the system's. */
function useScheme(): string {
  const [scheme, setScheme] = useState('');
  useEffect(() => {
    const update = (): void =>
      setScheme(`${document.documentElement.dataset['theme'] ?? ''} ${String(dark.matches)}`);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const watch = new MutationObserver(update);
    watch.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    dark.addEventListener('change', update);
    return () => {
      watch.disconnect();
      dark.removeEventListener('change', update);
    };
  }, []);
  return scheme;
}

/** The last value that exists. */
function lastOf(values: readonly (number | null)[]): number | null {
  return values.findLast((value) => value !== null) ?? null;
}

function Values({ at, ...props }: ChartProps & { readonly at: number | undefined }) {
  const { lines, format } = props;
  return (
    <span className="chart-values">
      {lines.map(({ name, values }) => {
        const value = at === undefined ? lastOf(values) : (values[at] ?? null);
        return (
          <span key={name} className="chart-value">
            <svg className="chart-mark" viewBox="0 0 24 4" aria-hidden>
              <line x1="0" y1="2" x2="24" y2="2" />
            </svg>
            {name} <strong>{value === null ? '–' : format(value)}</strong>
          </span>
        );
      })}
    </span>
  );
}

function NumberTable({ title, times, lines, format }: ChartProps) {
  return (
    <div className="chart-table" tabIndex={0} role="region" aria-label={`${title}, as a table`}>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Until</th>
            {lines.map(({ name }) => (
              <th key={name} scope="col" className="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times
            .map((at, index) => (
              <tr key={at}>
                <td>{EXACT.format(at)}</td>
                {lines.map(({ name, values }) => {
                  const value = values[index] ?? null;
                  return (
                    <td key={name} className="number">
                      {value === null ? '' : format(value)}
                    </td>
                  );
                })}
              </tr>
            ))
            .toReversed()}
        </tbody>
      </table>
    </div>
  );
}

/** A description of the chart in words. */
function sentenceOf({ title, lines, format }: ChartProps): string {
  const parts = lines.map(({ name, values }) => {
    const present = values.filter((value) => value !== null);
    const last = lastOf(values);
    if (last === null) return `${name}: no data`;
    return `${name}: now ${format(last)}, from ${format(Math.min(...present))} to ${format(Math.max(...present))}`;
  });
  return `${title}. ${parts.join('; ')}.`;
}

export default function Chart(props: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot>(null);
  const [index, setIndex] = useState<number>();
  const [isTable, setTable] = useState(false);
  const scheme = useScheme();
  const data = useMemo(() => dataOf(props), [props]);
  const { title, times } = props;
  useEffect(() => {
    if (place.current === null) return;
    const { current: box } = place;
    const chart = new uPlot(optionsOf(box, props, setIndex), data, box);
    drawn.current = chart;
    const watch = new ResizeObserver(() =>
      chart.setSize({ width: box.clientWidth, height: box.clientHeight }),
    );
    watch.observe(box);
    return () => {
      watch.disconnect();
      chart.destroy();
    };
    // Redraws the chart when colours change. New data updates the existing chart.
  }, [scheme]);
  useEffect(() => drawn.current?.setData(data), [data]);
  const at = index === undefined ? undefined : times.indexOf((data[0][index] ?? 0) * 1000);
  return (
    <section className="chart" aria-label={title}>
      <div className="chart-head">
        <h3>{title}</h3>
        {at !== undefined && at >= 0 && (
          <span className="faint">{TIME.format(times[at] ?? 0)}</span>
        )}
      </div>
      <Values {...props} at={at === -1 ? undefined : at} />
      <div ref={place} className="chart-place" role="img" aria-label={sentenceOf(props)} />
      <button
        type="button"
        className="link-button"
        aria-expanded={isTable}
        onClick={() => setTable(!isTable)}
      >
        {isTable ? 'Hide table' : 'Show as table'}
      </button>
      {isTable && <NumberTable {...props} />}
    </section>
  );
}
