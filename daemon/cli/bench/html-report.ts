// A report on one run or two as one HTML file that opens offline: tables, and plots in SVG. No script.

import {
  CASE_COLUMNS,
  caseRows,
  type ComparedRuns,
  describeComparison,
  describeRun,
  FIGURE_COLUMNS,
  figureRows,
  RUN_COLUMNS,
  runRows,
} from './compare.ts';
import type { RunRecord } from './record.ts';
import { type Column, formatMs, quantile } from './statistics.ts';

/** Unit of all plots: pixels. */
const ROW_HEIGHT = 18;
const NAME_WIDTH = 320;
const PLOT_WIDTH = 560;
const TOP = 22;
/** Points of a curve. */
const POINT_COUNT = 120;

const STYLE = `
body { font: 14px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em; color: #1c2026; background: #fff }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
td, th { padding: 2px 10px; border-bottom: 1px solid #dde1e6; text-align: left; vertical-align: top }
td.right, th.right { text-align: right; white-space: nowrap }
.scroll { overflow-x: auto }
svg { font: 12px system-ui, sans-serif; display: block; max-width: 100%; height: auto }
svg text { fill: #1c2026 } .axis { stroke: #c6ccd4 } .undecided { stroke: #717a86; fill: #717a86 }
.faster { stroke: #117a43; fill: #117a43 } .slower { stroke: #b3261e; fill: #b3261e }
.before { stroke: #717a86; fill: #717a86 } .after { stroke: #1f5fbf; fill: #1f5fbf } .curve { fill: none }
`;

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const row = (tag: string, cells: readonly string[]): string => {
    const inner = columns.map(
      ({ align }, i) => `<${tag} class="${align}">${escape(cells[i] ?? '')}</${tag}>`,
    );
    return `<tr>${inner.join('')}</tr>`;
  };
  const head = columns.map(({ title }) => title);
  const body = rows.map((cells) => row('td', cells)).join('\n');
  return `<div class="scroll"><table>\n${row('th', head)}\n${body}\n</table></div>`;
}

interface Scale {
  readonly low: number;
  readonly high: number;
}

/** Logarithmic; around all values, which are above 0. */
function scaleOf(values: readonly number[]): Scale {
  const used = values.filter((value) => value > 0 && Number.isFinite(value));
  if (used.length === 0) return { low: 0.5, high: 2 };
  const [low, high] = [Math.min(...used), Math.max(...used)];
  return { low: low / 1.1, high: high * 1.1 };
}

function place({ low, high }: Scale, value: number): number {
  const share = Math.log(value / low) / Math.log(high / low);
  return NAME_WIDTH + PLOT_WIDTH * Math.min(1, Math.max(0, share));
}

/** 1, 2 and 5 times the powers of ten. */
function ticksOf({ low, high }: Scale): number[] {
  const decades = Math.ceil(Math.log10(high / low)) + 2;
  const first = Math.floor(Math.log10(low));
  const all = Array.from({ length: decades }, (_, i) => 10 ** (first + i));
  const factors = decades > 4 ? [1] : [1, 2, 5];
  return all
    .flatMap((base) => factors.map((factor) => factor * base))
    .filter((tick) => tick >= low && tick <= high);
}

interface PlotRow {
  readonly name: string;
  /** SVG of the row, with the middle of it at `y`. */
  readonly draw: (y: number) => string;
}

function plot(rows: readonly PlotRow[], scale: Scale, label: string): string {
  const height = TOP + rows.length * ROW_HEIGHT + 4;
  const axis = ticksOf(scale).map((tick) => {
    const x = place(scale, tick).toFixed(1);
    const text = String(Number(tick.toPrecision(3)));
    return `<line class="axis" x1="${x}" x2="${x}" y1="${TOP - 4}" y2="${height}"/><text x="${x}" y="12" text-anchor="middle">${text}</text>`;
  });
  const drawn = rows.map(({ name, draw }, i) => {
    const y = TOP + (i + 0.5) * ROW_HEIGHT;
    const short = name.length > 48 ? `${name.slice(0, 47)}…` : name;
    return `<g><title>${escape(name)}</title><text x="0" y="${y + 4}">${escape(short)}</text>${draw(y)}</g>`;
  });
  const width = NAME_WIDTH + PLOT_WIDTH + 20;
  return `<svg role="img" aria-label="${escape(label)}" viewBox="0 0 ${width} ${height}" width="${width}">\n${[...axis, ...drawn].join('\n')}\n</svg>`;
}

function line(x1: number, x2: number, y: number, width: number): string {
  return `<line x1="${x1.toFixed(1)}" x2="${x2.toFixed(1)}" y1="${y}" y2="${y}" stroke-width="${width}"/>`;
}

/** The interval of each ratio, and the ratio. */
function ratioPlot({ cases }: ComparedRuns): string {
  const decided = cases.flatMap(({ id, comparison }) =>
    comparison ? [{ id, ...comparison }] : [],
  );
  const scale = scaleOf([0.8, 1.25, ...decided.flatMap(({ low, high }) => [low, high])]);
  const rows = decided.map(({ id, low, high, ratio, verdict }) => ({
    name: id,
    draw: (y: number) =>
      `<g class="${verdict}">${line(place(scale, low), place(scale, high), y, 2)}<circle cx="${place(scale, ratio).toFixed(1)}" cy="${y}" r="4"/></g>`,
  }));
  return plot(rows, scale, 'ratio of times, after to before, with its interval');
}

interface Series {
  readonly name: string;
  readonly style: 'before' | 'after';
  readonly samples: readonly number[];
}

/** After each case of `after` the same of `before`. */
function seriesOf(after: RunRecord, before: RunRecord | undefined): Series[] {
  const old = new Map(before?.cases.map((one) => [one.id, one]));
  return after.cases.flatMap((one): Series[] => {
    const earlier = old.get(one.id);
    const own: Series = { name: one.id, style: 'after', samples: one.starts.flat() };
    if (earlier === undefined) return [own];
    return [own, { name: `before: ${one.id}`, style: 'before', samples: earlier.starts.flat() }];
  });
}

/** From the 5th to the 95th percentile, the middle half, the median, and the 99th as a dot. */
function spreadPlot(all: readonly Series[]): string {
  const rows = all
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, style, samples }) => {
      const sorted = samples.toSorted((a, b) => a - b);
      const at = [0.05, 0.25, 0.5, 0.75, 0.95, 0.99].map((share) => quantile(sorted, share));
      return { name, style, at };
    });
  const scale = scaleOf(rows.flatMap(({ at }) => at));
  const drawn = rows.map(({ name, style, at }) => ({
    name,
    draw: (y: number) => {
      const [p5 = 0, p25 = 0, p50 = 0, p75 = 0, p95 = 0, p99 = 0] = at.map((ms) =>
        place(scale, ms),
      );
      const marks = `${line(p5, p95, y, 1)}${line(p25, p75, y, 7)}<circle cx="${p99.toFixed(1)}" cy="${y}" r="2"/>`;
      return `<g class="${style}">${marks}</g><line x1="${p50.toFixed(1)}" x2="${p50.toFixed(1)}" y1="${y - 6}" y2="${y + 6}" stroke="#fff" stroke-width="2"/>`;
    },
  }));
  return plot(drawn, scale, 'milliseconds by case');
}

/** Each case in the order of measuring: a drift or a stall is seen. The height is from the least to the 99th percentile. */
function orderPlot(all: readonly Series[]): string {
  const rows = all
    .filter(({ samples }) => samples.length > 1)
    .map(({ name, style, samples }) => ({
      name,
      draw: (y: number) => {
        const sorted = samples.toSorted((a, b) => a - b);
        const [low, high] = [sorted[0] ?? 0, quantile(sorted, 0.99)];
        const count = Math.min(POINT_COUNT, samples.length);
        const points = Array.from({ length: count }, (_, i) => {
          const ms = samples[Math.floor((i * (samples.length - 1)) / (count - 1))] ?? 0;
          const share = high > low ? Math.min(1, (ms - low) / (high - low)) : 0.5;
          const x = NAME_WIDTH + (i * (PLOT_WIDTH - 110)) / (count - 1);
          return `${x.toFixed(1)},${(y + 7 - 14 * share).toFixed(1)}`;
        });
        const range = `${formatMs(low)} to ${formatMs(high)}`;
        return `<polyline class="curve ${style}" points="${points.join(' ')}"/><text x="${NAME_WIDTH + PLOT_WIDTH + 20}" y="${y + 4}" text-anchor="end">${range}</text>`;
      },
    }));
  return plot(rows, { low: 1, high: 1 }, 'milliseconds in the order of measuring');
}

/** Errors: none; texts of records are escaped. */
export function htmlReport(run: RunRecord, compared?: ComparedRuns): string {
  const series = seriesOf(run, compared?.before);
  const figures = compared === undefined ? [] : figureRows(compared);
  const comparison =
    compared === undefined
      ? [`<p>${escape(describeRun(run))}</p>`]
      : [
          ...describeComparison(compared).map((text) => `<p>${escape(text)}</p>`),
          '<h2>Ratios</h2><p>Time after to time before, with the interval; left of 1 is faster.</p>',
          ratioPlot(compared),
          table(CASE_COLUMNS, caseRows(compared)),
          ...(figures.length > 0 ? [table(FIGURE_COLUMNS, figures)] : []),
        ];
  return [
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>trawl bench</title>',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<style>${STYLE}</style></head><body><h1>trawl bench</h1>`,
    ...comparison,
    '<h2>Times</h2><p>Milliseconds: thin from the 5th to the 95th percentile, thick the middle half, white the median, a dot the 99th.</p>',
    spreadPlot(series),
    '<h2>In the order of measuring</h2><p>Each case on its own scale, up to the 99th percentile.</p>',
    orderPlot(series),
    '<h2>Figures</h2>',
    table(RUN_COLUMNS, runRows(run)),
    '</body></html>\n',
  ].join('\n');
}
