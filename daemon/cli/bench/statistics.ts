// Order statistics of samples, and tables. No means: latencies are not normally distributed.

export interface Latency {
  readonly sampleCount: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  /** In the order given. */
  readonly samplesMs: readonly number[];
}

/** The nearest-rank quantile; `sorted`: ascending, not empty; `share`: above 0, at most 1. */
export function quantile(sorted: readonly number[], share: number): number {
  const rank = Math.ceil(share * sorted.length);
  const value = sorted[Math.min(sorted.length, Math.max(1, rank)) - 1];
  if (value === undefined) throw new Error('a quantile needs samples');
  return value;
}

export function median(samples: readonly number[]): number {
  return quantile(
    samples.toSorted((a, b) => a - b),
    0.5,
  );
}

/** Not empty, in any order. */
export function summarizeLatency(samplesMs: readonly number[]): Latency {
  const sorted = samplesMs.toSorted((a, b) => a - b);
  return {
    sampleCount: sorted.length,
    p50Ms: quantile(sorted, 0.5),
    p95Ms: quantile(sorted, 0.95),
    p99Ms: quantile(sorted, 0.99),
    samplesMs,
  };
}

/** Three significant digits, thousands separated: `0.25`, `12.3`, `1,234`. */
export function formatMs(ms: number): string {
  if (ms >= 99.95) return Math.round(ms).toLocaleString('en-US');
  return ms.toFixed(ms >= 9.995 ? 1 : 2);
}

export interface Column {
  readonly title: string;
  readonly align: 'left' | 'right';
}

function widthOf(text: string): number {
  return Array.from(text).length;
}

function padCell(text: string, width: number, align: Column['align']): string {
  const blanks = ' '.repeat(Math.max(0, width - widthOf(text)));
  return align === 'left' ? text + blanks : blanks + text;
}

/** Every row has one cell a column. */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): string {
  const widths = columns.map(({ title }, i) =>
    Math.max(widthOf(title), ...rows.map((row) => widthOf(row[i] ?? ''))),
  );
  const line = (cells: readonly string[]): string =>
    columns
      .map(({ align }, i) => padCell(cells[i] ?? '', widths[i] ?? 0, align))
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  const lines = [line(columns.map(({ title }) => title)), rule, ...rows.map(line)];
  return `${lines.join('\n')}\n`;
}
