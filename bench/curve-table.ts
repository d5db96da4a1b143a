// The stored points of curves.ts as tables: each measure at some of them, its formula, how far that is off, and 1 TB.

import { readdirSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { formatBytes, formatCount } from '../daemon/cli/format.ts';
import { readRecord } from '../daemon/cli/bench/record.ts';
import type { RunRecord } from '../daemon/cli/bench/record.ts';
import { formatTable, quantile } from '../daemon/cli/bench/statistics.ts';
import { MATCHES_MAX } from './client.ts';
import { fitCurve } from './fit.ts';
import type { Curve } from './fit.ts';

/** Ids of LINUX_CASES: absent, its grams present, rare, common, regular expressions with and without a literal. */
export const CURVE_CASES = [
  'zqjxkv',
  'mutex_lock_return_int',
  'PM_RESUME',
  'return',
  String.raw`err(no)?\s*=\s*-E[A-Z]+;`,
  String.raw`\w{5}\s+\w{5}\s+\w{5}`,
] as const;

const TARGET_SIZE = 1e12;

const point = z.object({
  repoCount: z.number(),
  contentSize: z.number(),
  /** By the names of `MEASURES`, and "`CASE` first 100 p50" and so on, in ms; "all" is 100,000 matches. */
  values: z.record(z.string(), z.number()),
});
export const curvesSchema = z.object({
  startedAt: z.string(),
  commit: z.string(),
  product: z.string(),
  node: z.string(),
  cpu: z.string(),
  points: z.array(point),
});
export type Curves = z.infer<typeof curvesSchema>;
type CurvePoint = z.infer<typeof point>;

interface Measure {
  readonly name: string;
  readonly unit: 's' | 'ms' | 'MB' | '';
  readonly of: (figures: Readonly<Record<string, number>>) => number;
}

function figure(name: string, unit: Measure['unit'], key: string, scale: number): Measure {
  return { name, unit, of: (figures) => (figures[key] ?? 0) / scale };
}

/** 0: not measured. */
const MEASURES: readonly Measure[] = [
  figure('build', 's', 'buildMs', 1e3),
  figure('build, processor', 's', 'buildCpuMs', 1e3),
  figure('build, peak of private memory', 'MB', 'buildMemorySize', 1e6),
  figure('symbols', 's', 'symbolsMs', 1e3),
  {
    name: 'data directory / content',
    unit: '',
    of: ({ dataSize = 0, contentSize = 1 }) => dataSize / contentSize,
  },
  {
    name: 'symbols / content',
    unit: '',
    of: ({ symbolsSize = 0, contentSize = 1 }) => symbolsSize / contentSize,
  },
  figure('start until it listens', 'ms', 'openMs', 1),
  figure('start until the first answer', 'ms', 'firstAnswerMs', 1),
  figure('serving, private memory', 'MB', 'privateMemorySize', 1e6),
  figure('serving, memory of files', 'MB', 'sharedMemorySize', 1e6),
];

function pointOf({ figures, cases }: RunRecord): CurvePoint {
  const values: [string, number][] = MEASURES.map(({ name, of }) => [name, of(figures)]);
  for (const { id, starts, counts } of cases) {
    const isCut = (counts['matches'] ?? 0) > MATCHES_MAX;
    // Of a larger index, a whole answer is cut as well and grows no more.
    if (id.endsWith(' all') && !isCut) continue;
    const sorted = starts.flat().toSorted((a, b) => a - b);
    const name = id.replace(/^(.*) (first 100|all)$/, '`$1` $2');
    values.push([`${name} p50`, quantile(sorted, 0.5)], [`${name} p99`, quantile(sorted, 0.99)]);
  }
  const known = values
    .filter(([, value]) => value > 0)
    .map(([name, value]) => [name, Number(value.toPrecision(4))]);
  return {
    repoCount: figures['repoCount'] ?? 1,
    contentSize: figures['contentSize'] ?? 0,
    values: Object.fromEntries(known),
  };
}

/** Errors: UsageError if a `.json` file of the folder is no record; Error if there is none. */
export function curvesOf(folder: string): Curves {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const records = files.map((name) => readRecord(path.join(folder, name)));
  const last = records.toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1)).at(-1);
  if (last === undefined) throw new Error(`no records in ${folder}`);
  const { startedAt, commit, product, machine } = last;
  const points = records
    .map(pointOf)
    .toSorted((a, b) => a.repoCount - b.repoCount || a.contentSize - b.contentSize);
  return { startedAt, commit, product, node: machine.node, cpu: machine.cpu, points };
}

interface Axis {
  readonly title: string;
  readonly unit: string;
  readonly points: readonly CurvePoint[];
  readonly target: number;
  readonly of: (point: CurvePoint) => number;
  readonly label: (point: CurvePoint) => string;
}

function axesOf({ points }: Curves): Axis[] {
  const many = points.filter(({ repoCount }) => repoCount > 1);
  const total = (of: (point: CurvePoint) => number) => many.reduce((sum, one) => sum + of(one), 0);
  const meanSize = total((one) => one.contentSize) / total((one) => one.repoCount);
  const size: Axis = {
    title: 'One repository',
    unit: 'GB of content',
    points: points.filter(({ repoCount }) => repoCount === 1),
    target: TARGET_SIZE / 1e9,
    of: ({ contentSize }) => contentSize / 1e9,
    label: ({ contentSize }) => formatBytes(contentSize),
  };
  const number: Axis = {
    title: `Many repositories of ${formatBytes(meanSize)}`,
    unit: 'thousand repositories',
    points: many,
    target: TARGET_SIZE / meanSize / 1e3,
    of: ({ repoCount }) => repoCount / 1e3,
    label: ({ repoCount }) => formatCount(repoCount),
  };
  return [size, number].filter(({ points }) => points.length >= 4);
}

function percent(error: number | undefined): string {
  return error === undefined ? '-' : `${(100 * error).toFixed(0)}%`;
}

function three(value: number): string {
  return Math.abs(value) < 999.5
    ? String(Number(value.toPrecision(3)))
    : formatCount(Number(value.toPrecision(3)));
}

/** `6.4 h`, `120 ms`, `35 GB`. */
function inWords(value: number, unit: Measure['unit']): string {
  if (value <= 0) return 'none';
  if (unit === 'MB') return formatBytes(value * 1e6);
  if (unit === '') return three(value);
  const seconds = unit === 's' ? value : value / 1e3;
  if (seconds >= 5400) return `${three(seconds / 3600)} h`;
  return seconds < 1 ? `${three(seconds * 1e3)} ms` : `${three(seconds)} s`;
}

function projection({ formula, rivals }: Curve, { target }: Axis, unit: Measure['unit']): string {
  const all = rivals.map((one) => one.at(target)).toSorted((a, b) => a - b);
  const [least, most] = [all[0] ?? NaN, all.at(-1) ?? NaN].map((value) => inWords(value, unit));
  const spread = least === most ? '' : ` (${least} to ${most})`;
  return `${inWords(formula.at(target), unit)}${spread}`;
}

function measuresOf({ points }: Axis): { name: string; unit: Measure['unit'] }[] {
  const known = new Map(MEASURES.map(({ name, unit }) => [name, unit]));
  const names = new Set(points.flatMap(({ values }) => Object.keys(values)));
  return [...names].map((name) => ({ name, unit: known.get(name) ?? 'ms' }));
}

function rowsOf(axis: Axis, shown: readonly CurvePoint[]): string[][] {
  return measuresOf(axis).flatMap(({ name, unit }) => {
    const points = axis.points.flatMap((one) => {
      const y = one.values[name];
      return y === undefined ? [] : [{ x: axis.of(one), y }];
    });
    if (points.length < 4) return [];
    const curve = fitCurve(points, axis.target);
    const cells = shown.map((one) =>
      one.values[name] === undefined ? '-' : three(one.values[name]),
    );
    const errors = [curve.leftOutError, curve.largestError, curve.farError].map(percent).join(', ');
    return [
      [
        unit === '' ? name : `${name}, ${unit}`,
        ...cells,
        curve.formula.text,
        errors,
        projection(curve, axis, unit),
      ],
    ];
  });
}

/** A table an axis; columns: the smallest, middle and largest points, or all. */
export function curveTables(
  curves: Curves,
  isWhole: boolean,
): { head: string[]; rows: string[][] }[] {
  return axesOf(curves).map((axis) => {
    const { points } = axis;
    const last = points.length - 1;
    const shown = isWhole ? points : [0, last >> 1, last].map((i) => points[i]!);
    const head = [
      `${axis.title}; x: ${axis.unit}`,
      ...shown.map(axis.label),
      'formula',
      'off',
      '1 TB',
    ];
    return { head, rows: rowsOf(axis, shown) };
  });
}

export function formatCurves(curves: Curves): string {
  return curveTables(curves, true)
    .map(({ head, rows }) =>
      formatTable(
        head.map((title, i) => ({ title, align: i === 0 ? 'left' : 'right' })),
        rows,
      ),
    )
    .join('\n');
}
