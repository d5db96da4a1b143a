// Formats what people read: numbers, bytes, durations, columns.

import { escapeControls } from './terminal-text.ts';

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** `78,635`. Why not toLocaleString: its first call takes 29 ms, of the thread that serves. */
export function formatCount(count: number): string {
  return String(Math.round(count)).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `1 block`, `12 blocks`. */
export function countOf(count: number, unit: string, units = `${unit}s`): string {
  return `${formatCount(count)} ${count === 1 ? unit : units}`;
}

/** Decimal units, three significant digits: `0 B`, `12.3 kB`, `1.30 GB`. */
export function formatBytes(bytes: number): string {
  let unit = 0;
  let value = bytes;
  for (; value >= 999.5 && unit < UNITS.length - 1; unit++) value /= 1000;
  if (unit === 0) return `${String(Math.round(value))} B`;
  const digits = value < 9.995 ? 2 : Number(value < 99.95);
  return `${value.toFixed(digits)} ${UNITS[unit] ?? ''}`;
}

/** `850 ms`, `12.3 s`, `4 min 05 s`. */
export function formatDuration(ms: number): string {
  if (ms < 999.5) return `${ms.toFixed(0)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${String(Math.floor(seconds / 60))} min ${String(seconds % 60).padStart(2, '0')} s`;
}

/** `{binary: 3}` as `binary 3`, several joined by commas; "" for none. */
export function formatCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name} ${formatCount(count)}`)
    .join(', ');
}

/** Left-aligned columns, two blanks between them; cells of digits are right-aligned. */
export function formatColumns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, i) => (widths[i] = Math.max(widths[i] ?? 0, cell.length)));
  const pad = (cell: string, i: number): string =>
    /^[\d,.]+$/.test(cell) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0);
  return rows.map((row) => `${row.map(pad).join('  ').trimEnd()}\n`).join('');
}

/** `name: value` lines with aligned values; undefined ones are omitted. */
export function formatRows(rows: readonly (readonly [string, string | undefined])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length)) + 1;
  return rows
    .filter(([, value]) => value !== undefined)
    .map(([name, value = '']) => `${`${name}:`.padEnd(width)} ${escapeControls(value)}\n`)
    .join('');
}
